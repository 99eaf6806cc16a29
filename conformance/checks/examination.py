"""Find the causes of differing answers, for the first checks of each part.

An examination starts about twenty processes. A check that was selected by its name is
examined even if the first two answers are equal: chance can hide a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from conformance.checks.check import Check
from conformance.runs import (
    AnswerDifference,
    DrivenRebalance,
    Repeatable,
    Subject,
    difference_of_new,
    examined,
)

MOST_EXAMINED: Final = 3
"""Differences of each part that are examined."""


def examined_checks(
    subject: Subject,
    checks: Iterable[Check],
    *,
    is_declared: bool,
    cooperative: bool,
    are_selected: bool = False,
) -> Iterator[Check]:
    """Yield the checks, with the dependence of the first differences of each part."""
    seen: Counter[str] = Counter()
    for check in checks:
        stated = replace(check, is_declared=is_declared)
        if isinstance(subject, Repeatable) and check.outcome.is_repeated:
            difference = check.outcome.difference
            seen[check.part] += difference is not None
            if are_selected or seen[check.part] <= MOST_EXAMINED:
                found = _examined(subject, check.outcome, cooperative, are_selected)
                stated = replace(
                    stated, outcome=replace(check.outcome, difference=found)
                )
        yield stated


def _examined(
    subject: Repeatable, outcome: DrivenRebalance, cooperative: bool, is_selected: bool
) -> AnswerDifference | None:
    """Return the difference with its dependence; None if there is none."""
    if outcome.difference is not None:
        return examined(subject, outcome.difference, cooperative=cooperative)
    if not is_selected or outcome.category.is_safety:
        return None
    rebalance = outcome.rounds[0].rebalance
    return difference_of_new(subject, rebalance, cooperative=cooperative)
