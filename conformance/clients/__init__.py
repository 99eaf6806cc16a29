"""Other people's assignors, run as they are: what they answer, or how they fail."""

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
