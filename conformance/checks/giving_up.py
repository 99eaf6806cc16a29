"""End a run whose subject does not answer any more: each time costs a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.checks.check import Check
from conformance.runs import Category
from rebalance import OracleError

MOST_HANGS: Final = 3
"""Rebalances in a row without an answer that end a run."""


class GaveUpError(OracleError):
    """The subject did not answer several times in a row."""


def until_hanging(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield checks.

    Raises
    ------
    GaveUpError
        After `MOST_HANGS` rebalances in a row without an answer; a late one counts as
        an answer.
    """
    hangs = 0
    for check in checks:
        yield check
        hangs = hangs + 1 if _is_unanswered(check) else 0
        if hangs == MOST_HANGS:
            raise GaveUpError(f"no answer {MOST_HANGS} times in a row")


def _is_unanswered(check: Check) -> bool:
    """Return whether the program hangs, or was too slow for an impatient run."""
    outcome = check.outcome
    return outcome.category in {Category.HANG, Category.SLOW} and outcome.held is None
