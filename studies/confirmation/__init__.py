"""Hangs and crashes of clients, tested with real consumers on a real broker."""

from studies.confirmation.broker_groups import BrokerGroups
from studies.confirmation.confirm import confirm
from studies.confirmation.confirmed import (
    Confirmation,
    read_confirmations,
    write_confirmations,
)
from studies.confirmation.fault_cases import CASES, FaultCase
from studies.confirmation.record_cases import (
    all_cases,
    digest_of,
    fatal_records,
)

__all__ = [
    "CASES",
    "BrokerGroups",
    "Confirmation",
    "FaultCase",
    "all_cases",
    "confirm",
    "digest_of",
    "fatal_records",
    "read_confirmations",
    "write_confirmations",
]
