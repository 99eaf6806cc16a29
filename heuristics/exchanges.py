"""Exchanges that lower the most laden member: the second step of ``lag-swaps``."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from heuristics.assignment_state import Held, give, take
from heuristics.takers import Takers, is_taker
from rebalance import NOBODY, Int32, Int64

_TO_SORT: Final = 30  # looks that it takes to sort a member in


class Laden(NamedTuple):
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


class _Best(NamedTuple):
    """What two members should exchange, and what that leaves the higher of them with.

    Attributes
    ----------
    peak : int64 (1,)
    rows : int64 (2,)
        What the giver gives, and what it takes back; `NOBODY` for nothing.
    """

    peak: Int64
    rows: Int64


@njit(cache=True)
def exchange(group: Laden, takers: Takers, enough: int, looks: int) -> int:
    """Let the most laden exchange partitions until that lowers nothing.

    Parameters
    ----------
    enough : int
        Lag of the most laden that is low enough.
    looks : int
        Pairs of partitions to compare at most.

    Returns
    -------
    int
        How many looks are left; none or fewer: it may not be done.
    """
    counts = np.zeros((2, group.least.size), np.int64)
    best = _Best(np.empty(1, np.int64), np.empty(2, np.int64))
    while looks > 0 and group.total.max() > enough:
        giver = int(np.argmax(group.total))
        best.peak[0], best.rows[:] = group.total[giver], NOBODY
        receiver, seen = _search(group, takers, counts, giver, best)
        looks -= seen
        if best.rows[0] == NOBODY:
            break
        _hand_over(group, best.rows[0], receiver)
        if best.rows[1] != NOBODY:
            _hand_over(group, best.rows[1], giver)
    return looks


@njit(cache=True)
def _search(
    group: Laden, takers: Takers, counts: Int64, giver: int, best: _Best
) -> tuple[int, int]:
    """Find the least laden who can help, and how; and how many looks that took.

    Sorting all takes longer than to look at the first, who mostly can.
    """
    receiver, members = int(np.argmin(group.total)), group.total.size
    looks = members + _look(group, takers, counts, giver, receiver, best)
    if best.rows[0] == NOBODY:
        looks += _TO_SORT * members
        for receiver in np.argsort(group.total, kind="mergesort")[1:]:
            looks += _look(group, takers, counts, giver, receiver, best)
            if best.rows[0] != NOBODY:
                break
    return int(receiver), looks


@njit(cache=True)
def _hand_over(group: Laden, p: int, member: int) -> None:
    group.total[group.held.holder[p]] -= group.lag[p]
    group.total[member] += group.lag[p]
    take(group.held, p)
    give(group.held, p, member)


@njit(cache=True)
def _look(
    group: Laden,
    takers: Takers,
    counts: Int64,
    giver: int,
    receiver: int,
    best: _Best,
) -> int:
    """Find what two members should exchange, and write it; return how many looks.

    ``counts`` are all 0 and stay so.
    """
    has, wants = counts[0], counts[1]
    looks = _count(group, giver, has, 1) + _count(group, receiver, wants, 1)
    p = group.held.first[giver]
    while p != NOBODY:
        t = group.topic[p]
        if wants[t]:
            q = group.held.first[receiver]
            while q != NOBODY:
                looks += 1
                if group.topic[q] == t:
                    _weigh(group, best, giver, receiver, p, q)
                q = group.held.after[q]
        # Counts stay even: only one too many is given for nothing, to one too few.
        if has[t] > group.least[t] == wants[t] and is_taker(takers, t, receiver):
            _weigh(group, best, giver, receiver, p, NOBODY)
        p = group.held.after[p]
    _count(group, giver, has, 0)
    _count(group, receiver, wants, 0)
    return looks


@njit(cache=True)
def _count(group: Laden, member: int, count: Int64, one: int) -> int:
    """Count what a member holds by topic, or set the counts to 0; return how many."""
    p, held = group.held.first[member], 0
    while p != NOBODY:
        count[group.topic[p]] = (count[group.topic[p]] + 1) * one
        p = group.held.after[p]
        held += 1
    return held


@njit(cache=True)
def _weigh(
    group: Laden, best: _Best, giver: int, receiver: int, p: int, q: int
) -> None:
    """Write down that p goes to the receiver, and q or nothing back, if it is best."""
    more = group.lag[p] - (0 if q == NOBODY else group.lag[q])
    peak = max(group.total[giver] - more, group.total[receiver] + more)
    if peak < best.peak[0]:
        best.peak[0], best.rows[0], best.rows[1] = peak, p, q
