"""Dec-min levels where capacities differ: load bounds by key, and levels from loads.

A block with P partitions takes the P least keys of its members. The last of them bounds
every load: at least the keys below it, at most those not above it. The two differ by
one for members with the capacity of this key, and by nothing for others.

Once the loads are known, the level of a member is the least key not taken that chains
of transfers from it reach. In a dec-min assignment no such key is less than one taken.
So each partition is at a subscriber whose level is lowest, and each member takes all
keys below its level and none above: the levels prove the balance (docs/method.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import Bools, Int32, Int64
from solver.exact.min_cost_flow import Network
from solver.exact.reduced_instance import ReducedInstance
from solver.exact.weighted_keys import count_below, last_key, sort_keys

_UNSET = -1


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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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
