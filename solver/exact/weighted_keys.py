"""Keys: the order in which a dec-min assignment fills members of unequal capacity.

The n-th partition of a member of capacity w has the *key* (n, w). Keys are ordered by
n ÷ w, and for equal fractions by capacity, largest first; distinct keys are never
equal. Fractions are compared by their continued fractions (Euclid), so no intermediate
value exceeds 64 bits.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from rebalance import Int32, Int64

_RELATIVE_ERROR: Final = 2.0**-40
"""Above the rounding error of doubles (2^-53 per step) in the estimate of a quota."""


@njit(cache=True)
def compare(n: int, w: int, m: int, v: int) -> int:
    """Return the sign of n ÷ w - m ÷ v."""
    sign = 1
    while True:
        here, there = n // w, m // v
        if here != there:
            return sign if here > there else -sign
        r, s = n - here * w, m - there * v
        if r == 0 or s == 0:
            return sign * (int(r > 0) - int(s > 0))
        # The order of r ÷ w and s ÷ v is the reverse of that of w ÷ r and v ÷ s.
        n, w, m, v, sign = w, r, v, s, -sign


@njit(cache=True)
def comes_before(n: int, w: int, m: int, v: int) -> bool:
    """Return whether the key (n, w) is less than the key (m, v)."""
    order = compare(n, w, m, v)
    return order < 0 or (order == 0 and w > v)


@njit(cache=True)
def count_below(capacity: int, n: int, w: int, most: int) -> int:
    """Count a member's keys, of its first ``most``, that are less than (n, w)."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if comes_before(middle, capacity, n, w):
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True)
def sort_keys(n: Int64, w: Int64) -> Int64:
    """Return the order of keys, least first; stable (merge sort)."""
    order = np.arange(n.size)
    merged = np.empty(n.size, np.int64)
    width = 1
    while width < n.size:
        for start in range(0, n.size, 2 * width):
            middle, end = min(start + width, n.size), min(start + 2 * width, n.size)
            left, right = start, middle
            for at in range(start, end):
                take_right = left == middle
                if not take_right and right < end:
                    i, j = order[right], order[left]
                    take_right = comes_before(n[i], w[i], n[j], w[j])
                if take_right:
                    merged[at] = order[right]
                    right += 1
                else:
                    merged[at] = order[left]
                    left += 1
        order, merged = merged, order
        width *= 2
    return order


@njit(cache=True)
def last_key(size: Int64, capacity: Int64, total: int) -> tuple[int, int]:
    """Return the last of the ``total`` least keys of the members.

    Proportional shares come within a few keys of it: with T the value of the last key
    and W the sum of all capacities, T · W is between total and total + members. So a
    member takes at least its share of the total, rounded down, less one; beyond this,
    at most its share of the members and four keys for rounding have to be sorted.

    ``size`` is the number of members of each capacity; ``total`` is at least 1.
    """
    members = size.sum()
    whole = (size * capacity.astype(np.float64)).sum()
    share = capacity / whole
    taken = np.maximum(total * share * (1 - _RELATIVE_ERROR) - 1, 0).astype(np.int64)
    more = ((members + total * _RELATIVE_ERROR) * share).astype(np.int64) + 4
    n, w = np.empty(more.sum(), np.int64), np.empty(more.sum(), np.int64)
    at, count = 0, np.empty(more.sum(), np.int64)
    for i in range(size.size):
        for j in range(more[i]):
            n[at], w[at], count[at] = taken[i] + 1 + j, capacity[i], size[i]
            at += 1
    left = total - (size * taken).sum()
    for key in sort_keys(n, w):
        left -= count[key]
        if left <= 0:
            break
    return n[key], w[key]


@njit(cache=True)
def rank_keys(n: Int64, w: Int64) -> Int32:
    """Return the rank of each key among the distinct ones, from 0."""
    place = np.zeros(n.size, np.int32)
    order = sort_keys(n, w)
    for at in range(1, n.size):
        i, j = order[at - 1], order[at]
        place[j] = place[i] + (1 if comes_before(n[i], w[i], n[j], w[j]) else 0)
    return place


@njit(cache=True)
def below_each(capacity: Int64, n: Int64, w: Int64, most: int) -> Int32:
    """Count each member's keys, of its first ``most``, below the given key (n, w)."""
    found = np.zeros(capacity.size, np.int32)
    for m in range(capacity.size):
        found[m] = count_below(capacity[m], n[m], w[m], most)
    return found
