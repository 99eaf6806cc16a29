"""Prices of the linear relaxation, rounded to integers that still prove a bound.

The relaxation lets members share partitions. Its dual solution gives each member a
weight for its lag and a price for its counts (docs/bounds.md, ``duals``); whatever
integers they are rounded to, what is then added up in integers holds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from ortools.linear_solver import pywraplp

from solver.limits import LimitExceededError
from solver.peak_lag.kinds import kinds_of
from solver.peak_lag.room import FREE, Room
from solver.peak_lag.takers import Takers, takers_of
from solver.peak_lag.work import Work
from solver.run_limited import run_in_thread

_MOST_SHARES = 30_000
_FINE = 10**9  # what a weight of 1 becomes
_LARGEST = 2**60  # of a price, so that documents can hold it
_PATIENCE = 0.25  # of the time that is left


@dataclass(frozen=True, slots=True, kw_only=True)
class Duals:
    """A bound and the multipliers that prove it.

    Attributes
    ----------
    weight : tuple of int, (M,)
    price : tuple of int, (C,)
        By cell.
    """

    bound: int
    weight: tuple[int, ...]
    price: tuple[int, ...]


def duals_of(room: Room, work: Work) -> Duals | None:
    """Solve the relaxation; None if it is large, or takes too long, or is of no use.

    If members are all alike, it says no more than the average.
    """
    alike = room.first.size <= 2 and np.unique(room.unit).size <= 1
    if alike or not room.lag.size:
        return None
    kinds = kinds_of(room)
    if len(kinds) * room.unit.size > _MOST_SHARES:
        return None
    try:
        relaxed = _Relaxation(room, work)
    except LimitExceededError:
        return None
    return relaxed.duals() if relaxed.is_solved() else None


class _Relaxation:
    """The linear program, a variable a kind of partition and taker."""

    def __init__(self, room: Room, work: Work) -> None:
        self.room, self.work = room, work
        self.kinds = kinds_of(room)
        by_topic = takers_of(room)
        self.takers = [by_topic[room.topic[kind[0]]] for kind in self.kinds]
        self.solver = pywraplp.Solver.CreateSolver("GLOP")
        peak = self.solver.NumVar(0, self.solver.infinity(), "peak")
        self.lags = [
            self.solver.Constraint(0, self.solver.infinity()) for _ in room.unit
        ]
        for row in self.lags:
            row.SetCoefficient(peak, 1)
        self.counts = {
            cell: self.solver.Constraint(
                float(room.least[cell]), float(room.most[cell])
            )
            for cell in range(room.least.size)
            if room.most[cell] < FREE
        }
        for kind, takers in zip(self.kinds, self.takers, strict=True):
            work.check()
            self._share(kind.size, int(room.lag[kind[0]]), takers)
        self.solver.Minimize(peak)

    def _share(self, size: int, lag: int, takers: Takers) -> None:
        """Share partitions that are alike out over those who may take them."""
        once = self.solver.Constraint(float(size), float(size))
        for c, cell in zip(*takers, strict=True):
            x = self.solver.NumVar(0, float(size), "")
            once.SetCoefficient(x, 1)
            self.lags[c].SetCoefficient(x, -float(self.room.unit[c]) * float(lag))
            if cell in self.counts:
                self.counts[cell].SetCoefficient(x, 1)

    def is_solved(self) -> bool:
        left = self.work.limits.left
        if left is not None:
            self.solver.SetTimeLimit(int(left * 1000 * _PATIENCE) + 1)
        ended: list[int] = []
        stop = self.solver.InterruptSolve
        done = run_in_thread(
            lambda: ended.append(self.solver.Solve()), stop, self.work.limits
        )
        return done and ended == [pywraplp.Solver.OPTIMAL]

    def duals(self) -> Duals | None:
        """Round the prices, and add up what they prove."""
        room = self.room
        asked = {cell: -row.dual_value() for cell, row in self.counts.items()}
        dearest = max((abs(n) for n in asked.values()), default=0.0)
        fine = min(_FINE, int(_LARGEST / max(1.0, dearest)))
        weight = [max(0, round(row.dual_value() * fine)) for row in self.lags]
        price = [0] * room.least.size
        for cell, one in asked.items():
            price[cell] = round(one * fine)
        if not sum(weight):
            return None
        bound = -(-self._proved(weight, price) // sum(weight))
        return Duals(bound=bound, weight=tuple(weight), price=tuple(price))

    def _proved(self, weight: list[int], price: list[int]) -> int:
        """Add up in integers: what partitions cost at least, less what counts pay."""
        room, total = self.room, 0
        for kind, takers in zip(self.kinds, self.takers, strict=True):
            lag = int(room.lag[kind[0]])
            least = min(
                weight[c] * int(room.unit[c]) * lag + price[cell]
                for c, cell in zip(*takers, strict=True)
            )
            total += kind.size * least
        return total - _dearest(room, price)


def _dearest(room: Room, price: list[int]) -> int:
    """Return the most that counts can pay: extras of a pool go to its dearest."""
    total = sum(n * int(a) for n, a in zip(price, room.least.tolist(), strict=True))
    pools: dict[int, list[int]] = defaultdict(list)
    for cell, n in enumerate(price):
        if room.least[cell] < room.most[cell] < FREE:
            pools[int(room.pool[cell])].append(n)
    for pool, prices in pools.items():
        total += sum(sorted(prices, reverse=True)[: int(room.extra[pool])])
    return total
