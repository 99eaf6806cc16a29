"""Sets of partitions that one member can hold below a peak, found as they are needed.

The relaxed bin packing problem: take as few such sets as can be, in fractions, so that
every partition is in one. Its prices say which further set would help; when none does,
they are the best there are. Members must be all alike, and counts without limits.

Follows Gilmore and Gomory, *A linear programming approach to the cutting-stock
problem*, 1961. Nothing here is a proof: `solver.peak_lag.packing` tells what its prices
prove.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from rebalance.claims import Int64
from solver.cpsat import run_solver
from solver.peak_lag.packing import Prices
from solver.peak_lag.search import solver_within
from solver.peak_lag.work import STEPS_A_UNIT, Work

_DEEP: Final = 16  # partitions of one set
_NEW: Final = 20  # sets a round
_AS_GOOD: Final = 2000  # sets that are no better than those in use
_STEPS: Final = 2_000_000  # looking for them
_ROUNDS: Final = 200
_ROUND_STEPS: Final = 10_000_000  # what a round costs besides, about
_SLACK: Final = 1e-7


class Sets:
    """The sets found so far, for all peaks.

    Parameters
    ----------
    lags : int64 (N,)
        Descending, none of them 0.
    """

    def __init__(self, lags: Int64, members: int, work: Work) -> None:
        self.lags, self.members, self.work = lags, members, work
        self.sets: dict[tuple[int, ...], int] = {}
        for i in range(lags.size):
            self._add([i])

    def _add(self, items: list[int]) -> tuple[int, ...]:
        known = tuple(sorted(items))
        self.sets[known] = int(self.lags[items].sum())
        return known

    def below(self, peak: int) -> list[tuple[int, ...]]:
        """Return the sets that keep to a peak."""
        return [items for items, lag in self.sets.items() if lag <= peak]

    def _pair(self, peak: int) -> None:
        """Put to each the largest that may be with it."""
        after = np.searchsorted(-self.lags, -(peak - self.lags)).tolist()
        for i, j in enumerate(after):
            if j < self.lags.size and j != i:
                self._add([i, j])

    def prices(self, peak: int) -> tuple[float, Prices] | None:
        """Solve the relaxation: how many sets it takes, and the price of each lag.

        None if a limit strikes. It goes no further once members are enough.
        """
        self._pair(peak)
        program = _Relaxation(self.lags.size)
        for items in self.below(peak):
            program.add(items)
        for _ in range(_ROUNDS):
            self.work.spent += _ROUND_STEPS / STEPS_A_UNIT
            if self.work.exceeded() is not None:
                return None
            value, price = program.solve()
            if value <= self.members - _SLACK:
                break
            new = self._found(price, peak, 1 + _SLACK, _NEW, 0.5)
            for items in new:
                program.add(items)
            if not new:
                break
        return value, price

    def _found(
        self, price: Prices, peak: int, least: float, wanted: int, rise: float
    ) -> list[tuple[int, ...]]:
        found, sizes, steps = _dear(self.lags, price, peak, least, wanted, rise)
        self.work.spent += int(steps) / STEPS_A_UNIT
        listed = zip(found.tolist(), sizes.tolist(), strict=True)
        return [self._add(items[:size]) for items, size in listed]

    def is_enough(self, value: float) -> bool:
        """Tell whether there are so many members."""
        return value <= self.members + _SLACK

    def widen(self, peak: int, price: Prices) -> None:
        """Add sets that the relaxation could as well have taken."""
        self._found(price, peak, 1 - _SLACK, _AS_GOOD, 0.0)

    def chosen(self, peak: int, effort: float) -> list[tuple[int, ...]] | None:
        """Choose no more of the sets than members, so that all have their place."""
        sets = self.below(peak)
        model = cp_model.CpModel()
        x = [model.new_bool_var("") for _ in sets]
        holds: list[list[cp_model.IntVar]] = [[] for _ in self.lags]
        for taken, items in zip(x, sets, strict=True):
            for i in items:
                holds[i].append(taken)
        for some in holds:
            model.add_bool_or(some)
        model.add(sum(x) <= self.members)
        solver = solver_within(self.work, effort)
        solver.parameters.linearization_level = 2  # the relaxation is nearly whole
        if not run_solver(solver, model, self.work.limits):
            return None
        self.work.spent += solver.response_proto.deterministic_time
        if solver.response_proto.status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return [
            items for taken, items in zip(x, sets, strict=True) if solver.value(taken)
        ]


class _Relaxation:
    """The linear program, a variable a set: each partition in one set at least."""

    def __init__(self, size: int) -> None:
        self.solver = pywraplp.Solver.CreateSolver("GLOP")
        self.rows = [
            self.solver.Constraint(1.0, self.solver.infinity()) for _ in range(size)
        ]
        self.solver.Objective().SetMinimization()

    def add(self, items: tuple[int, ...]) -> None:
        x = self.solver.NumVar(0, self.solver.infinity(), "")
        self.solver.Objective().SetCoefficient(x, 1)
        for i in items:
            self.rows[i].SetCoefficient(x, 1)

    def solve(self) -> tuple[float, Prices]:
        self.solver.Solve()
        price = np.array([max(0.0, row.dual_value()) for row in self.rows])
        return float(self.solver.Objective().Value()), price


@njit(cache=True)
def _dear(
    lags: Int64, price: Prices, peak: int, least: float, wanted: int, rise: float
) -> tuple[Int64, Int64, int]:
    """Find sets that keep to a peak and whose prices add up to more than ``least``.

    Depth first, the dearest by lag first. With each that is found ``least`` comes so
    much closer to it, so that they differ; of too many the first are forgotten.
    """
    order = np.argsort(-(price / lags))
    lag, value = lags[order], price[order]
    found = np.zeros((wanted, _DEEP), np.int64)
    sizes = np.zeros(wanted, np.int64)
    taken = np.zeros(_DEEP, np.int64)
    end, depth, steps, i = 0, 0, 0, 0
    left, total = peak, 0.0
    while steps < _STEPS:
        while i < lag.size and total + value[i] / lag[i] * left > least:
            steps += 1
            if lag[i] <= left and depth < _DEEP:
                taken[depth] = i
                depth += 1
                left -= lag[i]
                total += value[i]
                if total > least:
                    least += (total - least) * rise
                    found[end % wanted, :depth] = order[taken[:depth]]
                    sizes[end % wanted] = depth
                    end += 1
            i += 1
        if depth == 0:
            break
        depth -= 1
        i = taken[depth]
        left += lag[i]
        total -= value[i]
        i += 1
        steps += 1
    end = min(end, wanted)
    return found[:end], sizes[:end], steps
