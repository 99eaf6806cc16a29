"""Adapters to third-party assignors, run unmodified in processes of their own."""

from conformance.clients.answer import Answer, Verdict, judged
from conformance.clients.client_registry import (
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
    all_client_assignors,
    client_assignor,
    matching_client_assignors,
)
from conformance.clients.cpu_time import CpuClock
from conformance.clients.kafka_clients import LINES, KafkaClients, install
from conformance.clients.patience import Patience, Watch, suspecting
from conformance.clients.process import Adapter, Program

__all__ = [
    "LINES",
    "Adapter",
    "Answer",
    "ClientAssignor",
    "CpuClock",
    "KafkaClients",
    "MissingClientError",
    "Patience",
    "Program",
    "UnknownClientError",
    "Verdict",
    "Watch",
    "all_client_assignors",
    "client_assignor",
    "install",
    "judged",
    "matching_client_assignors",
    "suspecting",
]
