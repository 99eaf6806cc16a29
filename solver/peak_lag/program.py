"""The program for CP-SAT: peak lag and what may come before or after it.

Partitions of one topic, one lag and, where moves count, one owner are a *kind*; the
program counts how many of a kind each member gets. Where moves do not count, members
that are alike may be swapped, so the largest partition goes to the first of them, the
next to one of the first two, and so on.
"""

from __future__ import annotations

import numpy as np
from ortools.sat.python import cp_model

from rebalance.claims import Int32
from solver.peak_lag.kinds import alike_members, kinds_of
from solver.peak_lag.question import Goal
from solver.peak_lag.setting import Setting
from solver.peak_lag.takers import takers_of
from solver.peak_lag.work import Work

Expression = cp_model.LinearExpr | cp_model.IntVar | int


class Program:
    """Variables, constraints, and how to read an assignment off a solution.

    Parameters
    ----------
    setting : Setting
    sticky : bool
        Whether moves count, as a goal or as a level before.
    work : Work

    Raises
    ------
    LimitExceededError
        If a limit strikes while it is written.
    """

    def __init__(self, setting: Setting, *, sticky: bool, work: Work) -> None:
        room = setting.room
        self.work = work
        self.setting, self.room, self.sticky = setting, room, sticky
        self.model = cp_model.CpModel()
        self.kinds = kinds_of(room, setting.owner if sticky else None)
        self.alike = [] if sticky else alike_members(room)
        by_topic = takers_of(room)
        listed = [by_topic[room.topic[kind[0]]] for kind in self.kinds]
        self.takers = [takers.members for takers in listed]
        self.cells = [takers.cells for takers in listed]
        self.count: dict[tuple[int, int], cp_model.IntVar] = {}
        for i, kind in enumerate(self.kinds):
            work.check()
            for c in self.takers[i]:
                self.count[i, c] = self.model.new_int_var(0, kind.size, f"{i}@{c}")
        self.each_partition_once()
        self.counts_within_limits()
        self.alike_in_order()

    def each_partition_once(self) -> None:
        """Give out every partition: sum over c of x[i, c] = size of kind i."""
        for i, (kind, takers) in enumerate(zip(self.kinds, self.takers, strict=True)):
            self.model.add(sum(self.count[i, c] for c in takers) == kind.size)

    def counts_within_limits(self) -> None:
        """Keep each cell's count: least <= sum of x[i, c] over its kinds <= most."""
        room = self.room
        cells: dict[int, list[cp_model.IntVar]] = {}
        for i, listed in enumerate(zip(self.takers, self.cells, strict=True)):
            for c, cell in zip(*listed, strict=True):
                cells.setdefault(cell, []).append(self.count[i, c])
        for cell, held in cells.items():
            self.work.check()
            least, most = int(room.least[cell]), int(room.most[cell])
            self.model.add_linear_constraint(sum(held), least, most)

    def alike_in_order(self) -> None:
        """Break symmetry: the n-th largest goes to one of the first n alike.

        Only for partitions that are alone of their kind.
        """
        for alike in self.alike:
            for n, kind in enumerate(self.kinds[: len(alike) - 1]):
                if kind.size > 1:
                    break
                for c in alike[n + 1 :]:
                    if (n, c) in self.count:
                        self.model.add(self.count[n, c] == 0)

    def held(self) -> list[Expression]:
        """Return the lag of each member: sum over i of lag[i] * x[i, c]."""
        parts: list[list[cp_model.IntVar]] = [[] for _ in self.room.unit]
        lags: list[list[int]] = [[] for _ in self.room.unit]
        for (i, c), x in self.count.items():
            parts[c].append(x)
            lags[c].append(int(self.room.lag[self.kinds[i][0]]))
        return [
            cp_model.LinearExpr.weighted_sum(mine, behind)
            for mine, behind in zip(parts, lags, strict=True)
        ]

    def measure(self, goal: Goal, least: int, most: int) -> Expression:
        """Return the value of a goal, between two numbers, as an expression."""
        if goal is Goal.MOVES:
            moves = self._moves()
            self.model.add_linear_constraint(moves, least, most)
            return moves
        if goal is Goal.DEVIATION:
            return self._deviation(least, most)
        value = self.model.new_int_var(least, most, goal.value)
        units = self.room.unit.tolist()
        lags = [lag * unit for lag, unit in zip(self.held(), units, strict=True)]
        if goal is Goal.PEAK:
            for lag in lags:
                self.model.add(lag <= value)
            return value
        above = self.model.new_int_var(0, self._heaviest(), "least lag")
        for lag in lags:
            self.model.add(lag >= above)
            self.model.add(lag - above <= value)
        return value

    def _moves(self) -> Expression:
        """Count owned partitions that are not with their owner."""
        kept = [
            self.count[i, o]
            for i, kind in enumerate(self.kinds)
            if (i, o := int(self.setting.owner[kind[0]])) in self.count
        ]
        owned = int((self.setting.owner >= 0).sum())
        return owned - sum(kept)

    def _deviation(self, least: int, most: int) -> Expression:
        """Add up |shares * lag[c] - total * w[c]| over members."""
        weights = [self.setting.scale // u for u in self.room.unit.tolist()]
        total, shares = int(self.room.lag.sum()), sum(weights)
        parts = []
        for held, weight in zip(self.held(), weights, strict=True):
            part = self.model.new_int_var(0, most, "deviation")
            off = held * shares - total * weight
            self.model.add(off <= part)
            self.model.add(-off <= part)
            parts.append(part)
        self.model.add_linear_constraint(sum(parts), least, most)
        return sum(parts)

    def _heaviest(self) -> int:
        return int(self.room.lag.sum()) * int(self.room.unit.max(initial=1))

    def hint(self, holder: Int32) -> None:
        """Start from an assignment, its alike members renamed to fit the order."""
        renamed = np.arange(self.room.unit.size)
        for alike in self.alike:
            members = set(alike)
            by_lag = (c for kind in self.kinds for c in holder[kind].tolist())
            seen = list(dict.fromkeys(c for c in by_lag if c in members))
            seen += [c for c in alike if c not in set(seen)]
            renamed[seen] = alike
        for i, kind in enumerate(self.kinds):
            self.work.check()
            held = np.bincount(renamed[holder[kind]], minlength=self.room.unit.size)
            for c in self.takers[i]:
                self.model.add_hint(self.count[i, c], int(held[c]))

    def read(self, solver: cp_model.CpSolver) -> Int32:
        """Return who holds what."""
        holder = np.empty(self.room.lag.size, np.int32)
        for i, kind in enumerate(self.kinds):
            times = [solver.value(self.count[i, c]) for c in self.takers[i]]
            holder[kind] = np.repeat(self.takers[i], times)
        return holder
