"""The hands of all members as rows of bits: what goes with a hand is a few ANDs.

The hands of a member stand together, those with the fewest moves first. Each member,
and each number of moves, begins a new word of 64 bits, so that a limit on moves ends
between words; the bits left over are hands that nobody can be dealt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64
from solver.peak_lag.bits import bits
from solver.peak_lag.rows import (
    NEVER,
    WORD,
    Sparing,
    UInt64,
    padded,
    rows_upto,
    rows_with,
    sparing_of,
)


class Hands(NamedTuple):
    """What members may hold; H hands in W words, M members, R partitions.

    Attributes
    ----------
    mask : int64 (H,)
        Partitions as bits.
    spare : int64 (H,)
        Lag that the member could have more within the peak.
    moves : int64 (H,)
        Partitions of the hand that others own.
    cost : int64 (H,)
        The same, and those that the member owns and that are not in the hand.
    first : int64 (M+1,)
        Words of member c are ``first[c]:first[c+1]``.
    member : int64 (W,)
        Whose word it is.
    own : int64 (M,)
        Partitions that it owns, as bits.
    owned : int
        Partitions that anybody owns.
    cheapest : int64 (M,)
        Least cost of its hands.
    has : uint64 (R, W)
        Hands with a partition, as bits.
    sparing : Sparing
    cheap : uint64 (C, W)
        Hands that cost at most so much.
    """

    mask: Int64
    spare: Int64
    moves: Int64
    cost: Int64
    first: Int64
    member: Int64
    own: Int64
    owned: int
    cheapest: Int64
    has: UInt64
    sparing: Sparing
    cheap: UInt64


class Listed(NamedTuple):
    """Hands of one member that are so many moves: partitions as bits, and spare lag."""

    mask: Int64
    spare: Int64
    moves: int


def hands_of(listed: list[list[Listed]], own: list[int], places: int) -> Hands:
    """Lay out the hands of all members, each with at least one, fewest moves first.

    ``places`` is the number of partitions.
    """
    parts = [_padded(some) for member in listed for some in member]
    mask, spare, moves = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    words = [sum(-(-some.mask.size // WORD) for some in member) for member in listed]
    first = np.r_[0, np.cumsum(words)].astype(np.int64)
    owned = np.array(own, np.int64)
    cost = _costs(mask, spare, moves, first, owned)
    cheapest = np.minimum.reduceat(cost, first[:-1] * WORD)
    return Hands(
        mask=mask,
        spare=spare,
        moves=moves,
        cost=cost,
        first=first,
        member=np.repeat(np.arange(len(own)), words),
        own=owned,
        owned=int(np.bitwise_or.reduce(owned)),
        cheapest=cheapest,
        has=rows_with(mask, places),
        sparing=sparing_of(spare),
        cheap=rows_upto(cost, list(range(2 * places + 1))),
    )


def _padded(some: Listed) -> tuple[Int64, Int64, Int64]:
    mask = padded(some.mask)
    moves = np.full(mask.size, some.moves, np.int64)
    return mask, padded(some.spare, NEVER), moves


@njit(cache=True)
def _costs(mask: Int64, spare: Int64, moves: Int64, first: Int64, own: Int64) -> Int64:
    cost = np.full(mask.size, NEVER, np.int64)
    for c in range(own.size):
        for h in range(first[c] * WORD, first[c + 1] * WORD):
            if spare[h] < NEVER:
                cost[h] = moves[h] + bits(own[c] & ~mask[h])
    return cost
