"""Sets of partitions near a sum and of few moves, met in the middle.

The partitions are split into two halves. All parts of each are listed, grouped by how
many of them would be moves, the lightest first; then two groups are gone through
together, one up and the other down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64
from solver.peak_lag.bits import Counts, bits, fits


class Half(NamedTuple):
    """All parts of n partitions that are not too heavy and may become a hand.

    Attributes
    ----------
    total : int64 (E,)
        Sum of lag; ascending within a group.
    mask : int64 (E,)
        Partitions, as bits.
    first : int64 (n+2,)
        Parts with k moves are ``first[k]:first[k+1]``.
    """

    total: Int64
    mask: Int64
    first: Int64


def halves_of(
    lag: Int64, items: Int64, foreign: int, counts: Counts, heaviest: int, most: int
) -> tuple[Half, Half] | None:
    """List the parts of both halves; None if one has more than ``most``.

    Parameters
    ----------
    lag : int64
        By place, as the bits are numbered.
    items : int64 (n,)
        Places that a hand may have.
    foreign : int
        Those that would be moves, as bits.
    counts : Counts
    heaviest : int
        No hand has more lag.
    most : int
    """
    # Every other one: both halves have large ones and small ones.
    items = items[np.argsort(-lag[items], kind="stable")]
    one = _half_of(lag, items[::2], foreign, counts, heaviest, most)
    other = _half_of(lag, items[1::2], foreign, counts, heaviest, most)
    return (one, other) if one.total.size and other.total.size else None


@njit(cache=True)
def _half_of(
    lag: Int64, items: Int64, foreign: int, counts: Counts, heaviest: int, most: int
) -> Half:
    room = most if items.size > 40 else min(1 << items.size, most)
    parts = np.zeros((2, room), np.int64), np.zeros((2, room), np.int64)
    first = np.zeros(items.size + 2, np.int64)
    end, now = 1, 0
    for i in items:
        end = _with_item(parts, now, end, lag[i], np.int64(1) << i, counts, heaviest)
        if end < 0:
            return Half(parts[0][0, :0], parts[1][0, :0], first)
        now = 1 - now
    total, mask = parts[0][now, :end], parts[1][now, :end]
    moves = np.empty(end, np.int8)
    for k in range(end):
        moves[k] = bits(mask[k] & foreign)
        first[moves[k] + 1] += 1
    first = np.cumsum(first)
    place = first.copy()
    totals, masks = np.empty(end, np.int64), np.empty(end, np.int64)
    for k in range(end):
        at = place[moves[k]]
        totals[at], masks[at] = total[k], mask[k]
        place[moves[k]] += 1
    return Half(totals, masks, first)


@njit(cache=True)
def _with_item(
    parts: tuple[Int64, Int64],
    now: int,
    end: int,
    lag: int,
    bit: int,
    counts: Counts,
    heaviest: int,
) -> int:
    """Merge parts with the same and one partition more; -1 if there is no room.

    ``parts`` are two rows each of totals, ascending, and of masks: one is read, the
    other written.
    """
    total, mask = parts[0][now], parts[1][now]
    totals, masks = parts[0][1 - now], parts[1][1 - now]
    i, k = 0, 0
    j = _next_part(total, mask, 0, end, lag, bit, counts, heaviest)
    while i < end or j < end:
        if k == totals.size:
            return -1
        if j == end or (i < end and total[i] <= total[j] + lag):
            totals[k], masks[k] = total[i], mask[i]
            i += 1
        else:
            totals[k], masks[k] = total[j] + lag, mask[j] | bit
            j = _next_part(total, mask, j + 1, end, lag, bit, counts, heaviest)
        k += 1
    return k


@njit(cache=True)
def _next_part(
    total: Int64,
    mask: Int64,
    j: int,
    end: int,
    lag: int,
    bit: int,
    counts: Counts,
    heaviest: int,
) -> int:
    """Find the next part from one on that may have one partition more, or the end."""
    while j < end and not fits(mask[j] | bit, counts, False):
        j += 1
    return end if j == end or total[j] + lag > heaviest else j


@njit(cache=True)
def spans(
    one: Half, other: Half, least: int, most: int, moves: int
) -> tuple[Int64, Int64]:
    """Find what goes with each part of one half.

    Returns
    -------
    low, high : int64 (E,)
        With a part go those ``low:high`` of the other half: together they have a sum
        between ``least`` and ``most``, and exactly so many moves.
    """
    lows = np.zeros(one.total.size, np.int64)
    highs = np.zeros(one.total.size, np.int64)
    for own in range(one.first.size - 1):
        rest = moves - own
        if rest < 0 or rest > other.first.size - 2:
            continue
        start = other.first[rest]
        low = high = other.first[rest + 1]  # these down, as the others go up
        for i in range(one.first[own], one.first[own + 1]):
            while low > start and other.total[low - 1] >= least - one.total[i]:
                low -= 1
            while high > start and other.total[high - 1] > most - one.total[i]:
                high -= 1
            lows[i], highs[i] = low, max(low, high)
    return lows, highs


@njit(cache=True)
def joined(
    one: Half, other: Half, low: Int64, high: Int64, counts: Counts, most: int
) -> tuple[Int64, Int64]:
    """List the sets that `spans` tells of, if their counts are right; ``most`` at most.

    Returns
    -------
    mask, weight : int64 (H,)
        Partitions as bits; sum of lag.
    """
    room = min((high - low).sum(), most)
    mask, weight = np.empty(room, np.int64), np.empty(room, np.int64)
    end = 0
    for i in range(low.size):
        for j in range(low[i], high[i]):
            both = one.mask[i] | other.mask[j]
            if not fits(both, counts, True):
                continue
            if end == room:
                return mask, weight
            mask[end], weight[end] = both, one.total[i] + other.total[j]
            end += 1
    return mask[:end], weight[:end]
