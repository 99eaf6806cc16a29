"""Adapters to third-party assignors, run unmodified in processes of their own."""

from conformance.clients.answer import Answer, Verdict, judged
from conformance.clients.kafka_clients import LINES, KafkaClients, install
from conformance.clients.process import Adapter, Program

__all__ = [
    "LINES",
    "Adapter",
    "Answer",
    "KafkaClients",
    "Program",
    "Verdict",
    "install",
    "judged",
]
