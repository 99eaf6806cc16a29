"""One hand a member, all different, with no more moves than the budget: depth first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64


class Hands(NamedTuple):
    """What members may hold, in the order they are dealt to; the last gets the rest.

    Attributes
    ----------
    mask, weight, moves : int64 (H,)
        Partitions as bits, their lag, how many of them the member does not own; fewest
        moves first within a member.
    first : int64 (M,)
        Hands of the d-th member are ``first[d]:first[d+1]``; the last has none here.
    room : int64 (M+1,)
        Lag that the members from the d-th on can hold.
    fewest : int64 (M+1,)
        Moves that they take at the least.
    own, seats : int64 (M+1,)
        Partitions that one of them owns; that one of them may hold.
    owned : int
        Partitions that anybody owns.
    """

    mask: Int64
    weight: Int64
    moves: Int64
    first: Int64
    room: Int64
    fewest: Int64
    own: Int64
    seats: Int64
    owned: int


class Bounds(NamedTuple):
    """What a member holds of some partitions, by count.

    Attributes
    ----------
    group : int64 (G,)
        Partitions as bits.
    least, most : int64 (G,)
    """

    group: Int64
    least: Int64
    most: Int64


@njit(cache=True)
def bits(mask: int) -> int:
    """Count the ones of a number of at most 62 bits."""
    mask = mask - ((mask >> 1) & 0x5555555555555555)
    mask = (mask & 0x3333333333333333) + ((mask >> 2) & 0x3333333333333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F0F0F0F0F
    mask += mask >> 8
    mask += mask >> 16
    return (mask + (mask >> 32)) & 127


@njit(cache=True)
def keeps(mask: int, bounds: Bounds) -> bool:
    """Tell whether a hand has the right counts."""
    for g in range(bounds.group.size):
        count = bits(mask & bounds.group[g])
        if count < bounds.least[g] or count > bounds.most[g]:
            return False
    return True


@njit(cache=True)
def which_keep(masks: Int64, bounds: Bounds) -> Int64:
    """List the hands that have the right counts."""
    found = [k for k in range(masks.size) if keeps(masks[k], bounds)]
    return np.array(found, np.int64)


@njit(cache=True)
def _leaves_enough(hands: Hands, after: int, left: int, heavy: int, moves: int) -> bool:
    """Tell whether the members from one on may take what is left, as far as it shows.

    What its owner has not kept is a move of whoever takes it.
    """
    if heavy > hands.room[after] or left & ~hands.seats[after]:
        return False
    return bits(left & hands.owned & ~hands.own[after]) <= moves


@njit(cache=True)
def _take(
    hands: Hands, depth: int, k: int, left: Int64, spare: Int64, heavy: Int64
) -> None:
    """Give a member a hand: write what is left after it."""
    left[depth + 1] = left[depth] ^ hands.mask[k]
    spare[depth + 1] = spare[depth] - hands.moves[k]
    heavy[depth + 1] = heavy[depth] - hands.weight[k]


@njit(cache=True)
def _next_fit(
    hands: Hands,
    depth: int,
    k: int,
    left: Int64,
    spare: Int64,
    heavy: Int64,
    steps: int,
) -> tuple[int, int]:
    """Find the next hand of a member that goes with those before, or its end."""
    end, after = hands.first[depth + 1], depth + 1
    while k < end and steps > 0:
        more = spare[depth] - hands.moves[k]
        if more < hands.fewest[after]:
            return end, steps
        mask = hands.mask[k]
        if mask & ~left[depth] == 0 and _leaves_enough(
            hands, after, left[depth] ^ mask, heavy[depth] - hands.weight[k], more
        ):
            return k, max(steps - 1, 1)
        k, steps = k + 1, steps - 1
    return k, steps


@njit(cache=True)
def deal(
    hands: Hands, bounds: Bounds, lag: int, budget: int, at: Int64, steps: int
) -> tuple[bool, int]:
    """Go on from a place until everything is dealt, all is tried, or steps are spent.

    Parameters
    ----------
    hands : Hands
    bounds : Bounds
        Of the last member.
    lag : int
        Of all partitions.
    budget : int
    at : int64 (M,)
        The hand of each member to try next; last, how many members have theirs. All 0
        to begin with, and written: where to go on, or the hands dealt.
    steps : int
        Hands to look at.

    Returns
    -------
    bool, int
        Whether it is dealt, and the steps that are left, 0 if they ran out.
    """
    members = hands.first.size
    left = np.zeros(members, np.int64)
    spare = np.zeros(members, np.int64)
    heavy = np.zeros(members, np.int64)
    left[0], spare[0], heavy[0] = hands.seats[0], budget, lag
    depth = at[members - 1]
    for d in range(depth):
        _take(hands, d, at[d], left, spare, heavy)
    while depth >= 0:
        end, after = hands.first[depth + 1], depth + 1
        k, steps = _next_fit(hands, depth, at[depth], left, spare, heavy, steps)
        if steps <= 0:
            at[depth], at[members - 1] = k, depth
            return False, 0
        if k >= end:
            depth -= 1
            if depth >= 0:
                at[depth] += 1
            continue
        at[depth] = k
        _take(hands, depth, k, left, spare, heavy)
        if after == members - 1:
            if keeps(left[after], bounds):
                return True, max(steps, 1)
            at[depth] += 1
            continue
        at[after] = hands.first[after]
        depth = after
    return False, max(steps, 1)
