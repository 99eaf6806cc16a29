"""Seats for partitions without lag, once those with lag have theirs."""

from __future__ import annotations

import numpy as np
from numba import njit

from rebalance.claims import NOBODY, Int32, Int64
from solver.peak_lag.room import Room, cell_of, place_of


@njit(cache=True)
def fill(room: Room, holder: Int32) -> bool:
    """Give what nobody holds yet to members who may take it; tell whether all fits.

    Cells up to their least come first, then extras. Nothing is missed where counts are
    limited by topic, or not at all, or members may all take the same.
    """
    count = np.zeros(room.least.size, np.int64)
    extra = room.extra.copy()
    for p in range(holder.size):
        if holder[p] != NOBODY:
            i = cell_of(room, room.topic[p], holder[p])
            count[i] += 1
            if count[i] > room.least[i]:
                extra[room.pool[i]] -= 1
            if count[i] > room.most[i] or extra[room.pool[i]] < 0:
                return False
    turn, topic = 0, -1
    for p in range(holder.size):
        if holder[p] != NOBODY:
            continue
        if room.topic[p] != topic:
            turn, topic = 0, room.topic[p]
        turn = _open_turn(room, room.topic[p], count, extra, turn)
        if turn == 2 * room.unit.size:
            return False
        holder[p] = turn % room.unit.size
    return True


@njit(cache=True)
def _open_turn(room: Room, topic: int, count: Int64, extra: Int64, turn: int) -> int:
    """Take a place in the first turn from here on that has one; return that turn.

    Every member has two: up to its least, and above.
    """
    members = room.unit.size
    while turn < 2 * members:
        if place_of(room, topic, turn % members) < 0:
            turn += 1
            continue
        i = cell_of(room, topic, turn % members)
        if turn < members and count[i] < room.least[i]:
            break
        if turn >= members and count[i] < room.most[i] and extra[room.pool[i]] > 0:
            extra[room.pool[i]] -= 1
            break
        turn += 1
    if turn < 2 * members:
        count[i] += 1
    return turn
