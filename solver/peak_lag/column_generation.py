"""Column generation for the packing relaxation: least peak, bound, and assignment.

Where members are interchangeable and few partitions with lag come on each, the mean is
out of reach, and local search is poor at filling members up. Relaxed bin packing: take
the least number of columns (sets of partitions that one member can hold within a peak),
in fractions, so that every partition is covered. Its dual prices state which column
would reduce that number. The least peak at which members suffice is nearly always the
optimum: below it, rounded prices prove a bound (`packing_term`); at it, CP-SAT chooses
columns that are an assignment.

Follows Gilmore and Gomory, *A linear programming approach to the cutting-stock
problem*, 1961.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from rebalance import NOBODY, BoundTerm, Int32, Int64, always_compiled
from solver.constants import INT64_MAX
from solver.cpsat import configure_solver, run_solver
from solver.peak_lag.feasible_region import FeasibleRegion
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.work import Work

Prices = NDArray[np.float64]
Column = tuple[int, ...]

_CHOICE_EFFORT: Final = 1.0
"""Deterministic seconds of choosing columns; a quarter of it for the first try."""

_COLUMN_SIZE: Final = 16
_NEW_COLUMNS: Final = 20
"""Columns per round."""

_EQUAL_COLUMNS: Final = 2000
"""Columns added that are not better than those in use."""

_PRICING_STEPS: Final = 2_000_000
_ROUNDS: Final = 200
_ROUND_STEPS: Final = 10_000_000
"""Steps of a round without pricing, about."""

_SLACK: Final = 1e-7
_PRICE_UNITS: Final = (2, 3, 4, 6, 12, 24, 60, 120, 840, 5000)
"""Integers that a price of 1 becomes; each is tried."""


def pack(
    lag_instance: LagInstance, bound: int, peak: int, work: Work
) -> tuple[Int32 | None, BoundTerm | None]:
    """Find the least peak of the relaxation between a bound and a peak reached.

    All members must be interchangeable.

    Returns
    -------
    int32 (P,) or None
        An assignment, feasible but not always better.
    BoundTerm or None
        A larger bound.
    """
    region = lag_instance.region
    members, unit = region.unit.size, int(region.unit[0])
    rows = np.argsort(-region.lag, kind="stable")[: int((region.lag > 0).sum())]
    lags = region.lag[rows]
    columns = Columns(lags, members, work)
    low, high = max(-(-bound // unit), int(lags[0])), peak // unit
    proved, high, prices_at_high = _least_relaxed(columns, lags, low, high)
    term = proved and proved.model_copy(update={"bound": proved.bound * unit})
    if prices_at_high is None or work.exceeded() is not None:
        return None, term
    chosen = columns.choose(high, _CHOICE_EFFORT / 4)
    if chosen is None and work.exceeded() is None:
        columns.price(prices_at_high, high, 1 - _SLACK, _EQUAL_COLUMNS, 0.0)
        chosen = columns.choose(high, _CHOICE_EFFORT)
    if chosen is None:
        return None, term
    holder = np.full(region.lag.size, NOBODY, np.int32)
    for c, column in reversed(list(enumerate(chosen))):  # of several, the first holds
        holder[rows[list(column)]] = c
    return (holder if complete(region, holder) else None), term


def _least_relaxed(
    columns: Columns, lags: Int64, low: int, high: int
) -> tuple[BoundTerm | None, int, Prices | None]:
    """Bisect the peaks at which the relaxation needs no more columns than members.

    Returns
    -------
    BoundTerm or None
        The largest bound above ``low``, in units of a member.
    int
        The least peak found.
    float64 (P,) or None
        Prices at that peak; None if none is below ``high``.
    """
    term: BoundTerm | None = None
    prices_at_high: Prices | None = None
    middle = high - 1  # first of all: is there anything less?
    while low < high:
        relaxed = columns.relax(middle)
        if relaxed is None:
            break
        value, prices = relaxed
        if value <= columns.members + _SLACK:
            high, prices_at_high = middle, prices
        else:
            proved = packing_term(lags, prices, columns.members)
            if proved.bound <= middle:
                break
            low, term = proved.bound, proved
        middle = (low + high) // 2
    return term, high, prices_at_high


def complete(region: FeasibleRegion, holder: Int32) -> bool:
    """Assign the partitions without a holder; return whether counts allow it.

    All members must be interchangeable; each fills up to its least, then extras.
    """
    members = region.unit.size
    pool_of = region.topic if region.by_topic else np.zeros_like(region.topic)
    for pool in range(region.extra.size):
        rows = np.flatnonzero((pool_of == pool) & (holder == NOBODY))
        held = holder[(pool_of == pool) & (holder != NOBODY)]
        count = np.bincount(held, minlength=members)
        cell = int(region.cell[0]) + (pool if region.by_topic else 0)
        least, most = int(region.least[cell]), int(region.most[cell])
        missing = np.maximum(least - count, 0)
        free = np.minimum(most - np.maximum(count, least), rows.size)
        if (free < 0).any() or missing.sum() > rows.size:
            return False
        places = np.r_[
            np.repeat(np.arange(members), missing), np.repeat(np.arange(members), free)
        ]
        if places.size < rows.size:
            return False
        holder[rows] = places[: rows.size]
    return True


class Columns:
    """The columns found so far, for all peaks.

    Parameters
    ----------
    lags : int64 (N,)
        Descending, all positive.
    """

    def __init__(self, lags: Int64, members: int, work: Work) -> None:
        self.lags, self.members, self.work = lags, members, work
        self.lag_of: dict[Column, int] = {}
        for i in range(lags.size):
            self._add([i])

    def _add(self, items: list[int]) -> Column:
        column = tuple(sorted(items))
        self.lag_of[column] = int(self.lags[items].sum())
        return column

    def _within(self, peak: int) -> list[Column]:
        return [column for column, lag in self.lag_of.items() if lag <= peak]

    def relax(self, peak: int) -> tuple[float, Prices] | None:
        """Return the number of columns in the relaxation, and the price per lag.

        None if a limit is exceeded. It ends once the members suffice.
        """
        partner = np.searchsorted(-self.lags, -(peak - self.lags)).tolist()
        for i, j in enumerate(partner):  # the largest that fits beside i
            if j < self.lags.size and j != i:
                self._add([i, j])
        program = _PackingRelaxation(self.lags.size)
        for column in self._within(peak):
            program.add(column)
        for _ in range(_ROUNDS):
            self.work.spend(_ROUND_STEPS)
            if self.work.exceeded() is not None:
                return None
            value, prices = program.solve()
            if value <= self.members - _SLACK:
                break
            new = self.price(prices, peak, 1 + _SLACK, _NEW_COLUMNS, 0.5)
            for column in new:
                program.add(column)
            if not new:
                break
        return value, prices

    def price(
        self, prices: Prices, peak: int, least: float, wanted: int, rise: float
    ) -> list[Column]:
        """Add columns whose prices sum to more than ``least``."""
        found, sizes, steps = _dear_columns(
            self.lags, prices, peak, least, wanted, rise
        )
        self.work.spend(int(steps))
        listed = zip(found.tolist(), sizes.tolist(), strict=True)
        return [self._add(items[:size]) for items, size in listed]

    def choose(self, peak: int, effort: float) -> list[Column] | None:
        """Choose at most as many columns as members that cover every partition."""
        columns = self._within(peak)
        model = cp_model.CpModel()
        x = [model.new_bool_var("") for _ in columns]
        covering: list[list[cp_model.IntVar]] = [[] for _ in self.lags]
        for is_chosen, column in zip(x, columns, strict=True):
            for i in column:
                covering[i].append(is_chosen)
        for some in covering:
            model.add_bool_or(some)
        model.add(sum(x) <= self.members)
        solver = configure_solver(self.work.limits)
        solver.parameters.max_deterministic_time = max(self.work.left(effort), 1e-3)
        # All constraints in the linear relaxation: it proves the bounds.
        solver.parameters.linearization_level = 2
        if not run_solver(solver, model, self.work.limits):
            return None
        self.work.spent += solver.response_proto.deterministic_time
        status = solver.response_proto.status
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return [
            column
            for is_chosen, column in zip(x, columns, strict=True)
            if solver.value(is_chosen)
        ]


class _PackingRelaxation:
    """Minimize the sum of x over columns; each partition is covered: sum x >= 1."""

    def __init__(self, size: int) -> None:
        self.solver = pywraplp.Solver.CreateSolver("GLOP")
        self.infinity = self.solver.infinity()
        self.rows = [self.solver.Constraint(1.0, self.infinity) for _ in range(size)]
        self.solver.Objective().SetMinimization()

    def add(self, column: Column) -> None:
        x = self.solver.NumVar(0, self.infinity, "")
        self.solver.Objective().SetCoefficient(x, 1)
        for i in column:
            self.rows[i].SetCoefficient(x, 1)

    def solve(self) -> tuple[float, Prices]:
        self.solver.Solve()
        prices = np.array([max(0.0, row.dual_value()) for row in self.rows])
        return float(self.solver.Objective().Value()), prices


@always_compiled
def _dear_columns(
    lags: Int64, prices: Prices, peak: int, least: float, wanted: int, rise: float
) -> tuple[Int64, Int64, int]:
    """Find columns within a peak whose prices sum to more than ``least``.

    Depth first, the dearest per lag first; bounded by the price of the next per lag.
    Each column found raises ``least`` by a part of the difference, so that columns
    differ; of too many the first are dropped.
    """
    order = np.argsort(-(prices / lags))
    lag, price = lags[order], prices[order]
    found = np.zeros((wanted, _COLUMN_SIZE), np.int64)
    sizes = np.zeros(wanted, np.int64)
    taken = np.zeros(_COLUMN_SIZE, np.int64)
    end, depth, steps, i = 0, 0, 0, 0
    left, total = peak, 0.0
    while steps < _PRICING_STEPS:
        while i < lag.size and total + price[i] / lag[i] * left > least:
            steps += 1
            if lag[i] <= left and depth < _COLUMN_SIZE:
                taken[depth] = i
                depth += 1
                left -= lag[i]
                total += price[i]
                if total > least:
                    least += (total - least) * rise
                    found[end % wanted, :depth] = order[taken[:depth]]
                    sizes[end % wanted] = depth
                    end += 1
            i += 1
        if depth == 0:
            break
        # Backtrack: drop the last item, and go on with the one after it.
        depth -= 1
        i = taken[depth]
        left += lag[i]
        total -= price[i]
        i += 1
        steps += 1
    end = min(end, wanted)
    return found[:end], sizes[:end], steps


def packing_term(lags: Int64, prices: Prices, members: int) -> BoundTerm:
    """Round prices to the integer weights that prove most (docs/bounds.md, packing).

    Somebody holds an equal share of all weight or more, and so at least the least lag
    of any set of that weight, whatever the integers are.

    Parameters
    ----------
    lags : int64 (N,)
        Of partitions with lag, descending.
    prices : float64 (N,)
    """
    distinct, place, times = np.unique(lags, return_inverse=True, return_counts=True)
    price = np.bincount(place, prices) / times  # of equal lags the mean is as good
    best, weights = 0, np.zeros(distinct.size, np.int64)
    for unit in _PRICE_UNITS:
        rounded = np.floor(price * unit + 1e-4).astype(np.int64)
        share = -(-int((rounded * times).sum()) // members)
        bound = int(_least_lag_of_weight(lags, rounded[place], share))
        if bound > best:
            best, weights = bound, rounded
    is_step = np.diff(weights, prepend=0) != 0
    steps = np.column_stack((distinct[is_step], weights[is_step])).tolist()
    return BoundTerm.model_construct(
        kind="packing", bound=best, topics=None, steps=steps
    )


@always_compiled
def _least_lag_of_weight(lags: Int64, weights: Int64, share: int) -> int:
    """Return the least lag of a set of at least that weight: a knapsack by weight."""
    least = np.full(share + 1, INT64_MAX // 2, np.int64)
    least[0] = 0
    for i in range(lags.size):
        if weights[i] > 0:
            for w in range(share, 0, -1):
                with_it = least[max(0, w - weights[i])] + lags[i]
                least[w] = min(least[w], with_it)
    return int(least[share])
