"""Lag that does not pack: the bound ``packing``, for members all alike.

Give every partition a weight, an integer of 0 or more, by its lag: ``steps`` lists
thresholds of lag, ascending, each with the weight of the partitions from there up to
the next; below the first it is 0. With U the sum of all weights and m members, somebody
holds a weight of w = ⌈U ÷ m⌉ or more, hence at least the lag

    least(w)  =  the least sum of lag among all sets of partitions of weight w or more

and s · least(w) is a bound, s being scale ÷ capacity. least is a knapsack, worked out
in integers by one table over weights. Limits of counts are left out: they only take
choices away. Where members differ, ``bound`` T holds if the most weight that each can
hold with lag of (T - 1) ÷ s at most, summed over members, is less than U.

Good weights are the prices of the relaxed bin packing problem, `solver.peak_lag.sets`.
Whatever integers they are rounded to, what is added up holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rebalance.claims import Int64
from solver.peak_lag.kinds import alike_members
from solver.peak_lag.setting import Setting

Prices = NDArray[np.float64]

_MOST_EACH: Final = 4  # partitions with lag of a member; with more the mean is near
_MOST: Final = 400  # partitions with lag
_FINE: Final = (2, 3, 4, 6, 12, 24, 60, 120, 840, 5000)  # what a price of 1 becomes
_NEVER: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Weights by lag and what they prove.

    Attributes
    ----------
    bound : int
        Of the lag that somebody holds, records.
    steps : tuple of (int, int)
        Lag from which on, and weight.
    """

    bound: int
    steps: tuple[tuple[int, int], ...]


def is_packing(setting: Setting) -> bool:
    """Tell whether members are all alike and few partitions with lag come on each."""
    room = setting.room
    members, behind = room.unit.size, int((room.lag > 0).sum())
    if not 1 < members < behind <= min(_MOST, _MOST_EACH * members):
        return False
    return [len(alike) for alike in alike_members(room)] == [members]


def packing_of(lags: Int64, prices: Prices, members: int) -> Packing:
    """Round prices so that they prove most.

    Parameters
    ----------
    lags : int64 (N,)
        Of partitions with lag, descending.
    prices : float64 (N,)
    """
    distinct, place, times = np.unique(lags, return_inverse=True, return_counts=True)
    price = np.bincount(place, prices) / times  # of equal lags the mean is as good
    best = Packing(bound=0, steps=())
    for fine in _FINE:
        weights = np.floor(price * fine + 1e-4).astype(np.int64)
        wanted = -(-int((weights * times).sum()) // members)
        bound = int(_least(lags, weights[place], wanted))
        if bound > best.bound:
            best = Packing(bound=bound, steps=_steps(distinct, weights))
    return best


@njit(cache=True)
def _least(lags: Int64, weights: Int64, wanted: int) -> int:
    """Return the least lag of a set that weighs so much or more."""
    least = np.full(wanted + 1, _NEVER, np.int64)
    least[0] = 0
    for i in range(lags.size):
        if weights[i] > 0:
            for w in range(wanted, 0, -1):
                with_it = least[max(0, w - weights[i])] + lags[i]
                least[w] = min(least[w], with_it)
    return int(least[wanted])


def _steps(distinct: Int64, weights: Int64) -> tuple[tuple[int, int], ...]:
    changes = np.diff(weights, prepend=0) != 0
    return tuple(
        zip(distinct[changes].tolist(), weights[changes].tolist(), strict=True)
    )
