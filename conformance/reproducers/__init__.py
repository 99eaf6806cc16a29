"""Reproducers: a finding as a self-contained test in the language of its client."""

from conformance.reproducers.case import Case, NoReproducerError, case_of
from conformance.reproducers.rendering import Reproducer, render

__all__ = ["Case", "NoReproducerError", "Reproducer", "case_of", "render"]
