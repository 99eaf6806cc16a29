"""Levels where capacities differ: bounds by key, and prices from loads.

A block of total P takes the P least keys of its members; the last of them bounds every
load to the keys below it and those not above it, which are one apart for members of
that key's capacity and equal for all others.

Once the loads are known, the level of a member is the least key not taken that chains
of transfers from it reach. In a dec-min assignment no such key is less than one taken,
so each partition sits where the level is least among its subscribers, and each member
holds all keys below its level and none above: prices that prove balance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Bools
from solver.exact.min_cost_flow import Int32, Int64, Network
from solver.exact.reduced_instance import ReducedInstance
from solver.exact.weighted_keys import count_below, last_key, sort_keys

_UNSET = -1


class Levels(NamedTuple):
    """What every member of a class holds in each dec-min assignment.

    Attributes
    ----------
    place : int32 (K,)
        Orders the levels: a partition sits on subscribers of the least. Without
        capacities it is ``low``.
    low : int32 (K,)
        Partitions of each member, at least.
    high : int32 (K,)
        At most: ``low`` or one more.
    number, over : int64 (K,)
        With capacities: the key between the two, ``number`` partitions over capacity
        ``over``; else empty.
    """

    place: Int32
    low: Int32
    high: Int32
    number: Int64
    over: Int64


@njit(cache=True)
def bound_by_key(
    reduced: ReducedInstance,
    nodes: Int32,
    weight: Int64,
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
    n, w = last_key(size, weight[classes], total)
    for i in range(classes.size):
        v, k = n_topics + classes[i], classes[i]
        below = count_below(weight[k], n, w, total)
        low[v] = below * size[i]
        high[v] = low[v] + (size[i] if weight[k] == w else 0)


@njit(cache=True)
def levels_of_loads(
    net: Network, reduced: ReducedInstance, weight: Int64, load: Int32
) -> Levels:
    """Find the least key not taken that chains from each class reach.

    Classes are visited by their next key; whoever holds a partition that one of them
    wants, or that one on the way wants, and has no level yet, gets that key.

    Parameters
    ----------
    net : Network
        Topic → class, with the loads as flow.
    load : int32 (T+K,)
        0 for topics.
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    following = (load[n_topics:] // reduced.class_size + 1).astype(np.int64)
    source = np.full(n_classes, _UNSET, np.int64)
    seen = np.zeros(n_topics, np.bool_)
    queue = np.empty(n_classes, np.int64)
    place = np.zeros(n_classes, np.int32)
    number, over = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    rank, last = -1, (np.int64(0), np.int64(0))
    for goal in sort_keys(following, weight):
        if source[goal] != _UNSET:
            continue
        if (following[goal], weight[goal]) != last:
            rank, last = rank + 1, (following[goal], weight[goal])
        end = 1
        queue[0] = goal
        source[goal] = goal
        for at in range(n_classes):
            if at == end:
                break
            end = _ask_holders(net, n_topics, queue[at], goal, seen, source, queue, end)
        for k in queue[:end]:
            place[k], number[k], over[k] = rank, following[goal], weight[goal]
    low, high = np.zeros(n_classes, np.int32), np.zeros(n_classes, np.int32)
    total = reduced.supply.sum()
    for k in range(n_classes):
        low[k] = count_below(weight[k], number[k], over[k], total)
        high[k] = low[k] + (1 if weight[k] == over[k] else 0)
    return Levels(place, low, high, number, over)


@njit(cache=True)
def _ask_holders(
    net: Network,
    n_topics: int,
    k: int,
    goal: int,
    seen: Bools,
    source: Int64,
    queue: Int64,
    end: int,
) -> int:
    """Queue the classes without level that hold what class k wants."""
    for a in range(net.first[n_topics + k], net.first[n_topics + k + 1]):
        t = net.head[a]
        if seen[t]:
            continue
        seen[t] = True
        for b in range(net.first[t], net.first[t + 1]):
            holder = net.head[b] - n_topics
            if net.room[net.twin[b]] > 0 and source[holder] == _UNSET:
                source[holder] = goal
                queue[end] = holder
                end += 1
    return end
