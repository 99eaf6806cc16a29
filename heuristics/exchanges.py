"""Local search of ``lag-swaps``: exchanges that lower the peak lag."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from heuristics.assignment_state import AssignmentState, move
from heuristics.eligible_members import EligibleMembers, is_eligible
from rebalance import NOBODY, Int32, Int64, borrowing_kernel, kernel

_TO_SORT: Final = 30  # comparisons that sorting a member costs
_FEW: Final = 32
"""Members that are sorted by insertion."""


class Laden(NamedTuple):
    """Assignment with total lag per member; M members, P partitions, T topics.

    Attributes
    ----------
    lag : int64 (P,)
    topic : int32 (P,)
    least : int64 (T,)
        Floor of the mean count of a topic.
    total : int64 (M,)
        Lag of each member.
    state : AssignmentState
    """

    lag: Int64
    topic: Int32
    least: Int64
    total: Int64
    state: AssignmentState


class _Lists(NamedTuple):
    """The giver's partitions by topic, and working memory.

    Attributes
    ----------
    held : int64 (T,)
        Number of the giver's partitions.
    first : int32 (T,)
        One of them; -1: none.
    after : int32 (P,)
        The next of the same topic; -1: none.
    place : int32 (P,)
        Place in the giver's list of all its partitions.
    wants : int64 (T,)
        Number of the receiver's partitions; 0 between two receivers.
    members, ranked : int64 (M,)
        All members; room to sort them.
    """

    held: Int64
    first: Int32
    after: Int32
    place: Int32
    wants: Int64
    members: Int64
    ranked: Int64


class _Exchange(NamedTuple):
    """Best exchange of a giver and a receiver.

    Attributes
    ----------
    peak : int
        The larger of their total lags after it.
    p, q : int
        Partition that the giver gives, and the one that it receives; `NOBODY` for none.
    receiver : int
    """

    peak: int
    p: int
    q: int
    receiver: int


@kernel
def exchange(group: Laden, eligible: EligibleMembers, enough: int, looks: int) -> int:
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
    topics, partitions, members = group.least.size, group.lag.size, group.total.size
    lists = _Lists(
        np.empty(topics, np.int64),
        np.empty(topics, np.int32),
        np.empty(partitions, np.int32),
        np.empty(partitions, np.int32),
        np.zeros(topics, np.int64),
        np.arange(members),
        np.empty(members, np.int64),
    )
    lag, total, state = group.lag, group.total, group.state
    while looks > 0 and total.max() > enough:
        giver = int(np.argmax(total))
        best, seen = _search(group, eligible, lists, giver)
        looks -= seen
        if best.p == NOBODY:
            break
        more = lag[best.p]
        move(state, best.p, best.receiver)
        if best.q != NOBODY:
            more -= lag[best.q]
            move(state, best.q, giver)
        total[giver] -= more
        total[best.receiver] += more
    return looks


@kernel
def _search(
    group: Laden, eligible: EligibleMembers, lists: _Lists, giver: int
) -> tuple[_Exchange, int]:
    """Return an exchange with the least loaded member that can help; and comparisons.

    Sorting all members takes longer than trying the first, which can usually help.
    """
    members, total, ranked = group.total.size, group.total, lists.ranked
    _list(group, lists, giver)
    ranked[0], looks = np.argmin(total), members
    best = _Exchange(0, NOBODY, NOBODY, NOBODY)
    for i in range(members):
        best, more = _look(group, eligible, lists, giver, ranked[i])
        looks += more
        if best.p != NOBODY:
            break
        if i == 0:
            looks += _TO_SORT * members
            rank(total, lists.members, ranked)
    return best, looks


@kernel
def rank(total: Int64, members: Int32 | Int64, ranked: Int64) -> None:
    """Sort members by total lag, stably, into ``ranked``.

    For few members, numpy's sort takes most time for its own arrays.
    """
    if members.size > _FEW:
        by_total = np.argsort(total[members], kind="mergesort")
        ranked[: members.size] = members[by_total]
        return
    for i in range(members.size):
        m, j = members[i], i
        while j > 0 and total[ranked[j - 1]] > total[m]:
            ranked[j] = ranked[j - 1]
            j -= 1
        ranked[j] = m


@borrowing_kernel
def _list(group: Laden, lists: _Lists, giver: int) -> None:
    """List the giver's partitions by topic."""
    topic, following = group.topic, group.state.after
    held, first, after, place = lists.held, lists.first, lists.after, lists.place
    held[:], first[:] = 0, NOBODY
    p, i = group.state.first[giver], 0
    while p != NOBODY:
        t = topic[p]
        after[p], first[t], place[p] = first[t], p, i
        held[t] += 1
        p, i = following[p], i + 1


@kernel
def _look(
    group: Laden, eligible: EligibleMembers, lists: _Lists, giver: int, receiver: int
) -> tuple[_Exchange, int]:
    """Find the best exchange of two members; of equal ones, the giver's first.

    Returns
    -------
    _Exchange
    int
        Partitions of both, and pairs of them, if each of the giver's that is of a topic
        of the receiver's is compared with all the receiver's.
    """
    # Fields are read once: numba counts the references of each field that is read.
    lag, topic, least, total, state = group
    held, first_of, after_of, place, wants, _, _ = lists
    first, after = state.first, state.after
    high, low = total[giver], total[receiver]
    peak, give_p, take_q, best_place = high, NOBODY, NOBODY, -1
    n_received, n_common, n_given = 0, 0, 0
    q = first[receiver]
    while q != NOBODY:
        t = topic[q]
        n_received += 1
        n_common += held[t] if wants[t] == 0 else 0
        wants[t] += 1
        p = first_of[t]
        while p != NOBODY:
            more = lag[p] - lag[q]
            then = max(high - more, low + more)
            if then < peak or (then == peak and place[p] < best_place):
                peak, give_p, take_q, best_place = then, p, q, place[p]
            p = after_of[p]
        q = after[q]
    p = first[giver]
    while p != NOBODY:
        n_given, t = n_given + 1, topic[p]
        # To keep counts balanced, a partition is given without exchange only to a
        # smaller count.
        if held[t] > least[t] == wants[t] and is_eligible(eligible, t, receiver):
            then = max(high - lag[p], low + lag[p])
            if then < peak or (then == peak and place[p] < best_place):
                peak, give_p, take_q, best_place = then, p, NOBODY, place[p]
        p = after[p]
    q = first[receiver]
    while q != NOBODY:
        wants[topic[q]] = 0
        q = after[q]
    best = _Exchange(peak, give_p, take_q, receiver)
    return best, n_given + n_received + n_common * n_received
