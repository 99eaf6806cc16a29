"""The exact front of moves against an objective, and what is known where it is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalance import Assignment
from solver.pareto.measure import Measure
from solver.result import Proof

Progress = Callable[[int, int], None]
"""Told of budgets settled, and of budgets there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One corner of the front.

    Attributes
    ----------
    moves : int
    value : int
        The best found with so many moves; no fewer have been found to reach it.
    bound : int
        Nothing with so many moves has less.
    is_proved : bool
        ``value`` is the least, and it is proved that fewer moves do not reach it.
    proof : Proof
        What ``bound`` rests on.
    assignment : Assignment
    """

    moves: int
    value: int
    bound: int
    is_proved: bool
    proof: Proof
    assignment: Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Budgets from ``first`` to ``last``, both included, in which less may be found."""

    first: int
    last: int
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """All pairs of moves and objective that nothing beats in both.

    Attributes
    ----------
    objective : str
        ``balance`` or ``peak-lag``.
    balance : str
        Which assignments are allowed, in the words of policies.
    measure : Measure or None
        Of ``balance``.
    scale : int
        Values are in units of 1 ÷ scale.
    points : tuple of Point
        By moves, ascending; values descend.
    open : tuple of Open
        Where a point may be missing, or be better than told.
    reason : str or None
        What kept the front from being complete.
    """

    objective: str
    balance: str
    measure: Measure | None = None
    scale: int = 1
    points: tuple[Point, ...]
    open: tuple[Open, ...] = ()
    reason: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every point is proved, and none is missing."""
        return not self.open and all(point.is_proved for point in self.points)
