"""Who holds what, in a form that a kernel changes in constant time.

Each member's partitions are a doubly linked list; sums and counts are kept along.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int32, Int64
from solver.peak_lag.room import Room, cell_of

END = -1


class Hands(NamedTuple):
    """The hands that have been dealt; P partitions, M members, C cells.

    Attributes
    ----------
    holder : int32 (P,)
    head : int32 (M,)
        A partition of each member, -1 none.
    after, before : int32 (P,)
        The next and the one before in the holder's list, -1 at the ends.
    total : int64 (M,)
        Sum of lag.
    load : int32 (M,)
    counts : int64 (C,)
    """

    holder: Int32
    head: Int32
    after: Int32
    before: Int32
    total: Int64
    load: Int32
    counts: Int64


@njit(cache=True)
def hands_of(room: Room, holder: Int32) -> Hands:
    """Lay the hands out."""
    members = room.unit.size
    hands = Hands(
        holder.copy(),
        np.full(members, END, np.int32),
        np.empty(holder.size, np.int32),
        np.empty(holder.size, np.int32),
        np.zeros(members, np.int64),
        np.zeros(members, np.int32),
        np.zeros(room.least.size, np.int64),
    )
    for p in range(holder.size - 1, -1, -1):
        _insert(room, hands, p, holder[p])
    return hands


@njit(cache=True)
def hand_over(room: Room, hands: Hands, p: int, taker: int) -> None:
    """Give a partition to another member."""
    giver = hands.holder[p]
    if giver == taker:
        return
    after, before = hands.after[p], hands.before[p]
    if before == END:
        hands.head[giver] = after
    else:
        hands.after[before] = after
    if after != END:
        hands.before[after] = before
    hands.total[giver] -= room.lag[p]
    hands.load[giver] -= 1
    hands.counts[cell_of(room, room.topic[p], giver)] -= 1
    _insert(room, hands, p, taker)


@njit(cache=True)
def _insert(room: Room, hands: Hands, p: int, taker: int) -> None:
    head = hands.head[taker]
    hands.after[p] = head
    hands.before[p] = END
    if head != END:
        hands.before[head] = p
    hands.head[taker] = p
    hands.holder[p] = taker
    hands.total[taker] += room.lag[p]
    hands.load[taker] += 1
    hands.counts[cell_of(room, room.topic[p], taker)] += 1


@njit(cache=True)
def peak_of(room: Room, hands: Hands) -> int:
    """Return the largest lag ÷ capacity, in units of 1 ÷ scale."""
    peak = 0
    for c in range(room.unit.size):
        peak = max(peak, room.unit[c] * hands.total[c])
    return peak


@njit(cache=True)
def peak_with(room: Room, holder: Int32) -> int:
    """Return the same of holders alone."""
    total = np.zeros(room.unit.size, np.int64)
    for p in range(holder.size):
        total[holder[p]] += room.lag[p]
    return int((room.unit * total).max()) if total.size else 0
