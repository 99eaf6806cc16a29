"""Pick some of a few partitions so that their lag comes closest to a target.

Meet in the middle: the sums of all choices from either half, sorted, then two pointers.
Items come in groups, of each of which between ``least`` and ``most`` are picked. A
half's sums stay sorted while it grows, by merging the list without an item and the list
with it; they are kept apart by how many are picked of the group at hand, and thrown
together when a group that lies within the half is complete.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int64

MOST_ITEMS = 30
NONE = -1


class Half(NamedTuple):
    """Choices from half of the items, sorted by sum within each bucket.

    Attributes
    ----------
    first : int64 (B+1,)
        Bucket b is ``first[b]:first[b+1]``: b picked of the last group.
    total : int64
    picked : int64
        Bit i: item i.
    """

    first: Int64
    total: Int64
    picked: Int64


@njit(cache=True)
def nearest(
    lag: Int64, group: Int64, least: Int64, most: Int64, target: int
) -> tuple[int, int, int, int]:
    """Find the choices whose sums are next to a target, from below and from above.

    Parameters
    ----------
    lag, group : int64 (N,)
        At most 30 items, group by group from group 0.
    least, most : int64 (G,)

    Returns
    -------
    below, below_sum, above, above_sum
        Choices as bits, -1 if there is none; below: at most the target, above: at
        least. Equal if the target is met.
    """
    middle = lag.size // 2
    left = _half(lag, group, least, most, 0, middle, 1)
    right = _half(lag, group, least, most, lag.size - 1, middle - 1, -1)
    shared = 0 < middle < lag.size and group[middle - 1] == group[middle]
    low, high = 0, MOST_ITEMS
    if shared:
        low, high = least[group[middle]], most[group[middle]]
    best = (NONE, 0, NONE, 0)
    for a in range(left.first.size - 1):
        for b in range(right.first.size - 1):
            if low <= a + b <= high:
                best = _joined(left, right, a, b, target, best)
    return best


@njit(cache=True)
def _joined(
    left: Half,
    right: Half,
    a: int,
    b: int,
    target: int,
    best: tuple[int, int, int, int],
) -> tuple[int, int, int, int]:
    """Better the nearest choices with those of two buckets: two pointers."""
    below, below_sum, above, above_sum = best
    start, end = right.first[b], right.first[b + 1]
    j = end - 1
    for i in range(left.first[a], left.first[a + 1]):
        while j >= start and left.total[i] + right.total[j] > target:
            j -= 1
        if j >= start:
            total = left.total[i] + right.total[j]
            if below == NONE or total > below_sum:
                below, below_sum = left.picked[i] | right.picked[j], total
                if total == target:
                    return below, total, below, total
        if j + 1 < end:
            total = left.total[i] + right.total[j + 1]
            if above == NONE or total < above_sum:
                above, above_sum = left.picked[i] | right.picked[j + 1], total
    return below, below_sum, above, above_sum


@njit(cache=True)
def _half(
    lag: Int64,
    group: Int64,
    least: Int64,
    most: Int64,
    start: int,
    stop: int,
    step: int,
) -> Half:
    """List the choices from ``start`` towards ``stop``; the last group stays open.

    It is closed too if it does not go on beyond the half.
    """
    half = Half(np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    i = start
    while i != stop:
        half = _with_item(half, lag[i], i)
        after = i + step
        outside = after < 0 or after >= lag.size
        if outside or group[after] != group[i]:
            half = _closed(half, least[group[i]], most[group[i]])
        i = after
    return half


@njit(cache=True)
def _with_item(half: Half, lag: int, item: int) -> Half:
    """Add an item: bucket b becomes itself merged with bucket b - 1, the item added."""
    buckets = half.first.size  # one more than before
    first = np.zeros(buckets + 1, np.int64)
    total = np.empty(2 * half.total.size, np.int64)
    picked = np.empty(2 * half.total.size, np.int64)
    bit = np.int64(1) << item
    end = 0
    for b in range(buckets):
        i, i_end = 0, 0
        if b < buckets - 1:
            i, i_end = half.first[b], half.first[b + 1]
        j, j_end = 0, 0
        if b > 0:
            j, j_end = half.first[b - 1], half.first[b]
        while i < i_end or j < j_end:
            if j == j_end or (i < i_end and half.total[i] <= half.total[j] + lag):
                total[end], picked[end] = half.total[i], half.picked[i]
                i += 1
            else:
                total[end], picked[end] = half.total[j] + lag, half.picked[j] | bit
                j += 1
            end += 1
        first[b + 1] = end
    return Half(first, total, picked)


@njit(cache=True)
def _closed(half: Half, least: int, most: int) -> Half:
    """Throw the buckets from ``least`` to ``most`` together."""
    low = max(least, 0)
    high = min(most, half.first.size - 2)
    if low > high:
        nothing = np.empty(0, np.int64)
        return Half(np.array([0, 0]), nothing, nothing)
    total = half.total[half.first[low] : half.first[low + 1]]
    picked = half.picked[half.first[low] : half.first[low + 1]]
    for b in range(low + 1, high + 1):
        start, stop = half.first[b], half.first[b + 1]
        total, picked = _merged(
            total, picked, half.total[start:stop], half.picked[start:stop]
        )
    return Half(np.array([0, total.size]), total, picked)


@njit(cache=True)
def _merged(
    total: Int64, picked: Int64, other_total: Int64, other_picked: Int64
) -> tuple[Int64, Int64]:
    both = np.empty(total.size + other_total.size, np.int64)
    bits = np.empty(both.size, np.int64)
    i, j = 0, 0
    for end in range(both.size):
        if j == other_total.size or (i < total.size and total[i] <= other_total[j]):
            both[end], bits[end] = total[i], picked[i]
            i += 1
        else:
            both[end], bits[end] = other_total[j], other_picked[j]
            j += 1
    return both, bits
