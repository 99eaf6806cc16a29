"""``uniform`` for heterogeneous subscriptions: greedy, then balancing per topic.

Follows ``UniformHeterogeneousAssignmentBuilder`` of group-coordinator 4.4.0 (reworked
by KAFKA-17710). Owners that still subscribe keep their partitions; then

1. topics with the most partitions per subscriber first, among equal ones those with
   fewer subscribers, assign their free partitions, each to a subscriber with the
   smallest load;
2. in the same order, repeatedly, each topic moves partitions from subscribers with the
   largest load to those with the smallest until they differ by at most one; until a
   whole pass moves nothing, at the latest after 16.

Ties: remaining topics by name (upstream: by topic id), members by member id (upstream:
by hash); a giver gives its highest number.

Known faults, kept: topics are balanced separately, so with overlapping subscriptions
the result can miss loads that a chain would reach (loads 9, 10, 11: upstream's own
example), or stop at the limit of passes; and it moves partitions needlessly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.balancing_step import balancing_state_of
from heuristics.eligible_members import (
    EligibleMembers,
    by_subscribers,
    eligible_members_of,
)
from heuristics.group_columns import GroupColumns
from heuristics.order import looked_up, places_of
from rebalance import NOBODY, Int32, Int64, borrowing_kernel, kernel

MAX_TURNS = 16
NONE = -1


class _Low(NamedTuple):
    """The members with the smallest load, ``ranked[:end]``, each to receive in turn.

    Members before ``turn`` have received: they hold one more than ``level``.
    """

    end: int
    level: int
    turn: int


class _High(NamedTuple):
    """Members with the largest load, ``ranked[start:end]``, to give from the last on.

    Members after ``turn`` have given: they hold one fewer than ``level``. Members from
    ``end`` on have nothing to give.
    """

    start: int
    end: int
    level: int
    turn: int


@kernel
def evened(group: GroupColumns, owner: Int32) -> Int32:
    """Compute the assignment.

    Returns
    -------
    int32 (P,)
        Member of each partition; -1: none.
    """
    state = balancing_state_of(places_of(group.members, owner), group.members.size)
    held, load = state.holder, state.load
    eligible = eligible_members_of(group)
    topics = _in_turn(group, eligible)
    _hand_out(held, load, eligible, topics, group.topic_offsets)
    _even(held, load, eligible, topics, group.topic_offsets)
    return looked_up(group.members, held)


@kernel
def _in_turn(group: GroupColumns, eligible: EligibleMembers) -> Int64:
    """Sort the topics that have both partitions and subscribers."""
    n_takers = eligible.last - eligible.first
    counts = np.diff(group.topic_offsets)
    served = by_subscribers(group.topics, eligible)
    served = served[(n_takers[served] > 0) & (counts[served] > 0)]
    # Upstream divides in doubles too; equal fractions give equal doubles.
    share = counts[served] / n_takers[served]
    return served[np.argsort(-share, kind="mergesort")]


@kernel
def _ranked(places: Int32, load: Int64) -> Int64:
    """Sort members by load; among equal loads, by place."""
    by_load = np.argsort(load[places], kind="mergesort")
    return places[by_load].astype(np.int64)


@kernel
def _hand_out(
    held: Int32,
    load: Int64,
    eligible: EligibleMembers,
    topics: Int64,
    topic_offsets: Int64,
) -> None:
    """Assign each topic's free rows to the subscribers with the smallest load."""
    for t in topics:
        start, end = topic_offsets[t], topic_offsets[t + 1]
        if not (held[start:end] == NOBODY).any():
            continue
        ranked = _ranked(eligible.places[eligible.first[t] : eligible.last[t]], load)
        low = _Low(0, load[ranked[0]] - 1, 0)
        for row in range(start, end):
            if held[row] == NOBODY:
                low = _serve(low, ranked, load)
                receiver = ranked[low.turn - 1]
                held[row] = receiver
                load[receiver] += 1


@kernel
def _serve(low: _Low, ranked: Int64, load: Int64) -> _Low:
    """Advance to the next receiver: ``ranked[turn - 1]`` of the returned state."""
    if low.turn < low.end:
        return _Low(low.end, low.level, low.turn + 1)
    end, level = low.end, low.level + 1
    while end < ranked.size and load[ranked[end]] == level:
        end += 1
    return _Low(end, level, 1)


@kernel
def _ask(high: _High, ranked: Int64, load: Int64) -> _High:
    """Advance to the next giver: ``ranked[turn + 1]``; turn -2 if there is none."""
    start, end, level, turn = high
    if turn < start:
        if end <= start and start > 0:
            level = load[ranked[start - 1]]  # all had nothing: next load
        else:
            level -= 1
        while start > 0 and load[ranked[start - 1]] == level:
            start -= 1
        turn = end - 1
    return _High(start, end, level, turn - 1)


@kernel
def _even(
    held: Int32,
    load: Int64,
    eligible: EligibleMembers,
    topics: Int64,
    topic_offsets: Int64,
) -> None:
    """Balance topic by topic until a whole pass moves nothing."""
    head = np.full(load.size, NONE, dtype=np.int64)
    link = np.empty(held.size, dtype=np.int64)
    last_moved = NONE
    for _ in range(MAX_TURNS):
        for i in range(topics.size):
            if i == last_moved:
                return
            t = topics[i]
            places = eligible.places[eligible.first[t] : eligible.last[t]]
            least, most = load[places].min(), load[places].max()
            n_moved = 0
            if most - least > 1:
                ranked = _ranked(places, load)
                start, end = topic_offsets[t], topic_offsets[t + 1]
                _list_rows(held, ranked, start, end, head, link)
                n_moved = _balance_topic(held, load, ranked, head, link)
            if n_moved > 0 or last_moved == NONE:
                last_moved = i


@borrowing_kernel
def _list_rows(
    held: Int32, ranked: Int64, start: int, end: int, head: Int64, link: Int64
) -> None:
    """List each holder's rows, highest first."""
    head[ranked] = NONE
    for row in range(start, end):
        link[row], head[held[row]] = head[held[row]], row


@kernel
def _balance_topic(
    held: Int32, load: Int64, ranked: Int64, head: Int64, link: Int64
) -> int:
    """Move rows from the largest to the smallest load; return their number."""
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
        giver, receiver = ranked[high.turn + 1], ranked[low.turn - 1]
        row = head[giver]
        head[giver] = link[row]
        held[row] = receiver
        load[giver] -= 1
        load[receiver] += 1
        n_moved += 1


@kernel
def _find_giver(high: _High, ranked: Int64, load: Int64, head: Int64) -> _High:
    """Return the next giver that has a row; members without one leave the range."""
    high = _ask(high, ranked, load)
    while high.turn >= NONE and head[ranked[high.turn + 1]] == NONE:
        at, last = high.turn + 1, high.end - 1
        ranked[at], ranked[last] = ranked[last], ranked[at]
        high = _ask(_High(high.start, last, high.level, high.turn), ranked, load)
    return high
