"""Reproducers: a finding as a self-contained test in the language of its client."""

from conformance.reproducers.case import Case, NoReproducerError, case_of
from conformance.reproducers.confirmation import Confirmation, confirm
from conformance.reproducers.rendering import Reproducer, render
from conformance.reproducers.reproducer_record import (
    ReproducerRecord,
    read_record,
    record_of,
    write_reproducer,
)

__all__ = [
    "Case",
    "Confirmation",
    "NoReproducerError",
    "Reproducer",
    "ReproducerRecord",
    "case_of",
    "confirm",
    "read_record",
    "record_of",
    "render",
    "write_reproducer",
]
