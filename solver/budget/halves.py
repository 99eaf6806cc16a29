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


class Half(NamedTuple):
    """All parts of n partitions that are not too heavy.

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


@njit(cache=True)
def half_of(lag: Int64, items: Int64, foreign: int, heaviest: int) -> Half:
    """List the parts of some partitions; ``foreign`` are those that would be moves."""
    total = np.zeros(1 << items.size, np.int64)
    mask = np.zeros(1 << items.size, np.int64)
    moves = np.zeros(1 << items.size, np.int8)
    end = 1
    for i in items:
        bit = np.int64(1) << i
        more = 1 if foreign & bit else 0
        for k in range(end):
            if total[k] + lag[i] <= heaviest:
                total[end] = total[k] + lag[i]
                mask[end] = mask[k] | bit
                moves[end] = moves[k] + more
                end += 1
    first = np.zeros(items.size + 2, np.int64)
    for k in range(end):
        first[moves[k] + 1] += 1
    first = np.cumsum(first)
    place = first.copy()
    totals, masks = np.empty(end, np.int64), np.empty(end, np.int64)
    for k in np.argsort(total[:end], kind="mergesort"):
        at = place[moves[k]]
        totals[at], masks[at] = total[k], mask[k]
        place[moves[k]] += 1
    return Half(totals, masks, first)


@njit(cache=True)
def count_hands(one: Half, other: Half, least: int, most: int, moves: int) -> int:
    """Count the sets with lag between two sums and exactly so many moves."""
    count = 0
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
            count += high - low
    return count


@njit(cache=True)
def list_hands(
    one: Half, other: Half, least: int, most: int, moves: int, count: int
) -> tuple[Int64, Int64]:
    """List these ``count`` sets: partitions as bits, and lag."""
    mask, weight = np.empty(count, np.int64), np.empty(count, np.int64)
    end = 0
    for own in range(one.first.size - 1):
        rest = moves - own
        if rest < 0 or rest > other.first.size - 2:
            continue
        start = other.first[rest]
        low = high = other.first[rest + 1]
        for i in range(one.first[own], one.first[own + 1]):
            while low > start and other.total[low - 1] >= least - one.total[i]:
                low -= 1
            while high > start and other.total[high - 1] > most - one.total[i]:
                high -= 1
            for j in range(low, high):
                mask[end] = one.mask[i] | other.mask[j]
                weight[end] = one.total[i] + other.total[j]
                end += 1
    return mask, weight
