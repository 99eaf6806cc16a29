"""The least a measure can be, given what is known of the members above each load.

A walk goes over v = 1, 2, ..., top and picks n(v), the members whose load is v or more:
never more than the one before, all partitions given away at the end. Known is how much
at least lies above each v (`solver.pareto.excess`), and cuts: Σ_v price(v) · n(v) is at
least so much. The best walk bounds every assignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from rebalance.claims import Int64
from solver.limits import Limits

NEVER = 2**60
_CELLS_MAX = 2**24  # of 8 bytes each, for every table
_STEPS_MAX = 2**28  # about a quarter of a second
_NODES = 2**20  # at first; then twice as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Σ_v prices[v − 1] · n(v) ≥ least, for every assignment within the budget."""

    prices: Sequence[int]
    least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Walks under cuts.

    Attributes
    ----------
    costs : int64 (top, M + 1)
        What n members that reach v add to the measure.
    togo : int64 (top + 1, M + 1, P + 1)
        The least still to come after v levels, the last with n, e partitions left.
    most : int64 (cuts, top + 1, M + 1, P + 1)
        The most that each cut can still gain.
    """

    costs: Int64
    partitions: int
    cuts: Sequence[Cut]
    togo: Int64
    most: Int64

    @classmethod
    def over(
        cls,
        costs: Int64,
        partitions: int,
        excess: Sequence[int],
        cuts: Sequence[Cut] = (),
    ) -> Walk | None:
        """Lay out the tables; None if they would be too large."""
        top, width = costs.shape
        if (top + 1) * width * (partitions + 1) * (1 + len(cuts)) > _CELLS_MAX:
            return None
        floor = np.array([*excess[:top], 0], dtype=np.int64)
        togo, most = _tables(costs, _prices(cuts, top), floor, partitions)
        return cls(costs=costs, partitions=partitions, cuts=cuts, togo=togo, most=most)

    def find(self, worth: int, limits: Limits) -> list[int] | None:
        """Return n(1), ..., n(top) of such worth or less; None: there is none.

        Raises
        ------
        LimitExceededError
            If a limit strikes before that is known.
        """
        needs = np.array([cut.least for cut in self.cuts], dtype=np.int64)
        prices = _prices(self.cuts, self.costs.shape[0])
        nodes = _NODES
        while True:
            limits.check()
            found, known = _find(
                self.costs, prices, needs, self.togo, self.most, worth, nodes
            )
            if known:
                return [int(n) for n in found] if found[0] >= 0 else None
            nodes *= 2


def least_measure(costs: Int64, partitions: int, excess: Sequence[int]) -> int | None:
    """Return the least measure of all walks without cuts; None if that takes long.

    The same as the tables of `Walk` say, level by level, so it takes larger ones.
    """
    top, width = costs.shape
    cells = width * (partitions + 1)
    if cells > _CELLS_MAX or cells * top > _STEPS_MAX:
        return None
    floor = np.array([*excess[:top], *[0] * (top + 1 - len(excess[:top]))], np.int64)
    return int(_least(costs, floor, partitions))


def _prices(cuts: Sequence[Cut], top: int) -> Int64:
    listed = [cut.prices for cut in cuts]
    return np.array(listed, dtype=np.int64).reshape(len(cuts), top)


@njit(cache=True)
def _least(costs: Int64, floor: Int64, partitions: int) -> int:
    """Go from the last level back; ``later[n, e]`` is what e partitions still cost."""
    top, width = costs.shape
    later = np.full((width, partitions + 1), NEVER, np.int64)
    later[:, 0] = 0
    for v in range(top - 1, -1, -1):
        now = np.full((width, partitions + 1), NEVER, np.int64)
        for n in range(width):
            if n:  # whoever may take n may take fewer
                now[n] = now[n - 1]
            for e in range(max(floor[v], n + floor[v + 1]), partitions + 1):
                now[n, e] = min(now[n, e], later[n, e - n] + costs[v, n])
        later = now
    return int(later[width - 1, partitions])


@njit(cache=True)
def _tables(
    costs: Int64, prices: Int64, floor: Int64, partitions: int
) -> tuple[Int64, Int64]:
    """Fill in from the last level back what is still to come."""
    top, width = costs.shape
    cuts = prices.shape[0]
    togo = np.full((top + 1, width, partitions + 1), NEVER, np.int64)
    most = np.full((cuts, top + 1, width, partitions + 1), -NEVER, np.int64)
    togo[top, :, 0] = 0
    most[:, top, :, 0] = 0
    for v in range(top - 1, -1, -1):
        for e in range(floor[v], partitions + 1):
            for n in range(width):
                if n:  # whoever may take n may take fewer
                    togo[v, n, e] = togo[v, n - 1, e]
                    most[:, v, n, e] = most[:, v, n - 1, e]
                after = e - n
                if after < floor[v + 1] or togo[v + 1, n, after] >= NEVER:
                    continue
                worth = togo[v + 1, n, after] + costs[v, n]
                togo[v, n, e] = min(togo[v, n, e], worth)
                for i in range(cuts):
                    gain = most[i, v + 1, n, after] + prices[i, v] * n
                    most[i, v, n, e] = max(most[i, v, n, e], gain)
    return togo, most


@njit(cache=True)
def _find(
    costs: Int64,
    prices: Int64,
    needs: Int64,
    togo: Int64,
    most: Int64,
    worth: int,
    nodes: int,
) -> tuple[Int64, bool]:
    """Search depth first, largest n first; -1 when there is none.

    The second value tells whether the search came to its end within ``nodes``.
    """
    top, width = costs.shape
    cuts = needs.size
    picked = np.full(top + 1, -1, np.int64)
    after = np.zeros(top + 1, np.int64)
    spent = np.zeros(top + 1, np.int64)
    gained = np.zeros((top + 1, cuts), np.int64)
    following = np.zeros(top + 1, np.int64)
    after[0] = togo.shape[2] - 1
    following[0] = width - 1
    v = 0
    while v >= 0:
        if v == top:
            return picked[1:], True
        n = following[v]
        if n < 0:
            v -= 1
            continue
        following[v] -= 1
        left = after[v] - n
        if left < 0:
            continue
        nodes -= 1
        if nodes < 0:
            return picked[1:], False
        cost = spent[v] + costs[v, n]
        if cost + togo[v + 1, n, left] > worth:
            continue
        fits = True
        for i in range(cuts):
            gained[v + 1, i] = gained[v, i] + prices[i, v] * n
            if gained[v + 1, i] + most[i, v + 1, n, left] < needs[i]:
                fits = False
                break
        if fits:
            picked[v + 1], after[v + 1], spent[v + 1] = n, left, cost
            following[v + 1] = n
            v += 1
    return np.full(top, -1, np.int64), True
