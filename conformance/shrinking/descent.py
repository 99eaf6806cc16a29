"""Descend to a rebalance that holds and of which no single step is left.

Remove parts by delta debugging, take structure-aware steps, and simplify, until nothing
changes. The order of the steps, and of the candidates of each, is fixed or drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeVar

import orjson

from conformance.shrinking.ddmin import ddmin
from conformance.shrinking.removable_parts import PART_KINDS, PartKind, Piece
from conformance.shrinking.simpler import SIMPLER
from conformance.shrinking.size_order import size_of
from conformance.shrinking.structural_steps import STRUCTURE, Step

Document = dict[str, Any]
_T = TypeVar("_T")

MOST_SHUFFLED: Final = 30
"""Members and topics up to which the candidates of a step are drawn in any order."""


class ExhaustedError(Exception):
    """No tests or no time are left."""


@dataclass(slots=True, kw_only=True)
class TestBudget:
    """Tests of a property, each at most once per rebalance.

    Attributes
    ----------
    tests_left : int
    deadline : float or None
        Of `time.monotonic`.
    """

    holds: Callable[[Document], bool]
    tests_left: int
    deadline: float | None
    known: dict[bytes, bool] = field(default_factory=dict)

    def test(self, candidate: Document) -> bool:
        """Return whether the property holds.

        Raises
        ------
        ExhaustedError
            If the budget does not allow another test.
        """
        key = orjson.dumps(candidate, option=orjson.OPT_SORT_KEYS)
        if key not in self.known:
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if self.tests_left <= 0 or late:
                raise ExhaustedError
            self.tests_left -= 1
            self.known[key] = self.holds(candidate)
        return self.known[key]


@dataclass(slots=True, kw_only=True)
class Descent:
    """A search from one rebalance that holds.

    Attributes
    ----------
    best : Document
        The last that holds.
    random : Random or None
        Draws the order of steps; None: the fixed order.
    """

    budget: TestBudget
    best: Document
    random: Random | None = None

    def descend(self) -> None:
        """Take steps until none is left; a simpler rebalance can lose more parts.

        Raises
        ------
        ExhaustedError
            If the budget does not suffice; ``best`` holds all the same.
        """
        before = None
        while self.best != before:
            before = self.best
            for kind in self._ordered(PART_KINDS):
                self._remove_parts(kind)
            if self.best == before:
                for step in self._ordered(STRUCTURE):
                    self._restructure(step)
            if self.best == before:
                for simpler in SIMPLER:
                    self._simplify(simpler)

    def _accepts(self, candidate: Document) -> bool:
        if self.budget.test(candidate):
            self.best = candidate
            return True
        return False

    def _remove_parts(self, kind: PartKind) -> None:
        whole = self.best

        def holds(pieces: Sequence[Piece]) -> bool:
            return self._accepts(kind.only(whole, frozenset(pieces)))

        ddmin(self._ordered(kind.listed(whole)), holds)  # the last that holds: `best`

    def _restructure(self, step: Step) -> None:
        """Take the first smaller candidate that holds, and begin anew."""
        is_smaller = True
        while is_smaller:
            size = size_of(self.best)
            is_smaller = any(
                size_of(candidate) < size and self._accepts(candidate)
                for candidate in self._candidates(step)
            )

    def _candidates(self, step: Step) -> Iterable[Document]:
        """Yield candidates one by one if there are many: each is a copy."""
        is_large = len(self.best["members"]) + len(self.best["topics"]) > MOST_SHUFFLED
        candidates = step(self.best)
        if is_large or self.random is None:
            return candidates
        return self._ordered(list(candidates))

    def _simplify(self, simpler: Callable[[Document], Iterator[Document]]) -> None:
        """Take the first candidate that differs and holds, and begin anew."""
        is_simpler = True
        while is_simpler:
            now = self.best
            is_simpler = any(
                candidate != now and self._accepts(candidate)
                for candidate in simpler(now)
            )

    def _ordered(self, items: Sequence[_T]) -> Sequence[_T]:
        if self.random is None:
            return items
        return self.random.sample(items, len(items))
