"""Minimize peak lag from a feasible assignment and a lower bound.

Column generation where it applies, and a round of local search towards the bound; then
CP-SAT proves most small instances, and set partition others. Further rounds of local
search aim at the bound, and at targets between it and the best peak; CP-SAT alternates
with them. Each round has twice the effort of the one before. Effort is counted in
steps, not in seconds; limits are checked between pieces of a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np

from rebalance import BoundTerm, Int32
from solver.limits import DEFAULT_EFFORT
from solver.peak_lag.feasible_region import (
    interchangeable_members,
    member_lists,
    peak_lag_of,
)
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.local_search import search_locally
from solver.peak_lag.set_partition import PARTITIONS_MAX, partition_exactly
from solver.peak_lag.work import Work

_LOCAL_STEPS: Final = 100_000_000
"""Steps of local search in the first round: about a tenth of a second."""

_PIECE_STEPS: Final = 50_000_000
"""Steps between two checks of the limits, and of one random seed."""

_ROUNDS: Final = 6
"""Rounds where CP-SAT cannot prove a bound and the caller sets no effort."""

_NEAR: Final = 10_000
"""A gap of one in so many ends a local search for which nobody set an effort."""

_PACKING_LAGS: Final = 400
_PACKING_LAGS_PER_MEMBER: Final = 4
"""Partitions with lag up to which packing pays; with more the mean is in reach."""


@dataclass(slots=True, kw_only=True)
class MinimizePeak:
    """The least peak lag found so far, and its lower bound.

    Peaks and the bound are in units of 1 ÷ scale. Moves are limited where an objective
    before has fixed them.
    """

    lag_instance: LagInstance
    holder: Int32  # (P,): feasible; the best so far
    bound: int  # no peak is below it
    work: Work
    moves: int | None = None  # no more than these, and ``holder`` has as many
    packing: BoundTerm | None = None  # proof of a bound that column generation raised
    is_searchable: bool  # CP-SAT goes on from here
    is_quick: bool = False  # a peak next to the bound ends the local search
    peak: int = field(init=False)
    _seeds: Iterator[int] = field(init=False)
    _is_enumerated: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.peak = int(peak_lag_of(self.lag_instance.region, self.holder))
        self._seeds = count(self.work.limits.seed)

    def start(self) -> None:
        """Do the quick steps; with fixed moves little can be exchanged."""
        if self.moves is not None:
            return
        if has_few_lags(self.lag_instance):
            self._reach(self.bound, _LOCAL_STEPS // 16)
            self._generate_columns()
        if len(interchangeable_members(self.lag_instance.region)) == 1:
            self.enumerate_small()  # proves nearly all of these, and sooner than CP-SAT
        if self.is_searchable:
            self._reach(self.bound, _LOCAL_STEPS)

    def enumerate_small(self) -> None:
        """Prove the least peak of a small group by set partition, if it can be."""
        is_small = self.lag_instance.region.lag.size <= PARTITIONS_MAX
        if self._is_enumerated or not is_small or self.moves is not None:
            return
        self._is_enumerated = True
        self._reach(self.bound, _LOCAL_STEPS // 16)
        self._partition_exactly()

    def search_round(self, turn: int) -> None:
        """Search locally, with twice the effort of the round before."""
        if self._is_over():
            return
        steps = _LOCAL_STEPS << turn
        if not self._reach(self.bound, steps) and (turn > 0 or not self.is_quick):
            self._bisect(steps // 4)

    def search_rounds(self) -> None:
        """Search until the peak meets the bound, or for some rounds without limits."""
        limits = self.work.limits
        is_default = limits.is_default or limits.effort in {None, DEFAULT_EFFORT}
        turns = range(_ROUNDS) if is_default else count()
        for turn in turns:
            is_near = turn > 0 and self.peak <= self.bound + self.bound // _NEAR
            if self._is_over() or (self.is_quick and is_near):
                return
            self.search_round(turn)

    def _is_over(self) -> bool:
        return self.peak <= self.bound or self.work.exceeded() is not None

    def keep(self, holder: Int32 | None) -> None:
        """Keep an assignment if it is better."""
        if holder is None:
            return
        peak = int(peak_lag_of(self.lag_instance.region, holder))
        if peak < self.peak:
            self.holder, self.peak = holder, peak

    def _reach(self, target: int, steps: int) -> bool:
        """Search locally for a peak; keep whatever is better than the best."""
        region = self.lag_instance.region
        is_fixed = self.moves is not None
        owner = self.lag_instance.owner if is_fixed else np.zeros(0, np.int32)
        lists = member_lists(region, self.holder)
        cap = np.minimum(target // region.unit, int(region.lag.sum()))
        piece = min(steps, _PIECE_STEPS) + 50_000 * cap.size
        while steps > 0 and not self._is_over():
            steps -= piece
            seed = next(self._seeds) % 2**31
            found = search_locally(region, lists, owner, cap, seed, piece)
            self.work.spend(int(found.spent))
            self.keep(found.holder)
            if found.excess == 0:
                return True
        return False

    def _bisect(self, steps: int) -> None:
        """Aim between the bound and the best, nearer to either as it goes."""
        low = self.bound
        while low < self.peak and not self._is_over():
            middle = (low + self.peak) // 2
            if not self._reach(middle, steps):
                low = middle + 1

    def _partition_exactly(self) -> None:
        """Raise the bound of a small group to the least peak by enumeration."""
        if self._is_over():
            return
        holder, self.bound = partition_exactly(
            self.lag_instance.region, self.bound, self.peak, self.work
        )
        self.keep(holder)

    def _generate_columns(self) -> None:
        """Raise the bound to the least peak of the packing relaxation, and meet it."""
        if self._is_over():
            return
        # Imported when needed: the solvers take a second to load.
        from solver.peak_lag.column_generation import pack  # noqa: PLC0415

        holder, term = pack(self.lag_instance, self.bound, self.peak, self.work)
        if term is not None:
            self.packing, self.bound = term, term.bound
        self.keep(holder)


def has_few_lags(lag_instance: LagInstance) -> bool:
    """Return whether all members are interchangeable and have few lags to pack."""
    region = lag_instance.region
    members, lags = region.unit.size, int((region.lag > 0).sum())
    most = min(_PACKING_LAGS, _PACKING_LAGS_PER_MEMBER * members)
    return 1 < members < lags <= most and len(interchangeable_members(region)) == 1
