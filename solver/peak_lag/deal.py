"""A first assignment: the largest lag first, to the member with the least so far.

Limits of counts hold at every step: a member takes no more than it may, and one more
than its least only while its pool has extras left.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import NOBODY, Int32, Int64
from solver.peak_lag.room import Room, cell_of
from solver.peak_lag.setting import Setting

_SCAN = 300_000_000  # pairs of partition and seat that are looked at one by one

_HEAPS = 50  # topics for which heaps pay: every change makes all the others' stale


class Seats(NamedTuple):
    """Who may take how many of a topic; one seat a topic and taker.

    Attributes
    ----------
    first : int64 (T+1,)
    member : int32 (S,)
    cell : int64 (S,)
        What counts it; cells as in `Room`, or one a seat.
    least, most, pool, extra
        As in `Room`.
    """

    first: Int64
    member: Int32
    cell: Int64
    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


def deal(setting: Setting) -> Int32:
    """Deal partitions out: the holder of each, int32 (P,).

    Where subscriptions differ and counts are limited across topics, no greedy can know
    how many of a topic a member must take; those numbers come from ``start``.
    """
    room = setting.room
    if setting.start is not None:
        return _dealt(room, _by_lag(room), _seats_as(setting.start, room))
    if room.first.size == 2 and not room.by_topic:
        return _dealt_by_heap(room, _by_lag(room))
    seats = _all_seats(room)
    takers = np.diff(seats.first)
    pairs = int(np.bincount(room.topic, minlength=takers.size) @ takers)
    if pairs > _SCAN and takers.size <= _HEAPS:
        return _dealt_by_heaps(room, _by_lag(room), seats)
    if pairs > _SCAN:
        return _dealt_in_rounds(room, np.lexsort((-room.lag, room.topic)), seats)
    return _dealt(room, _by_lag(room), seats)


def _by_lag(room: Room) -> Int64:
    return np.argsort(-room.lag, kind="stable")


def _seats_as(holder: Int32, room: Room) -> Seats:
    """Let each member take as many of each topic as it does here."""
    members = room.unit.size
    pair, count = np.unique(
        room.topic.astype(np.int64) * members + holder, return_counts=True
    )
    topics = np.arange(room.topic_first.size)
    return Seats(
        np.searchsorted(pair, topics * members),
        (pair % members).astype(np.int32),
        np.arange(pair.size),
        count,
        count,
        np.zeros(pair.size, np.int32),
        np.zeros(1, np.int64),
    )


@njit(cache=True)
def _all_seats(room: Room) -> Seats:
    topics = room.topic_first.size - 1
    first = np.zeros(topics + 1, np.int64)
    sizes = np.diff(room.class_first)
    for t in range(topics):
        classes = room.topic_classes[room.topic_first[t] : room.topic_first[t + 1]]
        first[t + 1] = first[t] + sizes[classes].sum()
    member = np.empty(first[-1], np.int32)
    cell = np.empty(first[-1], np.int64)
    end = 0
    for t in range(topics):
        for k in room.topic_classes[room.topic_first[t] : room.topic_first[t + 1]]:
            for c in room.class_members[room.class_first[k] : room.class_first[k + 1]]:
                member[end] = c
                cell[end] = cell_of(room, t, c)
                end += 1
    return Seats(first, member, cell, room.least, room.most, room.pool, room.extra)


@njit(cache=True)
def _dealt(room: Room, order: Int64, seats: Seats) -> Int32:
    """Look at every seat that is still open; a seat that closes stays closed."""
    holder = np.full(order.size, NOBODY, np.int32)
    total = np.zeros(room.unit.size, np.int64)
    count = np.zeros(seats.least.size, np.int64)
    extra = seats.extra.copy()
    member, cell = seats.member.copy(), seats.cell.copy()
    end = seats.first[1:].copy()
    for p in order:
        t = room.topic[p]
        best, least = NOBODY, 0
        still = seats.first[t]
        for s in range(seats.first[t], end[t]):
            c, i = member[s], cell[s]
            if count[i] >= seats.least[i] and (
                count[i] >= seats.most[i] or extra[seats.pool[i]] == 0
            ):
                continue
            member[still], cell[still] = c, i
            weight = room.unit[c] * total[c]
            if best == NOBODY or weight < least:
                best, least = still, weight
            still += 1
        end[t] = still
        c, i = member[best], cell[best]
        if count[i] >= seats.least[i]:
            extra[seats.pool[i]] -= 1
        count[i] += 1
        total[c] += room.lag[p]
        holder[p] = c
    return holder


@njit(cache=True)
def _dealt_by_heap(room: Room, order: Int64) -> Int32:
    """Deal as `_dealt` does where every member may take everything."""
    holder = np.full(order.size, NOBODY, np.int32)
    count = np.zeros(room.unit.size, np.int64)
    total = np.zeros(room.unit.size, np.int64)
    extra = room.extra.copy()
    heap = [(np.int64(0), c) for c in range(room.unit.size)]
    for p in order:
        c = heap[0][1]
        while count[c] >= room.least[c] and (
            count[c] >= room.most[c] or extra[room.pool[c]] == 0
        ):
            heapq.heappop(heap)
            c = heap[0][1]
        if count[c] >= room.least[c]:
            extra[room.pool[c]] -= 1
        count[c] += 1
        total[c] += room.lag[p]
        holder[p] = c
        heapq.heapreplace(heap, (room.unit[c] * total[c], c))
    return holder


@njit(cache=True)
def _dealt_in_rounds(room: Room, order: Int64, seats: Seats) -> Int32:
    """Deal topic by topic, to each open seat one a round, the least total first.

    Parameters
    ----------
    order : int64 (P,)
        Topic by topic, the largest lag first.
    """
    holder = np.full(order.size, NOBODY, np.int32)
    total = np.zeros(room.unit.size, np.int64)
    count = np.zeros(seats.least.size, np.int64)
    extra = seats.extra.copy()
    place, end = 0, 0
    for t in range(seats.first.size - 1):
        while end < order.size and room.topic[order[end]] == t:
            end += 1
        member = seats.member[seats.first[t] : seats.first[t + 1]]
        cell = seats.cell[seats.first[t] : seats.first[t + 1]]
        while place < end:
            weight = room.unit[member] * total[member]
            for s in np.argsort(weight, kind="mergesort"):
                c, i = member[s], cell[s]
                if place == end:
                    break
                if count[i] >= seats.least[i]:
                    if count[i] >= seats.most[i] or extra[seats.pool[i]] == 0:
                        continue
                    extra[seats.pool[i]] -= 1
                p = order[place]
                place += 1
                count[i] += 1
                total[c] += room.lag[p]
                holder[p] = c
    return holder


@njit(cache=True)
def _dealt_by_heaps(room: Room, order: Int64, seats: Seats) -> Int32:
    """Deal as `_dealt` does, with a heap of seats a topic.

    What a heap knows of a total may be out of date, and is then too small; so a seat is
    weighed anew when it comes up, and taken if it is still the least.
    """
    holder = np.full(order.size, NOBODY, np.int32)
    total = np.zeros(room.unit.size, np.int64)
    count = np.zeros(seats.least.size, np.int64)
    extra = seats.extra.copy()
    heaps = [
        [(np.int64(0), s) for s in range(seats.first[t], seats.first[t + 1])]
        for t in range(seats.first.size - 1)
    ]
    for p in order:
        heap = heaps[room.topic[p]]
        while True:
            known, s = heap[0]
            c, i = seats.member[s], seats.cell[s]
            weight = room.unit[c] * total[c]
            if count[i] >= seats.least[i] and (
                count[i] >= seats.most[i] or extra[seats.pool[i]] == 0
            ):
                heapq.heappop(heap)
            elif weight > known:
                heapq.heapreplace(heap, (weight, s))
            else:
                break
        if count[i] >= seats.least[i]:
            extra[seats.pool[i]] -= 1
        count[i] += 1
        total[c] += room.lag[p]
        holder[p] = c
    return holder
