"""Reduce a rebalance while a property holds: descents from several beginnings.

The first descent takes its steps in a fixed order. Each restart draws another order
from a seed, and begins with the rebalance as it was given, or beside the smallest one
so far: after a step that makes nothing smaller. The smallest result wins
(`size_order`); of equal ones, the earliest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, Final

from conformance.runs import OutOfTimeError
from conformance.shrinking.descent import Descent, ExhaustedError, TestBudget
from conformance.shrinking.size_order import size_of
from conformance.shrinking.structural_steps import SIDEWAYS

Document = dict[str, Any]

MOST_TESTS: Final = 5_000
RESTARTS: Final = 6
RESTART_TESTS: Final = 3
"""Tests of all restarts, in units of those of the first descent."""
MOST_SIDEWAYS: Final = 24
"""Rebalances beside the smallest one that are tested per restart."""
EARLY: Final = 1 / 8
"""Share of the time in which the first descent has to end, so that restarts begin.

All restarts test `RESTART_TESTS` times as many rebalances, so that half of the time is
left, and equal runs have the same result although their speeds differ.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A reduced rebalance.

    Attributes
    ----------
    rebalance : Document
    tests : int
        Rebalances of which the property was tested.
    is_minimal : bool
        Whether no single part can be removed, and no structure-aware step leads to a
        smaller rebalance that holds; False if the budget ran out.
    """

    rebalance: Document
    tests: int
    is_minimal: bool


def reduce_rebalance(
    rebalance: Document,
    holds: Callable[[Document], bool],
    *,
    tests: int = MOST_TESTS,
    seconds: float | None = None,
    restarts: int = RESTARTS,
    seed: int = 0,
    early: float = EARLY,
) -> Reduction:
    """Return a small rebalance that holds, minimal if the budget suffices.

    The given rebalance is known to hold. At most ``tests`` rebalances are tested, and
    none after ``seconds``. Restarts begin if the first descent took at most the share
    ``early`` of the time; together they test at most `RESTART_TESTS` times as many
    rebalances as the first, in orders drawn from the seed. A test that raises
    `OutOfTimeError` ends the search, too.
    """
    began = time.monotonic()
    deadline = None if seconds is None else began + seconds
    budget = TestBudget(holds=holds, tests_left=tests, deadline=deadline)
    first = Descent(budget=budget, best=rebalance)
    is_minimal = _ends(first)
    smallest, used = first.best, tests - budget.tests_left
    is_early = seconds is None or time.monotonic() - began <= early * seconds
    if is_minimal and is_early:
        kept = max(budget.tests_left - RESTART_TESTS * used, 0)
        budget.tests_left -= kept
        smallest = _restarted(budget, rebalance, smallest, restarts, seed)
        budget.tests_left += kept
    used = tests - budget.tests_left
    return Reduction(rebalance=smallest, tests=used, is_minimal=is_minimal)


def _ends(descent: Descent) -> bool:
    """Descend; return whether the budget sufficed."""
    try:
        descent.descend()
    except (ExhaustedError, OutOfTimeError):
        return False
    return True


def _restarted(
    budget: TestBudget, given: Document, smallest: Document, restarts: int, seed: int
) -> Document:
    """Return the smallest result of the descents that end within the budget."""
    for number in range(restarts):
        random = Random(f"{seed}/{number}")  # noqa: S311 - repeatable
        descent = Descent(budget=budget, best=given, random=random)
        try:
            if number % 2 == 0:
                descent.best = _beside(budget, smallest, random)
            descent.descend()
        except (ExhaustedError, OutOfTimeError):
            break
        if size_of(descent.best) < size_of(smallest):
            smallest = descent.best
    return smallest


def _beside(budget: TestBudget, smallest: Document, random: Random) -> Document:
    """Return a rebalance that holds, a sideways step away; the same if none does."""
    candidates = [
        candidate
        for step in SIDEWAYS
        for candidate in _some(step(smallest), random)
        if candidate != smallest
    ]
    random.shuffle(candidates)
    for candidate in candidates[:MOST_SIDEWAYS]:
        if budget.test(candidate):
            return candidate
    return smallest


def _some(candidates: Iterator[Document], random: Random) -> list[Document]:
    """Draw some of the first candidates: there can be very many."""
    first = list(islice(candidates, 40 * MOST_SIDEWAYS))
    return random.sample(first, min(len(first), MOST_SIDEWAYS))
