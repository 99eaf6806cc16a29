"""Reproducers: a finding as a self-contained test in the language of its client."""

from conformance.reproducers.case import NoReproducerError, ReproducerCase, case_of
from conformance.reproducers.rendering import render
from conformance.reproducers.reproducer_record import (
    RECORD,
    ReproducerRecord,
    read_record,
    record_of,
    write_reproducer,
)
from conformance.reproducers.reproducer_run import SECONDS, ReproducerRun, confirm

__all__ = [
    "RECORD",
    "SECONDS",
    "NoReproducerError",
    "ReproducerCase",
    "ReproducerRecord",
    "ReproducerRun",
    "case_of",
    "confirm",
    "read_record",
    "record_of",
    "render",
    "write_reproducer",
]
