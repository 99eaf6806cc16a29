"""Pack lag below the least peak that the relaxed bin packing problem allows.

Where members are all alike and few partitions with lag come on each, the mean is out of
reach, and exchanges are poor at filling members up. The relaxation knows the least peak
nearly always; below it there is a proof, and at it some of its own sets are an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rebalance.claims import NOBODY, Int32, Int64
from solver.peak_lag.fill import fill
from solver.peak_lag.packing import Packing, Prices, packing_of
from solver.peak_lag.sets import Sets
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work

_EFFORT: Final = 1.0  # deterministic seconds of choosing


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What came of it, each None if nothing did.

    Attributes
    ----------
    holder : int32 (P,) or None
    packing : Packing or None
        In units of 1 ÷ scale.
    """

    holder: Int32 | None
    packing: Packing | None


def packed(setting: Setting, bound: int, peak: int, work: Work) -> Packed:
    """Look for the least peak between a bound and one that has been reached."""
    room = setting.room
    members, unit = room.unit.size, int(room.unit[0])
    rows = np.argsort(-room.lag, kind="stable")[: int((room.lag > 0).sum())]
    lags = room.lag[rows]
    sets = Sets(lags, members, work)
    low, high = max(-(-bound // unit), int(lags[0])), peak // unit
    best: Packing | None = None
    priced: Prices | None = None  # at ``high``
    middle = high - 1  # first of all: is there anything less?
    while low < high:
        found = sets.prices(middle)
        if found is None:
            break
        value, prices = found
        if sets.is_enough(value):
            high, priced = middle, prices
        else:
            packing = packing_of(lags, prices, members)
            if packing.bound <= middle:
                break
            low, best = packing.bound, packing
        middle = (low + high) // 2
    holder = None
    if priced is not None and work.exceeded() is None:
        chosen = sets.chosen(high, _EFFORT / 4)
        if chosen is None and work.exceeded() is None:
            sets.widen(high, priced)
            chosen = sets.chosen(high, _EFFORT)
        holder = _held(setting, rows, chosen)
    if best is not None:
        best = Packing(bound=best.bound * unit, steps=best.steps)
    return Packed(holder=holder, packing=best)


def _held(
    setting: Setting, rows: Int64, chosen: list[tuple[int, ...]] | None
) -> Int32 | None:
    """Write the sets as holders, and deal out what has no lag; None if counts forbid.

    What is in several sets is held with the first.
    """
    if chosen is None:
        return None
    holder = np.full(setting.room.lag.size, NOBODY, np.int32)
    for c, items in reversed(list(enumerate(chosen))):
        holder[rows[list(items)]] = c
    return holder if fill(setting.room, holder) else None
