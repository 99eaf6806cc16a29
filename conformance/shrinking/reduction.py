"""Reduce a rebalance while a property holds, within a budget.

First fewer members, topics, partitions, claims, and subscriptions, by delta debugging;
then simpler names and numbers; and both again, until nothing changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from conformance.runs import OutOfTimeError
from conformance.shrinking.ddmin import ddmin
from conformance.shrinking.parts import PART_KINDS, PartKind, Piece
from conformance.shrinking.simpler import SIMPLER

Document = dict[str, Any]

MOST_TESTS: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A reduced rebalance.

    Attributes
    ----------
    rebalance : Document
    tests : int
        Rebalances of which the property was tested.
    is_minimal : bool
        Whether no single part can be removed; False if the budget ran out.
    """

    rebalance: Document
    tests: int
    is_minimal: bool


class _ExhaustedError(Exception):
    """No tests or no time are left."""


@dataclass(slots=True, kw_only=True)
class _Search:
    """The smallest rebalance that holds so far, and what was tested."""

    holds: Callable[[Document], bool]
    best: Document
    tests_left: int
    deadline: float | None
    known: dict[bytes, bool] = field(default_factory=dict)

    def accepts(self, candidate: Document) -> bool:
        """Test a candidate, at most once, and keep it if it holds.

        Raises
        ------
        _ExhaustedError
            If the budget does not allow another test.
        """
        key = orjson.dumps(candidate, option=orjson.OPT_SORT_KEYS)
        if key not in self.known:
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if self.tests_left <= 0 or late:
                raise _ExhaustedError
            self.tests_left -= 1
            self.known[key] = self.holds(candidate)
        if self.known[key]:
            self.best = candidate
        return self.known[key]


def reduce_rebalance(
    rebalance: Document,
    holds: Callable[[Document], bool],
    *,
    tests: int = MOST_TESTS,
    seconds: float | None = None,
) -> Reduction:
    """Return a small rebalance that holds, 1-minimal if the budget suffices.

    Parameters
    ----------
    rebalance : rebalance/1 document
        One that holds; it is not tested.
    holds : callable
        Returns whether a rebalance has the property.
    tests : int
        How many rebalances may be tested.
    seconds : float or None
        After this time, no further test begins.

    A test that raises `OutOfTimeError` ends the search, too.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    search = _Search(holds=holds, best=rebalance, tests_left=tests, deadline=deadline)
    is_minimal = True
    try:
        _until_nothing_changes(search)
    except (_ExhaustedError, OutOfTimeError):
        is_minimal = False
    return Reduction(
        rebalance=search.best, tests=tests - search.tests_left, is_minimal=is_minimal
    )


def _until_nothing_changes(search: _Search) -> None:
    """Remove parts, then simplify; what becomes simpler can lose more parts."""
    before = None
    while search.best != before:
        before = search.best
        for kind in PART_KINDS:
            _remove_parts(search, kind)
        if search.best == before:
            for simpler in SIMPLER:
                _simplify(search, simpler)


def _remove_parts(search: _Search, kind: PartKind) -> None:
    whole = search.best

    def holds(pieces: Sequence[Piece]) -> bool:
        return search.accepts(kind.only(whole, frozenset(pieces)))

    ddmin(kind.listed(whole), holds)  # the last that holds is `search.best`


def _simplify(search: _Search, simpler: Callable[[Document], Any]) -> None:
    """Take the first candidate that differs and holds, and begin anew."""
    is_simpler = True
    while is_simpler:
        now = search.best
        is_simpler = any(
            candidate != now and search.accepts(candidate) for candidate in simpler(now)
        )
