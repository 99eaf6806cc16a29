"""Pareto frontier of moves against one objective, by the ε-constraint method.

For each limit on moves, a search minimizes the objective. An assignment within a limit
is possible within every larger one, and a bound for a limit holds for every smaller
one, so a limit between two with equal values needs no search. Source: Haimes, Lasdon
and Wismer, *On a bicriterion formulation of the problems of integrated system
identification and system optimization*, 1971.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from rebalance import Assignment
from solver.limits import Limits
from solver.result import Proof

Progress = Callable[[int, int], None]
"""Called with the number of settled limits on moves, and with their number in all."""

DEFAULT_EFFORT: Final = 30.0
"""Effort of all searches that settle nothing, if the caller sets no limit."""

EFFORT_PER_SEARCH: Final = tuple(0.1 * 4**turn for turn in range(12))
"""Effort of each search in the first round, the second, ...; at last 5 days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """The best assignment found within a number of moves that no fewer moves reach."""

    moves: int
    value: int
    bound: int  # no assignment with at most so many moves has a lower value
    is_proved: bool  # value is the least, and provably out of reach with fewer moves
    proof: Proof  # basis of the bound
    assignment: Assignment
    kip54_score: int | None = None  # Kafka's balance score, for points of ``balance``


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRange:
    """Limits on moves, ``first`` to ``last``, with values that may not be the least."""

    first: int
    last: int
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """All Pareto-optimal pairs of moves and objective, as far as they are known."""

    objective: str  # ``balance`` or ``peak-lag``
    balance: str  # the balance constraint, as policies write it
    measure: str | None = None  # the quantity that the objective ``balance`` minimizes
    scale: int = 1  # values are in units of 1 ÷ scale
    points: tuple[FrontierPoint, ...] = ()  # by moves, ascending; values descend
    open: tuple[OpenRange, ...] = ()  # a point may be missing, or have a lower value
    reason: str | None = None  # why the frontier is not complete

    @property
    def is_complete(self) -> bool:
        """Whether every point is proved, and none is missing."""
        return self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValue:
    """The best assignment found within a limit on moves, and the best bound."""

    assignment: Assignment
    value: int
    bound: int
    proof: Proof

    def __post_init__(self) -> None:
        """Reject a value below the bound: one of the two is a defect."""
        if self.value < self.bound:
            raise AssertionError(f"found {self.value}, below its bound of {self.bound}")


class KnownFrontier:
    """Values and bounds for each limit on moves from ``first`` to ``last``.

    Built from an assignment that is within every limit and a bound that holds for all.
    """

    def __init__(self, first: int, last: int, start: KnownValue) -> None:
        self.first: Final = first
        self.last: Final = last
        self._known = [start] * (last - first + 1)

    def at(self, most: int) -> KnownValue:
        """Return the values and bounds for a limit on moves."""
        return self._known[most - self.first]

    def add_assignment(self, moves: int, value: int, assignment: Assignment) -> None:
        """Record an assignment with so many moves and its value."""
        for i in range(max(moves - self.first, 0), len(self._known)):
            if self._known[i].value <= value:
                return
            self._known[i] = replace(self._known[i], value=value, assignment=assignment)

    def add_bound(self, most: int, bound: int, proof: Proof) -> None:
        """Record that nothing with at most so many moves has a lower value."""
        for i in range(min(most, self.last) - self.first, -1, -1):
            if self._known[i].bound >= bound:
                return
            self._known[i] = replace(self._known[i], bound=bound, proof=proof)

    def is_open(self, most: int) -> bool:
        """Return whether a lower value may exist."""
        return self.at(most).bound < self.at(most).value

    @property
    def open(self) -> list[int]:
        """Limits on moves that are not settled, ascending."""
        return [k for k in range(self.first, self.last + 1) if self.is_open(k)]

    def points(self) -> tuple[FrontierPoint, ...]:
        """Return a point for each limit on moves that allows a lower value."""
        points = []
        fewer: KnownValue | None = None
        for moves, known in enumerate(self._known, self.first):
            if fewer is None or fewer.value > known.value:
                is_first = fewer is None or fewer.bound > known.value
                point = FrontierPoint(
                    moves=moves,
                    value=known.value,
                    bound=known.bound,
                    is_proved=is_first and not self.is_open(moves),
                    proof=known.proof,
                    assignment=known.assignment,
                )
                points.append(point)
            fewer = known
        return tuple(points)

    def open_ranges(self) -> tuple[OpenRange, ...]:
        """Return the runs of consecutive open limits that have the same bound."""
        ranges: list[OpenRange] = []
        for most in self.open:
            bound = self.at(most).bound
            if ranges and (ranges[-1].last, ranges[-1].bound) == (most - 1, bound):
                ranges[-1] = replace(ranges[-1], last=most)
            else:
                ranges.append(OpenRange(first=most, last=most, bound=bound))
        return tuple(ranges)

    def settle(
        self,
        search: Callable[[int, Limits], None],
        limits: Limits,
        progress: Progress | None,
    ) -> str | None:
        """Search at every open limit on moves, in rounds of growing effort.

        ``search`` adds the values and bounds that it finds within limits. The effort is
        for all searches together that leave their limit on moves open; it is
        `DEFAULT_EFFORT` if the caller sets neither effort nor seconds. Return the limit
        that was reached, or None if everything is settled.
        """
        allowed = limits.effort
        if allowed is None:
            allowed = DEFAULT_EFFORT if limits.seconds is None else inf
        left, total = allowed, len(self._known)
        for effort in EFFORT_PER_SEARCH:
            for most in filter(self.is_open, self.open):
                if (reached := limits.exceeded()) is not None:
                    return reached
                if left <= 0:
                    return f"effort limit of {allowed:g}"
                given = min(effort, left)
                search(most, replace(limits, effort=given))
                left -= given if self.is_open(most) else 0
                if progress is not None:
                    progress(total - len(self.open), total)
        return "too large for a search to the end" if self.open else None
