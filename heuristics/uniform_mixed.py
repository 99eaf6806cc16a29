"""``uniform`` where subscriptions differ: hand out by load, then even topic by topic.

Follows ``UniformHeterogeneousAssignmentBuilder`` of group-coordinator 4.4.0 (reworked
by KAFKA-17710). Owners that still subscribe keep what they have; then

1. topics of the most partitions a subscriber first, of equal ones those of fewer
   subscribers, hand out what is open, each to a subscriber with the fewest so far;
2. in the same order, over and over, each topic moves partitions from subscribers with
   the most to those with the fewest until they differ by one at most: until a whole
   turn moves nothing, at the latest after 16.

Ties: remaining topics by name (upstream: by topic id), members by member id (upstream:
by hash); a giver gives its highest number.

Known faults, kept: only topics are evened, so where subscriptions overlap it may stop
short of what a chain would reach (loads 9, 10, 11: upstream's own example), or at the
limit of turns; and it moves where the least moves would leave alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.order import looked_up, places_of, text_order
from heuristics.takers import Takers
from rebalance import NOBODY, Instance, Int32, Int64

MAX_TURNS = 16
NONE = -1


class _Low(NamedTuple):
    """The members with the fewest, ``ranked[:end]``, each to be served in turn.

    Those before ``turn`` have been served: they hold one more than ``level``.
    """

    end: int
    level: int
    turn: int


class _High(NamedTuple):
    """The members with the most, ``ranked[start:end]``, to give from the last on.

    Those past ``turn`` have given: they hold one fewer than ``level``. Members at
    ``end`` and after have nothing to give.
    """

    start: int
    end: int
    level: int
    turn: int


def evened(instance: Instance, takers: Takers) -> Int32:
    """Assign.

    Returns
    -------
    int32 (P,)
        Member of each partition, -1 nobody.
    """
    held = places_of(takers.order, instance.owner)
    load = np.bincount(held[held != NOBODY], minlength=takers.order.size)
    topics = _in_turn(instance, takers)
    _hand_out(held, load, takers, topics, instance.topic_offsets)
    _even(held, load, takers, topics, instance.topic_offsets)
    return looked_up(takers.order.astype(np.int32), held)


def _in_turn(instance: Instance, takers: Takers) -> Int64:
    """Sort the topics that have both partitions and subscribers."""
    by_name = text_order(instance.topics)
    n_takers = takers.last - takers.first
    counts = instance.topic_sizes
    served = by_name[(n_takers[by_name] > 0) & (counts[by_name] > 0)]
    # Upstream divides in doubles too; equal fractions give equal doubles.
    share = counts[served] / n_takers[served]
    return served[np.lexsort((n_takers[served], -share))]


@njit(cache=True)
def _ranked(places: Int32, load: Int64) -> Int64:
    """Sort members by load; of equal ones the lesser place comes first."""
    by_load = np.argsort(load[places], kind="mergesort")
    return places[by_load].astype(np.int64)


@njit(cache=True)
def _hand_out(
    held: Int32, load: Int64, takers: Takers, topics: Int64, topic_offsets: Int64
) -> None:
    """Give each topic's open rows to subscribers with the fewest, level by level."""
    for t in topics:
        start, end = topic_offsets[t], topic_offsets[t + 1]
        if not (held[start:end] == NOBODY).any():
            continue
        ranked = _ranked(takers.places[takers.first[t] : takers.last[t]], load)
        low = _Low(0, load[ranked[0]] - 1, 0)
        for row in range(start, end):
            if held[row] == NOBODY:
                low = _serve(low, ranked, load)
                taker = ranked[low.turn - 1]
                held[row] = taker
                load[taker] += 1


@njit(cache=True)
def _serve(low: _Low, ranked: Int64, load: Int64) -> _Low:
    """Go on to the next of the fewest: ``ranked[turn - 1]`` of what is returned."""
    if low.turn < low.end:
        return _Low(low.end, low.level, low.turn + 1)
    end, level = low.end, low.level + 1
    while end < ranked.size and load[ranked[end]] == level:
        end += 1
    return _Low(end, level, 1)


@njit(cache=True)
def _ask(high: _High, ranked: Int64, load: Int64) -> _High:
    """Go on to the next of the most: ``ranked[turn + 1]``; turn -2 if nobody is."""
    start, end, level, turn = high
    if turn < start:
        if end <= start and start > 0:
            level = load[ranked[start - 1]]  # all had nothing: the next below
        else:
            level -= 1
        while start > 0 and load[ranked[start - 1]] == level:
            start -= 1
        turn = end - 1
    return _High(start, end, level, turn - 1)


@njit(cache=True)
def _even(
    held: Int32, load: Int64, takers: Takers, topics: Int64, topic_offsets: Int64
) -> None:
    """Even topic by topic until a whole turn has moved nothing."""
    head = np.full(load.size, NONE, dtype=np.int64)
    link = np.empty(held.size, dtype=np.int64)
    last_moved = NONE
    for _ in range(MAX_TURNS):
        for i in range(topics.size):
            if i == last_moved:
                return
            t = topics[i]
            places = takers.places[takers.first[t] : takers.last[t]]
            least, most = load[places].min(), load[places].max()
            n_moved = 0
            if most - least > 1:
                ranked = _ranked(places, load)
                start, end = topic_offsets[t], topic_offsets[t + 1]
                _list_rows(held, ranked, start, end, head, link)
                n_moved = _even_topic(held, load, ranked, head, link)
            if n_moved > 0 or last_moved == NONE:
                last_moved = i


@njit(cache=True)
def _list_rows(
    held: Int32, ranked: Int64, start: int, end: int, head: Int64, link: Int64
) -> None:
    """List each holder's rows, highest first."""
    head[ranked] = NONE
    for row in range(start, end):
        link[row], head[held[row]] = head[held[row]], row


@njit(cache=True)
def _even_topic(
    held: Int32, load: Int64, ranked: Int64, head: Int64, link: Int64
) -> int:
    """Move rows from the most to the fewest; reorders ``ranked``; tell how many."""
    n = ranked.size
    low = _Low(0, load[ranked[0]] - 1, 0)
    high = _High(n, n, load[ranked[n - 1]] + 1, n - 1)
    n_moved = 0
    while True:
        high = _find_giver(high, ranked, load, head)
        if high.turn < NONE:
            return n_moved
        low = _serve(low, ranked, load)
        if high.level - low.level <= 1:
            return n_moved
        giver, taker = ranked[high.turn + 1], ranked[low.turn - 1]
        row = head[giver]
        head[giver] = link[row]
        held[row] = taker
        load[giver] -= 1
        load[taker] += 1
        n_moved += 1


@njit(cache=True)
def _find_giver(high: _High, ranked: Int64, load: Int64, head: Int64) -> _High:
    """Ask until one has a row to give; who has none goes to the end, out of range."""
    high = _ask(high, ranked, load)
    while high.turn >= NONE and head[ranked[high.turn + 1]] == NONE:
        at, last = high.turn + 1, high.end - 1
        ranked[at], ranked[last] = ranked[last], ranked[at]
        high = _ask(_High(high.start, last, high.level, high.turn), ranked, load)
    return high
