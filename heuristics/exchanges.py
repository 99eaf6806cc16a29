"""Exchanges that lower the most laden member: the second step of ``lag-swaps``."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from heuristics.held import Held, give, take
from heuristics.takers import Takers, is_taker
from rebalance.claims import NOBODY, Int32, Int64

_A_LIST: Final = 400
"""Looks that it takes to begin a list of swaps,"""
_A_SWAP: Final = 20
"""to sort a swap, or to find another for it."""


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
    """What of all that was looked at leaves the most laden with the least.

    Attributes
    ----------
    peak : int64 (1,)
        Lag of the most laden of those who take part, afterwards.
    rows, to : int64 (4,)
        Partitions that are handed over, and to whom; NOBODY where nothing is.
    """

    peak: Int64
    rows: Int64
    to: Int64


class _Swaps(NamedTuple):
    """What one member may exchange with another.

    Attributes
    ----------
    given, taken : int64 (S,)
        Partitions of one topic, of the one and of the other; NOBODY for nothing.
    more : int64 (S,)
        Lag that the one is rid of; ascending.
    looks : int
        What it took to list and sort them.
    """

    given: Int64
    taken: Int64
    more: Int64
    looks: int


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
    best = _Best(np.empty(1, np.int64), np.empty(4, np.int64), np.empty(4, np.int64))
    while looks > 0 and group.total.max() > enough:
        giver = int(np.argmax(group.total))
        best.peak[0], best.rows[:], best.to[:] = group.total[giver], NOBODY, NOBODY
        looks = _search(group, takers, counts, giver, best, looks)
        if best.to[0] == NOBODY:
            break
        for i in range(best.rows.size):
            if best.rows[i] != NOBODY:
                _hand_over(group, best.rows[i], best.to[i])
    return looks


@njit(cache=True)
def _hand_over(group: Laden, p: int, member: int) -> None:
    group.total[group.held.holder[p]] -= group.lag[p]
    group.total[member] += group.lag[p]
    take(group.held, p)
    give(group.held, p, member)


@njit(cache=True)
def _search(
    group: Laden, takers: Takers, counts: Int64, giver: int, best: _Best, looks: int
) -> int:
    """Find the least laden who can help, and how; return how many looks are left."""
    order = np.argsort(group.total, kind="mergesort")
    order = order[order != giver]
    for receiver in order:
        looks -= _look(group, takers, counts, giver, receiver, best)
        if best.to[0] != NOBODY:
            return looks
    for receiver in order:
        swaps = _swaps(group, takers, counts, giver, receiver)
        looks -= swaps.looks + _look_twice(group, swaps, giver, receiver, best)
        if best.to[0] != NOBODY or looks <= 0:
            return looks
    for between in order:
        swaps = _swaps(group, takers, counts, giver, between)
        looks -= swaps.looks
        for receiver in order:
            if receiver != between and looks > 0:
                onward = _swaps(group, takers, counts, between, receiver)
                three = (giver, between, receiver)
                looks -= onward.looks + _look_beyond(group, swaps, onward, three, best)
            if best.to[0] != NOBODY:
                return looks
    return looks


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
    looks = _count(group, giver, counts[0], 1) + _count(group, receiver, counts[1], 1)
    p = group.held.first[giver]
    while p != NOBODY:
        t = group.topic[p]
        if counts[1, t]:
            q = group.held.first[receiver]
            while q != NOBODY:
                looks += 1
                if group.topic[q] == t:
                    _weigh(group, best, receiver, p, q)
                q = group.held.after[q]
        if _may_have(group, takers, counts[0], counts[1], p, receiver):
            _weigh(group, best, receiver, p, NOBODY)
        p = group.held.after[p]
    _count(group, giver, counts[0], 0)
    _count(group, receiver, counts[1], 0)
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
def _weigh(group: Laden, best: _Best, receiver: int, p: int, q: int) -> None:
    """Write down that p goes to the receiver, and q or nothing back, if it is best."""
    giver = group.held.holder[p]
    more = group.lag[p] - (0 if q == NOBODY else group.lag[q])
    peak = max(group.total[giver] - more, group.total[receiver] + more)
    if peak < best.peak[0]:
        best.peak[0], best.rows[0], best.to[0] = peak, p, receiver
        best.rows[1], best.to[1] = q, giver


@njit(cache=True)
def _look_twice(
    group: Laden, swaps: _Swaps, giver: int, receiver: int, best: _Best
) -> int:
    """Find which two swaps together help most, and write them; return how many looks.

    The lag that two swaps hand on should come near half of what the giver has more:
    with all swaps sorted by that, the second is near where the first leaves the rest.
    """
    half = (group.total[giver] - group.total[receiver]) // 2
    for i in range(swaps.more.size):
        at = np.searchsorted(swaps.more, half - swaps.more[i])
        for start, step in ((at, 1), (at - 1, -1)):
            j = _next(group, swaps, i, swaps, start, step)
            if 0 <= j < swaps.more.size:
                more = swaps.more[i] + swaps.more[j]
                peak = max(group.total[giver] - more, group.total[receiver] + more)
                if peak < best.peak[0]:
                    best.peak[0] = peak
                    _note(best, 0, swaps, i, giver, receiver)
                    _note(best, 2, swaps, j, giver, receiver)
    return _A_SWAP * int(swaps.more.size)


@njit(cache=True)
def _look_beyond(
    group: Laden,
    swaps: _Swaps,
    onward: _Swaps,
    three: tuple[int, int, int],
    best: _Best,
) -> int:
    """Find which swap helps most if its partner swaps on with a third.

    The second swap should even the two who make it out, so it is near half of what the
    first makes their difference.
    """
    giver, between, receiver = three
    for i in range(swaps.more.size):
        left = group.total[giver] - swaps.more[i]
        if left >= best.peak[0]:
            continue
        total = group.total[between] + swaps.more[i]
        at = np.searchsorted(onward.more, (total - group.total[receiver]) // 2)
        for start, step in ((at, 1), (at - 1, -1)):
            j = _next(group, swaps, i, onward, start, step)
            if 0 <= j < onward.more.size:
                more = onward.more[j]
                peak = max(left, total - more, group.total[receiver] + more)
                if peak < best.peak[0]:
                    best.peak[0] = peak
                    _note(best, 0, swaps, i, giver, between)
                    _note(best, 2, onward, j, between, receiver)
    return _A_SWAP * int(swaps.more.size)


@njit(cache=True)
def _next(
    group: Laden, swaps: _Swaps, i: int, others: _Swaps, start: int, step: int
) -> int:
    """Find the first swap from ``start`` on that can be made beside swap i.

    Not if both hand the same partition over, nor if both change somebody's count of a
    topic.
    """
    given, taken = swaps.given[i], swaps.taken[i]
    is_free = NOBODY in (given, taken)
    topic = group.topic[max(given, taken)]
    j = start
    while 0 <= j < others.more.size:
        more_given, more_taken = others.given[j], others.taken[j]
        is_same = given != NOBODY and given == more_given
        is_same |= taken != NOBODY and (taken in (more_taken, more_given))
        if is_free and (NOBODY in (more_given, more_taken)):
            is_same |= group.topic[max(more_given, more_taken)] == topic
        if not is_same:
            break
        j += step
    return j


@njit(cache=True)
def _note(
    best: _Best, at: int, swaps: _Swaps, s: int, giver: int, receiver: int
) -> None:
    best.rows[at], best.to[at] = swaps.given[s], receiver
    best.rows[at + 1], best.to[at + 1] = swaps.taken[s], giver


@njit(cache=True)
def _swaps(group: Laden, takers: Takers, counts: Int64, one: int, other: int) -> _Swaps:
    """List what two members may exchange; ``counts`` are all 0 and stay so."""
    ours = _count(group, one, counts[0], 1)
    theirs = _count(group, other, counts[1], 1)
    pairs = np.full((2, ours * theirs + ours + theirs), NOBODY, np.int64)
    size = 0
    p = group.held.first[one]
    while p != NOBODY:
        q = group.held.first[other]
        while q != NOBODY:
            if group.topic[q] == group.topic[p]:
                pairs[0, size], pairs[1, size] = p, q
                size += 1
            q = group.held.after[q]
        if _may_have(group, takers, counts[0], counts[1], p, other):
            pairs[0, size] = p
            size += 1
        p = group.held.after[p]
    q = group.held.first[other]
    while q != NOBODY:
        if _may_have(group, takers, counts[1], counts[0], q, one):
            pairs[1, size] = q
            size += 1
        q = group.held.after[q]
    _count(group, one, counts[0], 0)
    _count(group, other, counts[1], 0)
    given, taken = pairs[0, :size], pairs[1, :size]
    more = np.where(given == NOBODY, 0, group.lag[given])
    more -= np.where(taken == NOBODY, 0, group.lag[taken])
    order = np.argsort(more, kind="mergesort")
    looks = _A_LIST + ours * theirs + _A_SWAP * size
    return _Swaps(given[order], taken[order], more[order], looks)


@njit(cache=True)
def _may_have(
    group: Laden, takers: Takers, has: Int64, wants: Int64, p: int, member: int
) -> bool:
    """Tell whether a member may have one for nothing; ``has`` counts who has it."""
    t = group.topic[p]
    is_even = has[t] > group.least[t] == wants[t]
    return is_even and is_taker(takers, t, member)
