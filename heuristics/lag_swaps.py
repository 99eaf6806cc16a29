"""``lag-swaps``: KIP-169's deal by the totals of the group, then swaps."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numba import njit

from heuristics.assignor import ensure_applies
from heuristics.exchanges import Laden, exchange
from heuristics.held import give, nothing_held
from heuristics.order import text_order
from heuristics.takers import Takers, takers_of
from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32, Int64


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
       at once may; else one with a partner and one of that one's with a third. Again,
       until nothing lowers it.
    3. The same again with the rounds taking turns from the smallest lag on. The better
       of the two it is. Nothing is lower than the largest lag, so who has come down to
       that is done.

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
        holder, peak = _assigned(takers, rounds, least, topic, lag)
        if peak > lag.max(initial=0):
            backward = _Rounds(rounds.rows, rounds.first[::-1], rounds.last[::-1])
            other, other_peak = _assigned(takers, backward, least, topic, lag)
            holder = other if other_peak < peak else holder
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


@njit(cache=True)
def _assigned(
    takers: Takers, rounds: _Rounds, least: Int64, topic: Int32, lag: Int64
) -> tuple[Int32, int]:
    """Return who holds what, by place, and the lag of the most laden."""
    members = takers.order.size
    group = Laden(
        lag,
        topic,
        least,
        np.zeros(members, np.int64),
        nothing_held(members, lag.size),
    )
    for r in range(rounds.first.size):
        rows = rounds.rows[rounds.first[r] : rounds.last[r]]
        _deal(group, takers, rows)
    exchange(group, takers)
    return group.held.holder, group.total.max() if members else 0


@njit(cache=True)
def _deal(group: Laden, takers: Takers, rows: Int64) -> None:
    """Give one of a topic's partitions each, the largest lag to the least laden."""
    t = group.topic[rows[0]]
    places = takers.places[takers.first[t] : takers.last[t]]
    # Mergesort is stable: ties keep the order of member ids.
    least_first = np.argsort(group.total[places], kind="mergesort")
    for j in range(rows.size):
        member = places[least_first[j]]
        give(group.held, rows[j], member)
        group.total[member] += group.lag[rows[j]]
