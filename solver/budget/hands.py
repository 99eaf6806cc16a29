"""The hands of all members as rows of bits: what goes with a hand is a few ANDs.

The hands of a member stand together, those with the fewest moves first. Each member,
and each number of moves, begins a new word of 64 bits, so that a limit on moves ends
between words; the bits left over are hands that nobody can be dealt.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64
from solver.lag.bits import bits
from solver.lag.rows import WORD, UInt64, rows_upto, rows_with

_STEPS: Final = 16  # of spare lag that rows are kept for
NEVER: Final = 2**62  # spared by what only fills a word


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
    step : int64 (S,)
        Ascending; no hand spares more than the last.
    sparing : uint64 (S, W)
        Hands that spare at most so much.
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
    step: Int64
    sparing: UInt64
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
    most = int(spare[spare < NEVER].max())
    steps = [most * s // _STEPS for s in range(1, _STEPS + 1)]
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
        step=np.array(steps, np.int64),
        sparing=rows_upto(spare, steps),
        cheap=rows_upto(cost, list(range(2 * places + 1))),
    )


def _padded(some: Listed) -> tuple[Int64, Int64, Int64]:
    more = (0, -some.mask.size % WORD)
    return (
        np.pad(some.mask, more),
        np.pad(some.spare, more, constant_values=NEVER),
        np.full(some.mask.size + more[1], some.moves, np.int64),
    )


@njit(cache=True)
def _costs(mask: Int64, spare: Int64, moves: Int64, first: Int64, own: Int64) -> Int64:
    cost = np.full(mask.size, NEVER, np.int64)
    for c in range(own.size):
        for h in range(first[c] * WORD, first[c + 1] * WORD):
            if spare[h] < NEVER:
                cost[h] = moves[h] + bits(own[c] & ~mask[h])
    return cost
