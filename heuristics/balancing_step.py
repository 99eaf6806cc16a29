"""The general path's two steps: give each partition to who has least, then even out.

Members are places in an order of theirs (`heuristics.takers`); of equal loads the
first place is the least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.takers import Takers
from rebalance import NOBODY, Bools, Int32, Int64


class Standing(NamedTuple):
    """Who has what at a moment, and where it has been.

    Attributes
    ----------
    holder : int32 (P,)
        Place of the member that has the partition, or `NOBODY`.
    load : int64 (M,)
        Partitions at each place.
    source : int32 (P,)
        Place where the partition was before its moves; `NOBODY`: where it is.
    """

    holder: Int32
    load: Int64
    source: Int32


def standing_of(holder: Int32, *, members: int) -> Standing:
    """Begin with holders of whom none has moved."""
    load = np.bincount(holder[holder != NOBODY], minlength=members)
    return Standing(holder, load, np.full_like(holder, NOBODY))


@njit(cache=True)
def give_out(
    now: Standing, topics: Int64, takers: Takers, topic_offsets: Int64
) -> None:
    """Give each partition that nobody has to its subscriber with the least load.

    A heap of load · M + place for each topic: only its least entry ever changes.
    """
    holder, load = now.holder, now.load
    for t in topics:
        places = takers.places[takers.first[t] : takers.last[t]]
        rows = range(topic_offsets[t], topic_offsets[t + 1])
        if places.size == 0 or (holder[rows.start : rows.stop] != NOBODY).all():
            continue
        heap = np.sort(load[places] * load.size + places)  # sorted: a heap
        for row in rows:
            if holder[row] == NOBODY:
                place = heap[0] % load.size
                holder[row] = place
                load[place] += 1
                heap[0] += load.size
                sink(heap)


@njit(cache=True)
def sink(heap: Int64) -> None:
    """Put the root, which has grown, where it belongs."""
    value, i, child = heap[0], 0, 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = value


@njit(cache=True)
def even_out(
    now: Standing,
    previous: Int32,
    is_movable: Bools,
    topics: Int64,
    takers: Takers,
    topic_offsets: Int64,
) -> None:
    """Go through the topics until no movable partition has a subscriber to gain by.

    Comes to an end: each move takes from a load to one lower by two or more, so the
    sum of squares of the loads falls by two or more.

    Parameters
    ----------
    now : Standing
        Changed in place.
    previous : int32 (P,)
        Place of who had the partition before, which is asked first; or `NOBODY`.
    is_movable : bool (P,)
    topics : int64
        In the order to go in.
    """
    sent = np.zeros(now.load.size, dtype=np.int64)
    has_moved = True
    while has_moved:
        has_moved = False
        for t in topics:
            first, last = topic_offsets[t], topic_offsets[t + 1]
            places = takers.places[takers.first[t] : takers.last[t]]
            if places.size < 2:
                continue
            for place in now.source[first:last]:
                if place != NOBODY:
                    sent[place] += 1
            if _even_topic(now, previous, is_movable, first, last, places, sent):
                has_moved = True
            for place in now.source[first:last]:
                if place != NOBODY:
                    sent[place] = 0


@njit(cache=True)
def _even_topic(
    now: Standing,
    previous: Int32,
    is_movable: Bools,
    first: int,
    last: int,
    places: Int32,
    sent: Int64,
) -> bool:
    """Go through a topic once; tell whether anything has moved.

    ``sent`` counts the topic's partitions that each place has lost to another.
    """
    load, has_moved = now.load, False
    least = places[np.argmin(load[places])]
    for row in range(first, last):
        if not is_movable[row]:
            continue
        most, before = load[now.holder[row]] - 1, previous[row]
        if before != NOBODY and load[before] < most:
            taker = before
        elif load[least] < most:
            taker = least
        else:
            continue
        _move(now, _in_its_stead(now, row, taker, first, last, sent), taker, sent)
        least = places[np.argmin(load[places])]
        has_moved = True
    return has_moved


@njit(cache=True)
def _in_its_stead(
    now: Standing, row: int, taker: int, first: int, last: int, sent: Int64
) -> int:
    """Choose what to move: rather what the taker has lost to where the row was first.

    Of several the lowest number. Only if that place has two or more above the taker:
    else the move would not even out, and moves need not end.
    """
    origin = now.source[row]
    if origin == NOBODY:
        origin = now.holder[row]
    if sent[taker] > 0 and now.load[origin] > now.load[taker] + 1:
        for other in range(first, last):
            if now.source[other] == taker and now.holder[other] == origin:
                return other
    return row


@njit(cache=True)
def _move(now: Standing, row: int, taker: int, sent: Int64) -> None:
    """Move a partition, and remember where it was before its first move."""
    giver, origin = now.holder[row], now.source[row]
    if origin == NOBODY:
        origin = giver
    else:
        sent[origin] -= 1
    if origin == taker:
        now.source[row] = NOBODY
    else:
        now.source[row] = origin
        sent[origin] += 1
    now.holder[row] = taker
    now.load[giver] -= 1
    now.load[taker] += 1
