"""One hand a member, all different, with no more moves than the budget: depth first.

A hand that is dealt strikes out all that share a partition with it. What is left tells
soon that it goes no further: a member with no hand, moves or lag that do not suffice, a
partition that no hand has any more. Next is the member with the fewest hands left, or
the partition, if one is in fewer.

Moves are counted three ways, each a bound. Every partition that is not with its owner
is taken by one member and lost by another: the hands left have fewest moves; they have
least *cost*, moves and losses together, which is two for every move in all; and what no
owner can keep any more will move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rebalance.claims import Int64
from solver.budget.hands import Hands
from solver.peak_lag.bits import bits
from solver.peak_lag.rows import WORD, UInt64, count_shared, next_shared, row_for

_A_HAND = 64  # steps to look at one, besides its words


class Deal(NamedTuple):
    """Who holds what so far, and what is left for others; a row for each depth.

    Attributes
    ----------
    depth : int64 (1,)
        Members that have their hand.
    place : int64 (M,)
        Partition that is dealt next; -1: a member is.
    next, stop : int64 (M,)
        Hand to try next; word at which there are no more.
    hand : int64 (M,)
        The one dealt.
    is_dealt : bool (M,)
        By member.
    left : int64 (M,)
        Partitions, as bits.
    spare, moves, cost : int64 (M,)
        What those that are left may spare, move and cost.
    alive : uint64 (M, W)
        Hands that go with those dealt.
    start, end : int64 (M, M)
        Words of each member between which some are.
    fewest : int64 (M, M)
        Moves of each member at the least.
    """

    depth: Int64
    place: Int64
    next: Int64
    stop: Int64
    hand: Int64
    is_dealt: NDArray[np.bool_]
    left: Int64
    spare: Int64
    moves: Int64
    cost: Int64
    alive: UInt64
    start: Int64
    end: Int64
    fewest: Int64


def first_deal(hands: Hands, whole: int, moves: int, cost: int, spare: int) -> Deal:
    """Lay out a deal that is about to begin.

    Parameters
    ----------
    hands : Hands
    whole : int
        All partitions, as bits.
    moves, cost, spare : int
        What all hands may move, cost and spare together.
    """
    members, words = hands.own.size, int(hands.first[-1])
    by_member = (members, members)
    deal = Deal(
        depth=np.zeros(1, np.int64),
        place=np.zeros(members, np.int64),
        next=np.zeros(members, np.int64),
        stop=np.zeros(members, np.int64),
        hand=np.zeros(members, np.int64),
        is_dealt=np.zeros(members, np.bool_),
        left=np.full(members, whole, np.int64),
        spare=np.full(members, spare, np.int64),
        moves=np.full(members, moves, np.int64),
        cost=np.full(members, cost, np.int64),
        alive=np.zeros((members, words), np.uint64),
        start=np.zeros(by_member, np.int64),
        end=np.zeros(by_member, np.int64),
        fewest=np.zeros(by_member, np.int64),
    )
    deal.alive[0] = hands.sparing.rows[-1]
    deal.start[0], deal.end[0] = hands.first[:-1], hands.first[1:]
    deal.fewest[0] = hands.moves[hands.first[:-1] * WORD]
    _choose(hands, deal, 0)
    return deal


@njit(cache=True)
def deal_on(hands: Hands, at: Deal, steps: int) -> tuple[bool, int]:
    """Go on until everything is dealt, all is tried, or steps are spent.

    Parameters
    ----------
    hands : Hands
    at : Deal
        Where to go on; written.
    steps : int
        Words to look at, about.

    Returns
    -------
    bool, int
        Whether it is dealt, and the steps that are left, 0 if they ran out.
    """
    depth = at.depth[0]
    while depth >= 0 and steps > 0:
        h = _next_hand(hands, at, depth)
        if h < 0:
            depth -= 1
            if depth >= 0:
                at.is_dealt[hands.member[at.hand[depth] // WORD]] = False
            continue
        at.hand[depth] = h
        steps -= _A_HAND
        if depth < at.hand.size - 1:
            goes, words = _give(hands, at, depth, h)
            steps -= words
            depth += goes
        elif hands.mask[h] == at.left[depth]:
            at.depth[0] = depth
            return True, max(steps, 1)
    at.depth[0] = depth
    return False, max(steps, 1) if depth < 0 else 0


@njit(cache=True)
def _next_hand(hands: Hands, at: Deal, depth: int) -> int:
    """Find the next hand of the member, or with the partition, that is next; or -1."""
    place, stop = at.place[depth], at.stop[depth]
    one = at.alive[depth]
    other = one if place < 0 else hands.has[place]
    h = next_shared(one, other, at.next[depth], stop)
    while h >= 0:
        at.next[depth] = h + 1
        if (
            hands.spare[h] <= at.spare[depth]
            and hands.moves[h] <= at.moves[depth]
            and hands.cost[h] <= at.cost[depth]
        ):
            return int(h)
        h = next_shared(one, other, h + 1, stop)
    return -1


@njit(cache=True)
def _give(hands: Hands, at: Deal, depth: int, h: int) -> tuple[bool, int]:
    """Give a hand to its member; tell whether it may go on, and words looked at."""
    c, after = hands.member[h // WORD], depth + 1
    at.is_dealt[c] = True
    at.left[after] = at.left[depth] ^ hands.mask[h]
    at.spare[after] = at.spare[depth] - hands.spare[h]
    at.moves[after] = at.moves[depth] - hands.moves[h]
    at.cost[after] = at.cost[depth] - hands.cost[h]
    goes, words = _suffices(hands, at, after), 0
    if goes:
        struck = _struck(hands, at, after, hands.mask[h])
        extra, words = _look(hands, at, after, struck)
        goes = extra >= 0
    if goes:
        words += _strike(hands, at, after, struck, extra)
        goes, more = _choose(hands, at, after)
        words += more
    at.is_dealt[c] = goes
    return goes, words


@njit(cache=True)
def _suffices(hands: Hands, at: Deal, depth: int) -> bool:
    """Tell whether moves and cost suffice, as far as it shows without a look."""
    lost, moves, cost = at.left[depth], 0, 0
    for c in range(at.is_dealt.size):
        if not at.is_dealt[c]:
            lost &= ~hands.own[c]
            moves += at.fewest[depth - 1, c]
            cost += hands.cheapest[c]
    if moves > at.moves[depth] or cost > at.cost[depth]:
        return False
    return bool(bits(lost & hands.owned) <= at.moves[depth])


class _Struck(NamedTuple):
    """What strikes hands out.

    Attributes
    ----------
    places : int64
        Partitions that are dealt now.
    step : int
        Row of ``sparing``.
    cheap : int64 (M,)
        Row of ``cheap``, by member.
    """

    places: Int64
    step: int
    cheap: Int64


@njit(cache=True)
def _struck(hands: Hands, at: Deal, depth: int, mask: int) -> _Struck:
    places = np.empty(bits(mask), np.int64)
    end = 0
    for place in range(hands.has.shape[0]):
        if mask >> place & 1:
            places[end] = place
            end += 1
    step = row_for(hands.sparing, at.spare[depth])
    extra = at.cost[depth]
    for c in range(at.is_dealt.size):
        if not at.is_dealt[c]:
            extra -= hands.cheapest[c]
    return _Struck(
        places, step, np.minimum(hands.cheapest + extra, hands.cheap.shape[0] - 1)
    )


@njit(cache=True)
def _look(hands: Hands, at: Deal, depth: int, struck: _Struck) -> tuple[int, int]:
    """Find the first hand each member still has.

    Returns
    -------
    int, int
        Moves that are to spare beyond the fewest, negative if a member has no hand or
        the moves do not suffice; words looked at.
    """
    before, words = at.alive[depth - 1], 0
    extra = at.moves[depth]
    for c in range(at.is_dealt.size):
        if not at.is_dealt[c]:
            extra -= at.fewest[depth - 1, c]
    sparing = hands.sparing.rows[struck.step]
    for c in range(at.is_dealt.size):
        if at.is_dealt[c]:
            continue
        cheap = hands.cheap[struck.cheap[c]]
        w, end = at.start[depth - 1, c], at.end[depth - 1, c]
        words -= w
        while w < end:
            word = before[w] & sparing[w] & cheap[w]
            for place in struck.places:
                word &= ~hands.has[place, w]
            if word:
                break
            w += 1
        words += w + 1
        if w == end:
            return -1, words * (struck.places.size + 2)
        at.start[depth, c] = w
        at.fewest[depth, c] = hands.moves[w * WORD]
        extra -= at.fewest[depth, c] - at.fewest[depth - 1, c]
        if extra < 0:
            break
    return extra, words * (struck.places.size + 2)


@njit(cache=True)
def _strike(hands: Hands, at: Deal, depth: int, struck: _Struck, extra: int) -> int:
    """Write the hands that are left; return words looked at."""
    words = 0
    at.alive[depth, :] = 0
    for c in range(at.is_dealt.size):
        if at.is_dealt[c]:
            continue
        start, end = at.start[depth, c], at.start[depth, c]
        while (
            end < at.end[depth - 1, c]
            and hands.moves[end * WORD] <= at.fewest[depth, c] + extra
        ):
            end += 1
        at.end[depth, c] = end
        words += end - start
        alive = at.alive[depth, start:end]
        alive[:] = at.alive[depth - 1, start:end]
        alive &= hands.sparing.rows[struck.step, start:end]
        alive &= hands.cheap[struck.cheap[c], start:end]
        for place in struck.places:
            row = hands.has[place, start:end]
            for w in range(alive.size):
                alive[w] &= ~row[w]
    return words * (struck.places.size + 2)


@njit(cache=True)
def _choose(hands: Hands, at: Deal, depth: int) -> tuple[bool, int]:
    """Find which member or partition has the fewest hands left.

    Returns
    -------
    bool, int
        Whether all have some; words looked at.
    """
    fewest, words = 2**62, 0
    for c in range(at.is_dealt.size):
        if at.is_dealt[c]:
            continue
        start, end = at.start[depth, c], at.end[depth, c]
        alive = at.alive[depth]
        count, seen = count_shared(alive, alive, start, end, fewest)
        words += seen
        if count < fewest:
            fewest = count
            at.place[depth], at.next[depth], at.stop[depth] = -1, start * WORD, end
    for place in range(hands.has.shape[0]):
        if not at.left[depth] >> place & 1:
            continue
        count = 0
        for c in range(at.is_dealt.size):
            if count >= fewest or at.is_dealt[c]:
                continue
            start, end = at.start[depth, c], at.end[depth, c]
            more, seen = count_shared(
                at.alive[depth], hands.has[place], start, end, fewest - count
            )
            count += more
            words += seen
        if count < fewest:
            fewest = count
            at.place[depth], at.next[depth] = place, 0
            at.stop[depth] = hands.has.shape[1]
        if count == 0:
            return False, words
    return fewest > 0, words
