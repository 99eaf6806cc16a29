"""``lag-swaps``: greedy (LPT) assignment by total lag, then local search."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import numpy as np

from heuristics.assignment_state import empty_state, give
from heuristics.assignor import ensure_applies
from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.exchanges import Laden, exchange
from heuristics.lowest_peak import lowest_peak
from heuristics.order import looked_up, text_order
from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel

_DEALS: Final = 1000
_LOOKS: Final = 100_000_000
"""Pairs of partitions that are compared at most, some tenths of a second; and more
for large groups:"""
_LOOKS_EACH: Final = 200
"""Additional comparisons per partition."""
_A_DEAL: Final = 50
"""Comparisons that the construction costs per partition."""


class LagSwapsAssignor:
    """Balanced counts in each topic, and a low peak lag by local search.

    Our own; not published elsewhere. It adds what KIP-169's greedy algorithm lacks:
    that treats each topic separately, so the largest lag of every topic goes to the
    same member, and it never revises its result.

    1. Each topic is assigned as in KIP-169, in rounds of one partition per member, the
       largest lag to the least loaded, but by the member's total lag over all topics;
       the rounds of all topics are interleaved, the smallest lag first.
    2. The member with the peak lag gives up a partition: for a smaller one of the same
       topic, or for nothing to a member that has fewer of that topic. The partner is
       the member with the least total lag that this helps; the exchange is the one
       after which the larger total of the two is least. Repeat until no exchange lowers
       the peak.
    3. Repeat both, up to a thousand times, with the partitions of each topic shuffled
       before they are cut into rounds, and the rounds in random order. The best result
       is returned; a result that meets a lower bound (`heuristics.lowest_peak`) ends
       it, mostly after the first.

    Counts are those of KIP-169: in each topic, the floor or the ceiling of the mean.

    Ties: members by id, topics by name, partitions by number; among results, the first.
    It terminates, because each exchange lowers the peak and raises no member to its old
    value, and in any case after a fixed number of comparisons. The shuffles are the
    same in every run and language. Owners, capacities, and racks do not count.
    """

    name = "lag-swaps"

    def refuses(self, instance: Instance) -> str | None:
        """Refuse an instance without lag."""
        return "the instance tells no lag" if instance.lag is None else None

    def assign(self, instance: Instance) -> Assignment:
        """Assign greedily, then exchange.

        Raises
        ------
        InstanceError
            If the instance tells no lag.
        """
        ensure_applies(self, instance)
        lag = cast("Int64", instance.lag)  # instances without lag are refused
        order = text_order(instance.members)
        eligible = eligible_members_of(instance, order)
        wanted = eligible.last - eligible.first
        least = instance.topic_sizes // np.maximum(wanted, 1) * (wanted > 0)
        rounds = _rounds(instance, lag, wanted)
        enough = lowest_peak(instance, lag, least, wanted)
        topic = instance.partition_topic
        holder = _best_of(eligible, rounds, lag, topic, least, enough)
        return Assignment(assignee=looked_up(order.astype(np.int32), holder))


class _Rounds(NamedTuple):
    """Partitions in the order of assignment, those of one round together.

    Attributes
    ----------
    rows : int64
        Topic by topic, in each the largest lag first.
    first, last : int64 (R,)
        Round r assigns ``rows[first[r]:last[r]]``; smallest lag first.
    begins : int64 (T + 1,)
        Rows ``rows[begins[i]:begins[i + 1]]`` belong to one topic.
    """

    rows: Int64
    first: Int64
    last: Int64
    begins: Int64


def _rounds(instance: Instance, lag: Int64, wanted: Int64) -> _Rounds:
    """Cut topics into rounds of one partition per subscriber; smallest lag first."""
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


@kernel
def _best_of(
    eligible: EligibleMembers,
    rounds: _Rounds,
    lag: Int64,
    topic: Int32,
    least: Int64,
    enough: int,
) -> Int32:
    """Repeat construction and local search; return the best holders, by place.

    Shuffles the rows of the rounds in place.
    """
    best, peak = np.full(lag.size, NOBODY, np.int32), np.iinfo(np.int64).max
    looks, seed = _LOOKS + _LOOKS_EACH * lag.size, 1
    rows, turns = rounds.rows, np.arange(rounds.first.size)
    for _ in range(_DEALS if rows.size else 0):
        group = _dealt(eligible, rounds, turns, lag, topic, least)
        looks = exchange(group, eligible, enough, looks - _A_DEAL * lag.size)
        if group.total.max() < peak:
            best, peak = group.state.holder, group.total.max()
        if peak <= enough or looks <= 0:
            break
        seed = _shuffle(turns, seed)
        for i in range(rounds.begins.size - 1):
            seed = _shuffle(rows[rounds.begins[i] : rounds.begins[i + 1]], seed)
    return best


@kernel
def _shuffle(some: Int64, seed: int) -> int:
    """Shuffle (Fisher and Yates) with a one-line generator; return its next seed.

    The generator is Park and Miller's, so that every language and release draws the
    same numbers.
    """
    for i in range(some.size - 1, 0, -1):
        seed = seed * 48271 % 2147483647
        j = seed % (i + 1)
        some[i], some[j] = some[j], some[i]
    return seed


@kernel
def _dealt(
    eligible: EligibleMembers,
    rounds: _Rounds,
    turns: Int64,
    lag: Int64,
    topic: Int32,
    least: Int64,
) -> Laden:
    """Assign all rounds in the given order."""
    members = eligible.order.size
    total = np.zeros(members, np.int64)
    group = Laden(lag, topic, least, total, empty_state(members, lag.size))
    for r in turns:
        _deal(group, eligible, rounds.rows[rounds.first[r] : rounds.last[r]])
    return group


@kernel
def _deal(group: Laden, eligible: EligibleMembers, rows: Int64) -> None:
    """Assign one partition per subscriber, the largest lag to the least total lag."""
    t = group.topic[rows[0]]
    places = eligible.places[eligible.first[t] : eligible.last[t]]
    # Mergesort is stable: ties keep the order of member ids.
    least_first = np.argsort(group.total[places], kind="mergesort")
    for j in range(rows.size):
        member = places[least_first[j]]
        give(group.state, rows[j], member)
        group.total[member] += group.lag[rows[j]]
