"""Partitions that are alike, and members that are."""

from __future__ import annotations

import numpy as np

from rebalance.claims import Int32, Int64
from solver.peak_lag.room import Room


def kinds_of(room: Room, owner: Int32 | None = None) -> list[Int64]:
    """Group partitions of one topic, one lag and one owner, the largest lag first."""
    if not room.lag.size:
        return []
    keys = (room.topic, room.topic if owner is None else owner, -room.lag)
    order = np.lexsort(keys)
    new = np.zeros(order.size - 1, np.bool_)
    for key in keys:
        new |= np.diff(key[order]) != 0
    return list(np.split(order, np.flatnonzero(new) + 1))


def load_bounds_of(room: Room, member: int) -> slice:
    """Return where the cells of a member are."""
    k = int(room.member_class[member])
    start = int(room.cell[member])
    width = int(room.first[k + 1] - room.first[k]) if room.by_topic else 1
    return slice(start, start + width)


def alike_members(room: Room) -> list[list[int]]:
    """Group members of one class, capacity and limits; only such as are not alone."""
    found: dict[tuple[int, int, bytes], list[int]] = {}
    for c, k in enumerate(room.member_class.tolist()):
        cells = load_bounds_of(room, c)
        limits = b"".join(
            column[cells].tobytes() for column in (room.least, room.most, room.pool)
        )
        found.setdefault((k, int(room.unit[c]), limits), []).append(c)
    return [alike for alike in found.values() if len(alike) > 1]
