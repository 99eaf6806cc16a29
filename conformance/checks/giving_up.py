"""End a run whose subject does not answer any more: each hang costs a time limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.checks.check import Check
from conformance.runs import Category
from rebalance import OracleError

MOST_HANGS: Final = 3
"""Hangs in a row that end a run."""


class GaveUpError(OracleError):
    """The subject did not answer several times in a row."""


def until_hanging(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield checks.

    Raises
    ------
    GaveUpError
        After `MOST_HANGS` hangs in a row.
    """
    hangs = 0
    for check in checks:
        yield check
        hangs = hangs + 1 if check.outcome.category is Category.HANG else 0
        if hangs == MOST_HANGS:
            raise GaveUpError(f"no answer {MOST_HANGS} times in a row")
