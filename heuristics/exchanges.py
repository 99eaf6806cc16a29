"""Local search of ``lag-swaps``: exchanges that lower the peak lag."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from heuristics.assignment_state import AssignmentState, give, take
from heuristics.eligible_members import EligibleMembers, is_eligible
from rebalance import NOBODY, Int32, Int64, kernel

_TO_SORT: Final = 30  # comparisons that sorting a member costs


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


class _Best(NamedTuple):
    """Best exchange of two members, and the larger of their total lags after it.

    Attributes
    ----------
    peak : int64 (1,)
    rows : int64 (2,)
        Partition that the giver gives, and the one that it receives; `NOBODY` for none.
    """

    peak: Int64
    rows: Int64


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
    counts = np.zeros((2, group.least.size), np.int64)
    best = _Best(np.empty(1, np.int64), np.empty(2, np.int64))
    while looks > 0 and group.total.max() > enough:
        giver = int(np.argmax(group.total))
        best.peak[0], best.rows[:] = group.total[giver], NOBODY
        receiver, seen = _search(group, eligible, counts, giver, best)
        looks -= seen
        if best.rows[0] == NOBODY:
            break
        _hand_over(group, best.rows[0], receiver)
        if best.rows[1] != NOBODY:
            _hand_over(group, best.rows[1], giver)
    return looks


@kernel
def _search(
    group: Laden, eligible: EligibleMembers, counts: Int64, giver: int, best: _Best
) -> tuple[int, int]:
    """Return the least loaded member that can help, and the number of comparisons.

    Sorting all members takes longer than trying the first, which can usually help.
    """
    receiver, members = int(np.argmin(group.total)), group.total.size
    looks = members + _look(group, eligible, counts, giver, receiver, best)
    if best.rows[0] == NOBODY:
        looks += _TO_SORT * members
        for receiver in np.argsort(group.total, kind="mergesort")[1:]:
            looks += _look(group, eligible, counts, giver, receiver, best)
            if best.rows[0] != NOBODY:
                break
    return int(receiver), looks


@kernel
def _hand_over(group: Laden, p: int, member: int) -> None:
    group.total[group.state.holder[p]] -= group.lag[p]
    group.total[member] += group.lag[p]
    take(group.state, p)
    give(group.state, p, member)


@kernel
def _look(
    group: Laden,
    eligible: EligibleMembers,
    counts: Int64,
    giver: int,
    receiver: int,
    best: _Best,
) -> int:
    """Find the best exchange of two members; return the number of comparisons.

    ``counts`` are 0 before and after.
    """
    has, wants = counts[0], counts[1]
    looks = _count(group, giver, has, 1) + _count(group, receiver, wants, 1)
    p = group.state.first[giver]
    while p != NOBODY:
        t = group.topic[p]
        if wants[t]:
            q = group.state.first[receiver]
            while q != NOBODY:
                looks += 1
                if group.topic[q] == t:
                    _weigh(group, best, giver, receiver, p, q)
                q = group.state.after[q]
        # To keep counts balanced, a partition is given without exchange only to a
        # smaller count.
        if has[t] > group.least[t] == wants[t] and is_eligible(eligible, t, receiver):
            _weigh(group, best, giver, receiver, p, NOBODY)
        p = group.state.after[p]
    _count(group, giver, has, 0)
    _count(group, receiver, wants, 0)
    return looks


@kernel
def _count(group: Laden, member: int, count: Int64, one: int) -> int:
    """Count a member's partitions by topic, or reset the counts; return the number."""
    p, held = group.state.first[member], 0
    while p != NOBODY:
        count[group.topic[p]] = (count[group.topic[p]] + 1) * one
        p = group.state.after[p]
        held += 1
    return held


@kernel
def _weigh(
    group: Laden, best: _Best, giver: int, receiver: int, p: int, q: int
) -> None:
    """Record the exchange of p for q, or of p alone, if it is the best so far."""
    more = group.lag[p] - (0 if q == NOBODY else group.lag[q])
    peak = max(group.total[giver] - more, group.total[receiver] + more)
    if peak < best.peak[0]:
        best.peak[0], best.rows[0], best.rows[1] = peak, p, q
