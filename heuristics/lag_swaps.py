"""``lag-swaps``: KIP-169's deal by the totals of the group, then swaps."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import numpy as np
from numba import njit

from heuristics.assignment_state import give, nothing_held
from heuristics.assignor import ensure_applies
from heuristics.exchanges import Laden, exchange
from heuristics.lowest_peak import lowest_peak
from heuristics.order import looked_up, text_order
from heuristics.takers import Takers, takers_of
from rebalance import NOBODY, Assignment, Instance, Int32, Int64

_DEALS: Final = 1000
_LOOKS: Final = 100_000_000
"""Pairs of partitions that are compared at most, some tenths of a second; and more
for large groups:"""
_LOOKS_EACH: Final = 200
"""For each partition."""
_A_DEAL: Final = 50
"""Looks that it takes to deal a partition."""


class LagSwapsAssignor:
    """Counts even topic by topic, and the most laden member as little as can be.

    Ours, and published nowhere else: what KIP-169's greedy lacks. That one looks at a
    topic by itself, so every topic's largest lag goes to the same member, and what it
    has dealt it never looks at again.

    1. Each topic is dealt as KIP-169 deals it, in rounds of one partition for each
       member, the largest lag to the least laden, but by the member's lag over all
       topics; and the rounds of all topics take turns, the smallest lag first.
    2. The most laden member gives up a partition: for a smaller one of the same topic,
       or for nothing to somebody who has fewer of it. The least laden member whom that
       helps is the partner, and of what the two may exchange it is what leaves the
       higher of them with the least. Again, until nothing lowers it.
    3. Both again, up to a thousand times, with the partitions of each topic shuffled
       before they are cut into rounds, and the rounds taking turns in any order. The
       best of all it is. Where it is known that nothing is lower
       (`heuristics.lowest_peak`), that is the end.

    Counts are those of KIP-169: in each topic the floor or the ceiling of the mean.

    Ties: members by id, topics by name, partitions by number; of deals the first. It
    ends, because each swap lowers the most laden of all and raises nobody to where that
    was, and in any case after a fixed number of looks. The shuffles are the same in
    every run and language. Owners, capacities and racks do not count.
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
        least = instance.topic_sizes // np.maximum(wanted, 1) * (wanted > 0)
        rounds = _rounds(instance, lag, wanted)
        enough = lowest_peak(instance, lag, least, wanted)
        topic = instance.partition_topic
        holder = _best_of(takers, rounds, lag, topic, least, enough)
        return Assignment(assignee=looked_up(order.astype(np.int32), holder))


class _Rounds(NamedTuple):
    """Partitions in the order in which they are dealt, those of a round together.

    Attributes
    ----------
    rows : int64
        Topic by topic, in each the largest lag first.
    first, last : int64 (R,)
        Round r deals ``rows[first[r]:last[r]]``; smallest lag first.
    begins : int64 (T + 1,)
        Topics that are dealt: ``rows[begins[i]:begins[i + 1]]`` are of one.
    """

    rows: Int64
    first: Int64
    last: Int64
    begins: Int64


def _rounds(instance: Instance, lag: Int64, wanted: Int64) -> _Rounds:
    """Cut each topic into rounds of one for each that wants it; smallest lag first."""
    rank = np.empty(len(instance.topics), np.int64)
    rank[text_order(instance.topics)] = np.arange(rank.size)
    topic = instance.partition_topic
    rows = np.lexsort((-lag, rank[topic]))
    rows = rows[wanted[topic[rows]] > 0]
    place = np.arange(rows.size)
    begins = np.flatnonzero(np.r_[True, np.diff(topic[rows]) != 0][: rows.size])
    begins = np.r_[begins, rows.size]
    place -= np.repeat(begins[:-1], np.diff(begins))
    first = np.flatnonzero(place % wanted[topic[rows]] == 0)
    last = np.r_[first[1:], rows.size]
    in_order = np.argsort(lag[rows[first]], kind="stable")
    return _Rounds(rows, first[in_order], last[in_order], begins)


@njit(cache=True)
def _best_of(
    takers: Takers,
    rounds: _Rounds,
    lag: Int64,
    topic: Int32,
    least: Int64,
    enough: int,
) -> Int32:
    """Deal and swap until it is low enough; return who holds what then, by place.

    The rows of the rounds are shuffled in place.
    """
    best, peak = np.full(lag.size, NOBODY, np.int32), np.iinfo(np.int64).max
    looks, seed = _LOOKS + _LOOKS_EACH * lag.size, 1
    rows, turns = rounds.rows, np.arange(rounds.first.size)
    for _ in range(_DEALS if rows.size else 0):
        group = _dealt(takers, rounds, turns, lag, topic, least)
        looks = exchange(group, takers, enough, looks - _A_DEAL * lag.size)
        if group.total.max() < peak:
            best, peak = group.held.holder, group.total.max()
        if peak <= enough or looks <= 0:
            break
        seed = _shuffle(turns, seed)
        for i in range(rounds.begins.size - 1):
            seed = _shuffle(rows[rounds.begins[i] : rounds.begins[i + 1]], seed)
    return best


@njit(cache=True)
def _shuffle(some: Int64, seed: int) -> int:
    """Shuffle (Fisher and Yates) by a generator of one line; return its next seed.

    It is Park and Miller's, so that every language and release draws the same.
    """
    for i in range(some.size - 1, 0, -1):
        seed = seed * 48271 % 2147483647
        j = seed % (i + 1)
        some[i], some[j] = some[j], some[i]
    return seed


@njit(cache=True)
def _dealt(
    takers: Takers,
    rounds: _Rounds,
    turns: Int64,
    lag: Int64,
    topic: Int32,
    least: Int64,
) -> Laden:
    """Deal round by round, in this order."""
    members = takers.order.size
    total = np.zeros(members, np.int64)
    group = Laden(lag, topic, least, total, nothing_held(members, lag.size))
    for r in turns:
        _deal(group, takers, rounds.rows[rounds.first[r] : rounds.last[r]])
    return group


@njit(cache=True)
def _deal(group: Laden, takers: Takers, rows: Int64) -> None:
    """Give one of a topic's partitions each, the first to the least laden."""
    t = group.topic[rows[0]]
    places = takers.places[takers.first[t] : takers.last[t]]
    # Mergesort is stable: ties keep the order of member ids.
    least_first = np.argsort(group.total[places], kind="mergesort")
    for j in range(rows.size):
        member = places[least_first[j]]
        give(group.held, rows[j], member)
        group.total[member] += group.lag[rows[j]]
