"""The interface of a report of checks."""

from __future__ import annotations

from typing import Protocol

from conformance.checks.check import Check


class Report(Protocol):
    """Receives the checks of a run in their order."""

    def add(self, subject: str, check: Check) -> None:
        """Add one check."""
        ...

    def not_run(self, subject: str, reason: str) -> None:
        """Add a failure: a subject, or the rest of its checks, was not tested."""
        ...

    def end(self) -> None:
        """Write the rest."""
        ...
