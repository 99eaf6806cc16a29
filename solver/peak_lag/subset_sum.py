"""Subset sum by meet in the middle: the sums next to a target, from either side.

Follows Horowitz and Sahni, *Computing partitions with applications to the knapsack
problem*, 1974: list the sums of all subsets of either half in order, then advance two
pointers. Items come in groups, of each of which between ``least`` and ``most`` are
chosen. The sums of a half stay sorted while it grows, by merging the list without an
item and the list with it. They are kept apart in buckets by the number chosen of the
current group, and merged when a group that lies within the half is complete.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import Int64, always_compiled

NO_SUBSET: Final = -1


class HalfSums(NamedTuple):
    """Subsets of one half of the items, sorted by sum within each bucket.

    Bucket b is ``offsets[b]:offsets[b + 1]``: b chosen of the last group.
    """

    offsets: Int64  # (B+1,)
    total: Int64
    chosen: Int64  # bit i: item i


@always_compiled
def nearest_sums(
    lag: Int64, group: Int64, least: Int64, most: Int64, target: int
) -> tuple[int, int, int, int]:
    """Return the subsets whose sums are next to a target.

    Parameters
    ----------
    lag, group : int64 (N,)
        At most 30 items, group by group from group 0.
    least, most : int64 (G,)

    Returns
    -------
    below, below_sum, above, above_sum
        Subsets as bits, -1 if there is none; below: at most the target, above: at
        least. Equal if the target is met.
    """
    left, right, low, high = _halves(lag, group, least, most)
    best = (NO_SUBSET, 0, NO_SUBSET, 0)
    for a in range(left.offsets.size - 1):
        for b in range(right.offsets.size - 1):
            if low <= a + b <= high:
                best = _improve(left, right, a, b, target, best)
    return best


@always_compiled
def list_sums(
    lag: Int64,
    group: Int64,
    least: Int64,
    most: Int64,
    low: int,
    high: int,
    limit: int,
) -> tuple[Int64, Int64, int]:
    """List the subsets with sums from ``low`` to ``high``, up to ``limit``.

    Parameters are those of `nearest_sums`, with up to 62 items.

    Returns
    -------
    int64, int64
        Subsets as bits, and their sums.
    int
        Steps.
    """
    left, right, fewest, largest = _halves(lag, group, least, most)
    chosen, total = np.empty(limit, np.int64), np.empty(limit, np.int64)
    end, steps = 0, 8 * (left.total.size + right.total.size)
    for a in range(left.offsets.size - 1):
        for b in range(right.offsets.size - 1):
            if not fewest <= a + b <= largest:
                continue
            start, above = right.offsets[b : b + 2]
            steps += left.offsets[a + 1] - left.offsets[a] + above - start
            for i in range(left.offsets[a], left.offsets[a + 1]):
                while above > start and left.total[i] + right.total[above - 1] > high:
                    above -= 1
                j = above - 1
                while j >= start and left.total[i] + right.total[j] >= low:
                    if end == limit:
                        return chosen, total, steps
                    chosen[end] = left.chosen[i] | right.chosen[j]
                    total[end] = left.total[i] + right.total[j]
                    end += 1
                    j -= 1
    return chosen[:end], total[:end], steps


@always_compiled
def _halves(
    lag: Int64, group: Int64, least: Int64, most: Int64
) -> tuple[HalfSums, HalfSums, int, int]:
    """List both halves, and how many may be chosen of the group that they share."""
    middle = lag.size // 2
    left = _sums_of_half(lag, group, least, most, 0, middle, 1)
    right = _sums_of_half(lag, group, least, most, lag.size - 1, middle - 1, -1)
    if 0 < middle < lag.size and group[middle - 1] == group[middle]:
        return left, right, least[group[middle]], most[group[middle]]
    return left, right, 0, lag.size


@always_compiled
def _improve(
    left: HalfSums,
    right: HalfSums,
    a: int,
    b: int,
    target: int,
    best: tuple[int, int, int, int],
) -> tuple[int, int, int, int]:
    """Improve the nearest sums by those of two buckets, with two pointers."""
    below, below_sum, above, above_sum = best
    start, end = right.offsets[b], right.offsets[b + 1]
    j = end - 1
    for i in range(left.offsets[a], left.offsets[a + 1]):
        while j >= start and left.total[i] + right.total[j] > target:
            j -= 1
        if j >= start:
            total = left.total[i] + right.total[j]
            if below == NO_SUBSET or total > below_sum:
                below, below_sum = left.chosen[i] | right.chosen[j], total
                if total == target:
                    return below, total, below, total
        if j + 1 < end:
            total = left.total[i] + right.total[j + 1]
            if above == NO_SUBSET or total < above_sum:
                above, above_sum = left.chosen[i] | right.chosen[j + 1], total
    return below, below_sum, above, above_sum


@always_compiled
def _sums_of_half(
    lag: Int64,
    group: Int64,
    least: Int64,
    most: Int64,
    start: int,
    stop: int,
    step: int,
) -> HalfSums:
    """List the subsets of the items from ``start`` to ``stop``.

    Buckets of the last group stay apart only if it goes on in the other half.
    """
    half = HalfSums(np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    i = start
    while i != stop:
        half = _with_item(half, lag[i], i, most[group[i]])
        after = i + step
        is_last = after < 0 or after >= lag.size
        if is_last or group[after] != group[i]:
            half = _merge_buckets(half, least[group[i]], most[group[i]])
        i = after
    return half


@always_compiled
def _bucket(half: HalfSums, b: int) -> HalfSums:
    """Return a view of a bucket; it is empty if there is none."""
    start, end = 0, 0
    if 0 <= b < half.offsets.size - 1:
        start, end = half.offsets[b], half.offsets[b + 1]
    return HalfSums(half.offsets, half.total[start:end], half.chosen[start:end])


@always_compiled
def _with_item(half: HalfSums, lag: int, item: int, most: int) -> HalfSums:
    """Add an item: merge each bucket with the one before, to which it is added."""
    buckets = min(half.offsets.size, max(most, 0) + 1)  # at most one more than before
    offsets = np.zeros(buckets + 1, np.int64)
    total = np.empty(2 * half.total.size, np.int64)
    chosen = np.empty(2 * half.total.size, np.int64)
    for b in range(buckets):
        one, other, start = _bucket(half, b), _bucket(half, b - 1), offsets[b]
        _merge(one, other, lag, 1 << item, total[start:], chosen[start:])
        offsets[b + 1] = start + one.total.size + other.total.size
    end = offsets[-1]
    return HalfSums(offsets, total[:end], chosen[:end])


@always_compiled
def _merge_buckets(half: HalfSums, least: int, most: int) -> HalfSums:
    """Merge the buckets from ``least`` to ``most``; drop the others."""
    low = max(least, 0)
    merged = _bucket(half, low if low <= most else -1)
    for b in range(low + 1, min(most, half.offsets.size - 2) + 1):
        other = _bucket(half, b)
        total = np.empty(merged.total.size + other.total.size, np.int64)
        chosen = np.empty(total.size, np.int64)
        _merge(merged, other, 0, 0, total, chosen)
        merged = HalfSums(half.offsets, total, chosen)
    return HalfSums(np.array([0, merged.total.size]), merged.total, merged.chosen)


@always_compiled
def _merge(
    sums: HalfSums, other: HalfSums, lag: int, bit: int, total: Int64, chosen: Int64
) -> None:
    """Merge two sorted lists, with ``lag`` and ``bit`` added to the second."""
    i, j = 0, 0
    for end in range(sums.total.size + other.total.size):
        if j == other.total.size or (
            i < sums.total.size and sums.total[i] <= other.total[j] + lag
        ):
            total[end], chosen[end] = sums.total[i], sums.chosen[i]
            i += 1
        else:
            total[end], chosen[end] = other.total[j] + lag, other.chosen[j] | bit
            j += 1
