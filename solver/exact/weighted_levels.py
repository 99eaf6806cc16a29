"""Dec-min levels where capacities differ: keys, load bounds by key, levels from loads.

The n-th partition of a member of capacity w has the *key* (n, w). Keys are ordered by
n ÷ w, and for equal fractions by capacity, largest first; distinct keys are never
equal. Fractions are compared by their continued fractions (Euclid), so no intermediate
value exceeds 64 bits.

A block with P partitions takes the P least keys of its members. The last of them bounds
every load: at least the keys below it, at most those not above it. The two differ by
one for members with the capacity of this key, and by nothing for others.

Once the loads are known, the level of a member is the least key not taken that chains
of transfers from it reach. In a dec-min assignment no such key is less than one taken.
So each partition is at a subscriber whose level is lowest, and each member takes all
keys below its level and none above: the levels prove the balance (docs/method.md).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import Bools, Int32, Int64, borrowing_kernel, kernel
from solver.exact.min_cost_flow import Network
from solver.exact.reduced_instance import ReducedInstance

_RELATIVE_ERROR: Final = 2.0**-40
"""Above the rounding error of doubles (2^-53 per step) in the estimate of a quota."""

_UNSET: Final = -1


class Levels(NamedTuple):
    """Load of a member of each class in every dec-min assignment; K classes.

    A partition is at a subscriber of the lowest level. With capacities, a level is the
    key of ``number`` partitions over capacity ``over``; otherwise it is ``low``.
    """

    place: Int32  # (K,): order of the levels
    low: Int32  # (K,): least load
    high: Int32  # (K,): largest load: low or one more
    number: Int64  # (K,), or empty without capacities
    over: Int64  # (K,), or empty without capacities


@borrowing_kernel
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


@borrowing_kernel
def comes_before(n: int, w: int, m: int, v: int) -> bool:
    """Return whether the key (n, w) is less than the key (m, v)."""
    order = compare(n, w, m, v)
    return order < 0 or (order == 0 and w > v)


@borrowing_kernel
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


@kernel
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


@kernel
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


@kernel
def rank_keys(n: Int64, w: Int64) -> Int32:
    """Return the rank of each key among the distinct ones, from 0."""
    place = np.zeros(n.size, np.int32)
    order = sort_keys(n, w)
    for at in range(1, n.size):
        i, j = order[at - 1], order[at]
        place[j] = place[i] + (1 if comes_before(n[i], w[i], n[j], w[j]) else 0)
    return place


@kernel
def below_each(capacity: Int64, n: Int64, w: Int64, most: int) -> Int32:
    """Count each member's keys, of its first ``most``, below the given key (n, w)."""
    found = np.zeros(capacity.size, np.int32)
    for m in range(capacity.size):
        found[m] = count_below(capacity[m], n[m], w[m], most)
    return found


@kernel
def bound_by_key(
    reduced: ReducedInstance,
    nodes: Int32,
    capacity: Int64,
    total: int,
    low: Int32,
    high: Int32,
) -> None:
    """Bound the loads of a block's classes by the last key that it takes."""
    n_topics = reduced.supply.size
    classes = nodes[nodes >= n_topics] - n_topics
    size = reduced.class_size[classes].astype(np.int64)
    low[n_topics + classes] = 0
    high[n_topics + classes] = 0
    if total == 0:
        return
    n, w = last_key(size, capacity[classes], total)
    for i in range(classes.size):
        v, k = n_topics + classes[i], classes[i]
        below = count_below(capacity[k], n, w, total)
        low[v] = below * size[i]
        high[v] = low[v] + (size[i] if capacity[k] == w else 0)


@kernel
def levels_of_loads(
    net: Network, reduced: ReducedInstance, capacity: Int64, load: Int32
) -> Levels:
    """Compute the least key not taken that chains from each class reach.

    Classes are visited in the order of their next keys, by breadth-first search over
    reversed chains: the classes without a level that hold a partition of a topic which
    a class of the queue subscribes to get that key.
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    following = (load[n_topics:] // reduced.class_size + 1).astype(np.int64)
    reached_from = np.full(n_classes, _UNSET, np.int64)
    seen = np.zeros(n_topics, np.bool_)
    queue = np.empty(n_classes, np.int64)
    place = np.zeros(n_classes, np.int32)
    number, over = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    rank, last = -1, (np.int64(0), np.int64(0))
    for goal in sort_keys(following, capacity):
        if reached_from[goal] != _UNSET:
            continue
        if (following[goal], capacity[goal]) != last:
            rank, last = rank + 1, (following[goal], capacity[goal])
        end = 1
        queue[0] = goal
        reached_from[goal] = goal
        for at in range(n_classes):
            if at == end:
                break
            k = queue[at]
            end = _queue_holders(net, n_topics, k, goal, seen, reached_from, queue, end)
        for k in queue[:end]:
            place[k], number[k], over[k] = rank, following[goal], capacity[goal]
    low, high = np.zeros(n_classes, np.int32), np.zeros(n_classes, np.int32)
    total = reduced.supply.sum()
    for k in range(n_classes):
        low[k] = count_below(capacity[k], number[k], over[k], total)
        high[k] = low[k] + (1 if capacity[k] == over[k] else 0)
    return Levels(place, low, high, number, over)


@borrowing_kernel
def _queue_holders(
    net: Network,
    n_topics: int,
    k: int,
    goal: int,
    seen: Bools,
    reached_from: Int64,
    queue: Int64,
    end: int,
) -> int:
    """Queue the classes without a level that hold a topic of class k."""
    for a in range(net.first[n_topics + k], net.first[n_topics + k + 1]):
        t = net.head[a]
        if seen[t]:
            continue
        seen[t] = True
        for b in range(net.first[t], net.first[t + 1]):
            holder = net.head[b] - n_topics
            if net.residual[net.reverse[b]] > 0 and reached_from[holder] == _UNSET:
                reached_from[holder] = goal
                queue[end] = holder
                end += 1
    return end
