"""Local search of ``lag-swaps``: exchanges that lower the peak lag."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from heuristics.assignment_state import AssignmentState, move
from heuristics.eligible_members import EligibleMembers, is_eligible
from rebalance import NOBODY, Int32, Int64, borrowing_kernel, kernel

_TO_SORT: Final = 30
"""Comparisons that count per member if the least loaded one cannot help."""


class Laden(NamedTuple):
    """Assignment with total lag per member; M members, P partitions, T topics.

    Attributes
    ----------
    lag : int64 (P,)
    topic : int32 (P,)
    least : int64 (T,)
        Floor of the mean count of a topic.
    relief : int64 (P,)
        Least lag above 0 that an exchange of the partition takes from its holder; 0:
        none does (`reliefs`).
    total : int64 (M,)
        Lag of each member.
    state : AssignmentState
    """

    lag: Int64
    topic: Int32
    least: Int64
    relief: Int64
    total: Int64
    state: AssignmentState


@kernel
def reliefs(lag: Int64, rows: Int64, begins: Int64) -> Int64:
    """Return the least that giving each partition takes from its holder.

    That is the difference to the next smaller lag of its topic, or to none.

    Parameters
    ----------
    lag : int64 (P,)
    rows, begins : int64
        Topic i has the partitions ``rows[begins[i]:begins[i + 1]]``, largest lag first.
    """
    relief = np.zeros_like(lag)
    for i in range(begins.size - 1):
        smaller, last = 0, 0
        for row in range(begins[i + 1] - 1, begins[i] - 1, -1):
            of_row = lag[rows[row]]
            if of_row > last:
                smaller, last = last, of_row
            relief[rows[row]] = of_row - smaller
    return relief


class ExchangeLists(NamedTuple):
    """The giver's partitions by topic, and working memory.

    Attributes
    ----------
    held : int64 (T,)
        Number of the giver's partitions.
    first : int32 (T,)
        One of those that an exchange could help with; -1: none.
    after : int32 (P,)
        The next of the same topic; -1: none.
    listed : int32 (P,)
        All of these, in the giver's order.
    place : int32 (P,)
        Place of each in that list.
    spare : int32 (P,)
        Those of the list that the giver's count permits to give without exchange.
    wants : int64 (T,)
        Number of the receiver's partitions; 0 between two receivers.
    received : int64 (T,)
        Topics of the receiver's partitions.
    ranked : int64 (M,)
        Members by total, then by place.
    """

    held: Int64
    first: Int32
    after: Int32
    listed: Int32
    place: Int32
    spare: Int32
    wants: Int64
    received: Int64
    ranked: Int64


@kernel
def exchange_lists(topics: int, partitions: int, members: int) -> ExchangeLists:
    """Make the working memory of `exchange`, which many calls can use."""
    return ExchangeLists(
        np.empty(topics, np.int64),
        np.empty(topics, np.int32),
        np.empty(partitions, np.int32),
        np.empty(partitions, np.int32),
        np.empty(partitions, np.int32),
        np.empty(partitions, np.int32),
        np.zeros(topics, np.int64),
        np.zeros(topics, np.int64),
        np.arange(members),
    )


@borrowing_kernel
def exchange(
    group: Laden,
    eligible: EligibleMembers,
    lists: ExchangeLists,
    enough: int,
    looks: int,
) -> int:
    """Exchange partitions of the member with the peak lag until none lowers it.

    Parameters
    ----------
    enough : int
        Peak lag that is low enough.
    looks : int
        Largest number of pairs of partitions to compare.

    Returns
    -------
    int
        Comparisons left; 0 or less: the search may be incomplete.
    """
    lag, total, state, ranked = group.lag, group.total, group.state, lists.ranked
    for i in range(ranked.size):
        ranked[i] = i
    sort_by_total(total, ranked)
    while looks > 0:
        giver = _first_of_most(total, ranked)
        if total[giver] <= enough:
            break
        n_given, n_spare = _list(group, lists, giver)
        p, q, receiver, looks = NOBODY, NOBODY, NOBODY, looks - total.size
        for i in range(total.size):
            receiver = ranked[i]
            p, q, seen = _look(group, eligible, lists, giver, receiver, n_spare)
            looks -= n_given + seen
            if p != NOBODY:
                break
            if i == 0:
                looks -= _TO_SORT * total.size
        if p == NOBODY:
            break
        more = lag[p]
        move(state, p, receiver)
        if q != NOBODY:
            more -= lag[q]
            move(state, q, giver)
        total[giver] -= more
        total[receiver] += more
        sort_pass(total, ranked, 1)
    return looks


@borrowing_kernel
def _first_of_most(total: Int64, ranked: Int64) -> int:
    """Return the first of the members with the largest total."""
    i = ranked.size - 1
    while i > 0 and total[ranked[i - 1]] == total[ranked[i]]:
        i -= 1
    return int(ranked[i])


@borrowing_kernel
def sort_by_total(total: Int64, members: Int64) -> None:
    """Sort members by total lag, then by place (Shell's sort: in place)."""
    gap = 1
    while gap < members.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        sort_pass(total, members, gap)
        gap //= 3


@borrowing_kernel
def sort_pass(total: Int64, members: Int64, gap: int) -> None:
    """Sort each ``gap``-th member by insertion: fast if few are out of order."""
    for i in range(gap, members.size):
        m, j = members[i], i
        while j >= gap:
            other = members[j - gap]
            if (total[other], other) < (total[m], m):
                break
            members[j] = other
            j -= gap
        members[j] = m


@borrowing_kernel
def _list(group: Laden, lists: ExchangeLists, giver: int) -> tuple[int, int]:
    """List the giver's partitions by topic; return the number of all, and of spare.

    An exchange helps if it takes less from the giver than the difference to the
    receiver: not listed are partitions of which even the least is more than that.
    """
    topic, following, relief = group.topic, group.state.after, group.relief
    lag, least = group.lag, group.least
    room = group.total[giver] - group.total[lists.ranked[0]]
    held, first, after, listed, place, spare, _, _, _ = lists
    held[:], first[:] = 0, NOBODY
    p, n_given, n_listed, n_spare = group.state.first[giver], 0, 0, 0
    while p != NOBODY:
        t = topic[p]
        held[t] += 1
        if 0 < relief[p] < room:
            after[p], first[t] = first[t], p
            listed[n_listed], place[p] = p, n_listed
            n_listed += 1
        p, n_given = following[p], n_given + 1
    for i in range(n_listed):
        p = listed[i]
        if held[topic[p]] > least[topic[p]] and lag[p] < room:
            spare[n_spare] = p
            n_spare += 1
    return n_given, n_spare


@borrowing_kernel
def _look(
    group: Laden,
    eligible: EligibleMembers,
    lists: ExchangeLists,
    giver: int,
    receiver: int,
    n_spare: int,
) -> tuple[int, int, int]:
    """Find the best exchange of two members; of equal ones, the giver's first.

    Returns
    -------
    int, int
        Partition that the giver gives, and the one that it receives; `NOBODY` for none.
    int
        Partitions of the receiver, and pairs of partitions of both, if each of the
        giver's that is of a topic of the receiver's is compared with all the
        receiver's.
    """
    lag, topic, least, _, total, state = group
    held, first_of, after_of, _, place, spare, wants, received, _ = lists
    first, after = state.first, state.after
    room = total[giver] - total[receiver]
    best, give_p, take_q, best_place = room, NOBODY, NOBODY, -1
    n_received, n_common, n_topics = 0, 0, 0
    q = first[receiver]
    while q != NOBODY:
        t = topic[q]
        n_received += 1
        if wants[t] == 0:
            n_common += held[t]
            received[n_topics] = t
            n_topics += 1
        wants[t] += 1
        p = first_of[t]
        while p != NOBODY:
            more = lag[p] - lag[q]
            then = max(room - more, more)
            if then <= best and (then < best or place[p] < best_place):
                best, give_p, take_q, best_place = then, p, q, place[p]
            p = after_of[p]
        q = after[q]
    for i in range(n_spare):
        p, t = spare[i], topic[spare[i]]
        # To keep counts balanced, a partition is given without exchange only to a
        # smaller count.
        if wants[t] == least[t]:
            then = max(room - lag[p], lag[p])
            is_better = then <= best and (then < best or place[p] < best_place)
            if is_better and is_eligible(eligible, t, receiver):
                best, give_p, take_q, best_place = then, p, NOBODY, place[p]
    for i in range(n_topics):
        wants[received[i]] = 0
    return give_p, take_q, n_received + n_common * n_received
