"""Hangs and crashes of clients, tested with real consumers on a real broker."""

from conformance.confirmation.cases import CASES, Case
from conformance.confirmation.confirm import confirm
from conformance.confirmation.confirmed import (
    Confirmation,
    read_confirmations,
    write_confirmations,
)
from conformance.confirmation.group_state import Cluster

__all__ = [
    "CASES",
    "Case",
    "Cluster",
    "Confirmation",
    "confirm",
    "read_confirmations",
    "write_confirmations",
]
