"""``lag-swaps``: KIP-169's deal by the totals of the group, then swaps."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import numpy as np
from numba import njit

from heuristics.assignor import ensure_applies
from heuristics.held import Held, give, nothing_held, take
from heuristics.order import text_order
from heuristics.takers import Takers, is_taker, takers_of
from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32, Int64

_LOOKS: Final = 50_000_000
"""Pairs of partitions that are compared at most, about a tenth of a second; and more
for large groups:"""
_LOOKS_EACH: Final = 100
"""For each partition."""


class LagSwapsAssignor:
    """Counts even topic by topic, and the most laden member as little as can be.

    Ours, and published nowhere else: what KIP-169's greedy lacks. That one looks at a
    topic by itself, so every topic's largest lag goes to the same member, and what it
    has dealt it never looks at again.

    1. Each topic is dealt as KIP-169 deals it, in rounds of one partition for each
       member, the largest lag to the least laden, but by the member's lag over all
       topics; and the rounds of all topics take turns, the largest lag first.
    2. The most laden member gives up a partition: for a smaller one of the same topic,
       or for nothing to somebody who has fewer of it. The least laden member whom that
       helps is the partner, and of what the two may exchange it is what leaves the
       higher of them with the least. Where no single exchange helps with anybody, two
       at once may. Again, until nothing lowers it.

    Counts are those of KIP-169: in each topic the floor or the ceiling of the mean.

    Ties: members by id, topics by name, partitions by number. It ends, because each
    swap lowers the most laden of all and raises nobody to where that was, and in any
    case after a fixed number of looks. Owners, capacities and racks do not count.
    """

    name = "lag-swaps"

    def refuses(self, instance: Instance) -> str | None:
        """Refuse an instance that tells no lag at all."""
        return "the instance tells no lag" if instance.lag is None else None

    def assign(self, instance: Instance) -> Assignment:
        """Deal and swap.

        Raises
        ------
        InstanceError
            If the instance tells no lag.
        """
        ensure_applies(self, instance)
        lag = cast("Int64", instance.lag)  # None has been refused
        order = text_order(instance.members)
        takers = takers_of(instance, order)
        wanted = takers.last - takers.first
        rounds = _rounds(instance, lag, wanted)
        least = instance.topic_sizes // np.maximum(wanted, 1)
        topic = instance.partition_topic
        holder = _assigned(takers, rounds, least, topic, lag)
        return Assignment(assignee=np.r_[order, NOBODY].astype(np.int32)[holder])


class _Rounds(NamedTuple):
    """Partitions in the order in which they are dealt, those of a round together.

    Attributes
    ----------
    rows : int64
        Largest lag first within a round.
    first, last : int64 (R,)
        Round r deals ``rows[first[r]:last[r]]``; largest lag first.
    """

    rows: Int64
    first: Int64
    last: Int64


def _rounds(instance: Instance, lag: Int64, wanted: Int64) -> _Rounds:
    """Cut each topic into rounds of one for each that wants it; largest lag first."""
    rank = np.empty(len(instance.topics), np.int64)
    rank[text_order(instance.topics)] = np.arange(rank.size)
    topic = instance.partition_topic
    rows = np.lexsort((-lag, rank[topic]))
    rows = rows[wanted[topic[rows]] > 0]
    place = np.arange(rows.size)
    begins = np.flatnonzero(np.r_[True, np.diff(topic[rows]) != 0][: rows.size])
    sizes = np.diff(np.r_[begins, rows.size])
    place -= np.repeat(begins, sizes)
    first = np.flatnonzero(place % wanted[topic[rows]] == 0)
    last = np.r_[first[1:], rows.size]
    in_order = np.argsort(-lag[rows[first]], kind="stable")
    return _Rounds(rows, first[in_order], last[in_order])


class _Group(NamedTuple):
    """Who holds what; M members by place, P partitions, T topics.

    Attributes
    ----------
    lag : int64 (P,)
    topic : int32 (P,)
    least : int64 (T,)
        Floor of the mean count of a topic.
    total : int64 (M,)
        Lag of each member.
    held : Held
    """

    lag: Int64
    topic: Int32
    least: Int64
    total: Int64
    held: Held


@njit(cache=True)
def _assigned(
    takers: Takers, rounds: _Rounds, least: Int64, topic: Int32, lag: Int64
) -> Int32:
    members = takers.order.size
    group = _Group(
        lag,
        topic,
        least,
        np.zeros(members, np.int64),
        nothing_held(members, lag.size),
    )
    for r in range(rounds.first.size):
        rows = rounds.rows[rounds.first[r] : rounds.last[r]]
        _deal(group, takers, rows)
    _swap(group, takers)
    return group.held.holder


@njit(cache=True)
def _deal(group: _Group, takers: Takers, rows: Int64) -> None:
    """Give one of a topic's partitions each, the largest lag to the least laden."""
    t = group.topic[rows[0]]
    places = takers.places[takers.first[t] : takers.last[t]]
    # Mergesort is stable: ties keep the order of member ids.
    least_first = np.argsort(group.total[places], kind="mergesort")
    for j in range(rows.size):
        member = places[least_first[j]]
        give(group.held, rows[j], member)
        group.total[member] += group.lag[rows[j]]


@njit(cache=True)
def _swap(group: _Group, takers: Takers) -> None:
    """Let the most laden exchange partitions until that lowers nothing."""
    counts = np.zeros((2, group.least.size), np.int64)
    best = np.empty(5, np.int64)  # peak of both; what is given and what for, twice
    looks, most = 0, _LOOKS + _LOOKS_EACH * group.lag.size
    while group.total.size and looks < most:
        giver = int(np.argmax(group.total))
        order = np.argsort(group.total, kind="mergesort")
        best[0], best[1:] = group.total[giver], NOBODY
        for twice in (False, True):
            for receiver in order:
                if twice:
                    looks += _look_twice(group, giver, receiver, best)
                else:
                    looks += _look(group, takers, counts, giver, receiver, best)
                if best[1] != NOBODY:
                    _exchange(group, giver, receiver, best)
                    break
            if best[1] != NOBODY:
                break
        if best[1] == NOBODY:
            return


@njit(cache=True)
def _exchange(group: _Group, giver: int, receiver: int, best: Int64) -> None:
    for i in (1, 3):
        if best[i] != NOBODY:
            _hand_over(group, best[i], receiver)
        if best[i + 1] != NOBODY:
            _hand_over(group, best[i + 1], giver)


@njit(cache=True)
def _hand_over(group: _Group, p: int, member: int) -> None:
    group.total[group.held.holder[p]] -= group.lag[p]
    group.total[member] += group.lag[p]
    take(group.held, p)
    give(group.held, p, member)


@njit(cache=True)
def _look(
    group: _Group,
    takers: Takers,
    counts: Int64,
    giver: int,
    receiver: int,
    best: Int64,
) -> int:
    """Find what two members should exchange, and write it; return how many looks.

    ``counts`` are all 0 and stay so.
    """
    looks = _count(group, giver, counts[0], 1) + _count(group, receiver, counts[1], 1)
    gap = group.total[giver] - group.total[receiver]
    p = group.held.first[giver]
    while p != NOBODY:
        t, lag = group.topic[p], group.lag[p]
        if counts[1, t]:
            q = group.held.first[receiver]
            while q != NOBODY:
                looks += 1
                if group.topic[q] == t:
                    _weigh(group, best, gap, lag - group.lag[q], p, q)
                q = group.held.after[q]
        if (
            counts[0, t] > group.least[t] == counts[1, t]
            and 0 < lag < gap
            and is_taker(takers, t, receiver)
        ):
            _weigh(group, best, gap, lag, p, NOBODY)
        p = group.held.after[p]
    _count(group, giver, counts[0], 0)
    _count(group, receiver, counts[1], 0)
    return looks


@njit(cache=True)
def _count(group: _Group, member: int, count: Int64, one: int) -> int:
    """Count what a member holds by topic, or set the counts to 0; return how many."""
    p, held = group.held.first[member], 0
    while p != NOBODY:
        count[group.topic[p]] = (count[group.topic[p]] + 1) * one
        p = group.held.after[p]
        held += 1
    return held


@njit(cache=True)
def _weigh(group: _Group, best: Int64, gap: int, more: int, p: int, q: int) -> None:
    """Write an exchange down if it leaves the higher of the two with less.

    ``more`` is the lag that it hands on, and ``gap`` what the giver has more.
    """
    if not 0 < more < gap:
        return
    peak = group.total[group.held.holder[p]] - min(more, gap - more)
    if peak < best[0]:
        best[0], best[1], best[2] = peak, p, q


@njit(cache=True)
def _look_twice(group: _Group, giver: int, receiver: int, best: Int64) -> int:
    """Find which two swaps together help most, and write them; return how many looks.

    The lag that two swaps hand on should come near half of what the giver has more:
    with all swaps sorted by that, the second is near where the first leaves the rest.
    """
    given, taken = _swaps(group, giver, receiver)
    more = group.lag[given] - group.lag[taken]
    order = np.argsort(more, kind="mergesort")
    given, taken, more = given[order], taken[order], more[order]
    gap = group.total[giver] - group.total[receiver]
    for i in range(more.size):
        at = np.searchsorted(more, gap // 2 - more[i])
        for start, step in ((at, 1), (at - 1, -1)):
            j = start
            while 0 <= j < more.size and (given[i] == given[j] or taken[i] == taken[j]):
                j += step
            if 0 <= j < more.size and 0 < more[i] + more[j] < gap:
                both = more[i] + more[j]
                peak = group.total[giver] - min(both, gap - both)
                if peak < best[0]:
                    best[0], best[1], best[2] = peak, given[i], taken[i]
                    best[3], best[4] = given[j], taken[j]
    return int(more.size) * 20


@njit(cache=True)
def _swaps(group: _Group, giver: int, receiver: int) -> tuple[Int64, Int64]:
    """List all pairs of partitions of one topic, of one member and of the other."""
    given, taken = [], []
    p = group.held.first[giver]
    while p != NOBODY:
        q = group.held.first[receiver]
        while q != NOBODY:
            if group.topic[q] == group.topic[p]:
                given.append(np.int64(p))
                taken.append(np.int64(q))
            q = group.held.after[q]
        p = group.held.after[p]
    if len(given) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.array(given), np.array(taken)
