"""The order in which dec-min fills members of different capacity, exactly.

The n-th partition of a member of capacity w has the *key* (n, w). Keys are ordered by
n ÷ w, the larger w first; two that differ are never equal. Fractions are compared as
continued fractions, so nothing passes 64 bits however large a capacity is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solver.exact.min_cost_flow import Int32, Int64

# Doubles err by less than this share in the few steps that estimate a quota.
_DOUBT = 2.0**-40


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
        # r ÷ w against s ÷ v is w ÷ r against v ÷ s the other way round.
        n, w, m, v, sign = w, r, v, s, -sign


@njit(cache=True)
def comes_before(n: int, w: int, m: int, v: int) -> bool:
    """Tell whether the key (n, w) is less than the key (m, v)."""
    order = compare(n, w, m, v)
    return order < 0 or (order == 0 and w > v)


@njit(cache=True)
def count_below(weight: int, n: int, w: int, most: int) -> int:
    """Count a member's keys, of its first ``most``, that are less than (n, w)."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if comes_before(middle, weight, n, w):
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True)
def sort_keys(n: Int64, w: Int64) -> Int64:
    """Return the order of keys, least first; equal ones as they stand (merge sort)."""
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
def last_key(size: Int64, weight: Int64, total: int) -> tuple[int, int]:
    """Return the key that is the last when the least ``total`` of a crowd are taken.

    Sharing in proportion comes within a few keys of it: with T the value of the last
    key and W the capacity of all, T · W lies between total and total + people. So each
    member's share of the total, less one, is surely taken, and its share of the people
    and a few more is all that can follow.

    Parameters
    ----------
    size, weight : int64
        So many members of each capacity.
    total : int
        At least 1.
    """
    people = size.sum()
    whole = (size * weight.astype(np.float64)).sum()
    share = weight / whole
    taken = np.maximum(total * share * (1 - _DOUBT) - 1, 0).astype(np.int64)
    more = ((people + total * _DOUBT) * share).astype(np.int64) + 4
    n, w = np.empty(more.sum(), np.int64), np.empty(more.sum(), np.int64)
    at, members = 0, np.empty(more.sum(), np.int64)
    for i in range(size.size):
        for j in range(more[i]):
            n[at], w[at], members[at] = taken[i] + 1 + j, weight[i], size[i]
            at += 1
    left = total - (size * taken).sum()
    for key in sort_keys(n, w):
        left -= members[key]
        if left <= 0:
            break
    return n[key], w[key]


@njit(cache=True)
def rank_keys(n: Int64, w: Int64) -> Int32:
    """Return the place of each key among the distinct ones, from 0."""
    place = np.zeros(n.size, np.int32)
    order = sort_keys(n, w)
    for at in range(1, n.size):
        i, j = order[at - 1], order[at]
        place[j] = place[i] + (1 if comes_before(n[i], w[i], n[j], w[j]) else 0)
    return place


@njit(cache=True)
def below_each(weight: Int64, n: Int64, w: Int64, most: int) -> Int32:
    """Count each member's keys, of its first ``most``, below a key of its own."""
    found = np.zeros(weight.size, np.int32)
    for m in range(weight.size):
        found[m] = count_below(weight[m], n[m], w[m], most)
    return found
