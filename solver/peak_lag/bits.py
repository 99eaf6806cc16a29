"""Sets of at most 62 partitions as the bits of a number, and their counts by topic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64
from solver.peak_lag.kinds import load_bounds_of
from solver.peak_lag.room import Room


class Counts(NamedTuple):
    """How many partitions one member holds of each topic, or of all together.

    Attributes
    ----------
    group : int64 (G,)
        Partitions as bits.
    least, most : int64 (G,)
    """

    group: Int64
    least: Int64
    most: Int64


def counts_of(room: Room, c: int, rows: Int64) -> Counts:
    """Lay out the counts of a member; bit k is partition ``rows[k]`` of the room."""
    cells = load_bounds_of(room, c)
    topic = room.topic[rows]
    groups = [mask_of(np.arange(rows.size))]
    if room.by_topic:
        k = int(room.member_class[c])
        topics = room.open[room.first[k] : room.first[k + 1]].tolist()
        groups = [mask_of(np.flatnonzero(topic == t)) for t in topics]
    return Counts(np.array(groups, np.int64), room.least[cells], room.most[cells])


def mask_of(places: Int64) -> int:
    """Set some bits."""
    return sum(1 << place for place in places.tolist())


def places_of(mask: int) -> list[int]:
    """List the bits that are set, ascending."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


@njit(cache=True)
def bits(mask: int) -> int:
    """Count the bits that are set."""
    mask = mask - ((mask >> 1) & 0x5555555555555555)
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    mask += mask >> 8
    mask += mask >> 16
    return (mask + (mask >> 32)) & 127


@njit(cache=True)
def fits(mask: int, counts: Counts, is_whole: bool) -> bool:
    """Tell whether a set, or one that it may become, has the right counts."""
    for g in range(counts.group.size):
        count = bits(mask & counts.group[g])
        if count > counts.most[g] or (is_whole and count < counts.least[g]):
            return False
    return True
