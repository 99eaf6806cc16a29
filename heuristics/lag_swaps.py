"""``lag-swaps``: greedy (LPT) assignment by total lag, then local search."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import numpy as np

from heuristics.assignment_state import empty_state, give
from heuristics.assignor import ensure_applies
from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.exchanges import (
    Laden,
    exchange,
    exchange_lists,
    reliefs,
    sort_by_total,
)
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.least_peak import is_least_peak
from heuristics.lowest_peak import lowest_peak
from heuristics.order import looked_up
from rebalance import (
    NOBODY,
    Assignment,
    Instance,
    Int32,
    Int64,
    borrowing_kernel,
    kernel,
)

_DEALS: Final = 1000
_LOOKS: Final = 100_000_000
"""Pairs of partitions that are compared at most, some tenths of a second; and more
for large groups:"""
_LOOKS_EACH: Final = 200
"""Additional comparisons per partition."""
_A_DEAL: Final = 50
"""Comparisons that the construction costs per partition."""
_FEW_CLASSES: Final = 6
"""Subscription classes of which every set counts in the bound that ends exchanges."""
_MORE_CLASSES: Final = 11
"""The same in the bound that ends the repetition, where only lower peaks count, so that
a tighter bound changes no answer. It takes up to a tenth of the time of all."""
_PROOFS: Final = (7, 31, 127, 511)
"""Repetitions, from 0 on, after which a search tries to prove that no peak is lower. It
takes as long as some hundred repetitions at most, and ends most of those that no bound
ends; no answer depends on it."""


class LagSwapsAssignor:
    """Balanced counts in each topic, and a low peak lag by local search.

    Our own; not published elsewhere. It adds a step that KIP-169's greedy algorithm
    lacks: that treats each topic separately, so the largest lag of every topic goes to
    the same member, and it never revises its result.

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
       it, mostly after the first, and so does a proof that none has a lower peak
       (`heuristics.least_peak`).

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
        columns, topic = columns_of(instance), instance.partition_topic
        return Assignment(assignee=lag_swaps(columns, topic, lag))


@kernel
def lag_swaps(columns: Columns, topic: Int32, lag: Int64) -> Int32:
    """Assign greedily, then exchange."""
    group = GroupColumns(*columns)
    eligible = eligible_members_of(group)
    wanted = eligible.last - eligible.first
    least = np.diff(group.topic_offsets) // np.maximum(wanted, 1) * (wanted > 0)
    rounds = _rounds(group, lag, wanted)
    holder = _best_of(group, eligible, rounds, lag, topic, least, wanted)
    return looked_up(group.members, holder)


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


@kernel
def _rounds(group: GroupColumns, lag: Int64, wanted: Int64) -> _Rounds:
    """Cut topics into rounds of one partition per subscriber; smallest lag first."""
    rows = np.empty(lag.size, np.int64)
    first, last = np.empty(lag.size, np.int64), np.empty(lag.size, np.int64)
    begins = np.zeros(group.topics.size + 1, np.int64)
    n_topics, n_rows, n_rounds = 0, 0, 0
    for t in group.topics[wanted[group.topics] > 0]:
        start, end = group.topic_offsets[t], group.topic_offsets[t + 1]
        until = n_rows + end - start
        largest_first = np.argsort(-lag[start:end], kind="mergesort")
        rows[n_rows:until] = start + largest_first
        for at in range(n_rows, until, wanted[t]):
            first[n_rounds], last[n_rounds] = at, min(at + wanted[t], until)
            n_rounds += 1
        n_topics, n_rows = n_topics + 1, until
        begins[n_topics] = n_rows
    in_order = np.argsort(lag[rows[first[:n_rounds]]], kind="mergesort")
    return _Rounds(
        rows[:n_rows], first[in_order], last[in_order], begins[: n_topics + 1]
    )


@kernel
def _best_of(
    group: GroupColumns,
    eligible: EligibleMembers,
    rounds: _Rounds,
    lag: Int64,
    topic: Int32,
    least: Int64,
    wanted: Int64,
) -> Int32:
    """Repeat construction and local search; return the best holders, by place.

    Shuffles the rows of the rounds in place.
    """
    best, peak = np.full(lag.size, NOBODY, np.int32), np.iinfo(np.int64).max
    looks, seed = _LOOKS + _LOOKS_EACH * lag.size, 1
    rows, turns = rounds.rows, np.arange(rounds.first.size)
    relief = reliefs(lag, rows, rounds.begins)
    lists = exchange_lists(least.size, lag.size, group.member_class.size)
    enough = lowest = lowest_peak(group, lag, least, wanted, _FEW_CLASSES)
    tried = peak
    for i in range(_DEALS if rows.size else 0):
        laden = _dealt(eligible, rounds, turns, lag, topic, least, relief)
        looks = exchange(laden, eligible, lists, enough, looks - _A_DEAL * lag.size)
        if laden.total.max() < peak:
            best, peak = laden.state.holder, laden.total.max()
        if i == 0 and peak > enough:
            lowest = lowest_peak(group, lag, least, wanted, _MORE_CLASSES)
        if peak <= lowest or looks <= 0:
            break
        if i in _PROOFS and peak < tried:
            tried = peak
            if is_least_peak(group, lag, least, wanted, peak, _MORE_CLASSES):
                break
        seed = _shuffle(turns, seed)
        for j in range(rounds.begins.size - 1):
            seed = _shuffle(rows[rounds.begins[j] : rounds.begins[j + 1]], seed)
    return best


@borrowing_kernel
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
    relief: Int64,
) -> Laden:
    """Assign all rounds in the given order, the largest lag to the least total lag."""
    # Fields are read once: numba counts the references of each field that is read.
    members, places, start, stop = eligible
    rows, first, last, _ = rounds
    total, state = np.zeros(members.size, np.int64), empty_state(members.size, lag.size)
    ranked = np.empty(members.size, np.int64)
    for r in turns:
        t = topic[rows[first[r]]]
        n = stop[t] - start[t]
        ranked[:n] = places[start[t] : stop[t]]
        sort_by_total(total, ranked[:n])
        for j in range(last[r] - first[r]):
            p, member = rows[first[r] + j], ranked[j]
            give(state, p, member)
            total[member] += lag[p]
    return Laden(lag, topic, least, relief, total, state)
