"""Dec-min levels by decomposition: which members can be evened out with which.

Take a block of topics U and members V; its supply is q·|V| + r. If a flow that
gives no member more than q + 1 (q when r is 0) leaves supply over, the source side of
the minimum cut is overloaded and splits off. Else, if a flow that gives every member
its q fails, the sink side of that cut is underloaded and splits off. Else every load
of the block is q or q + 1. Members of one class are alike, so the flow runs on classes.
Where capacities differ, `solver.exact.weighted_levels` supplies bounds and levels. The
proof is in docs/method.md; the method is Fujishige's decomposition, as in Frank and
Murota, *Decreasing minimization on M-convex sets*, 2022.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rebalance.claims import Bools
from solver.exact.min_cost_flow import FREE, Int32, Int64, Network, network, route
from solver.exact.owned_counts import OwnedCounts
from solver.exact.reduced_instance import ReducedInstance
from solver.exact.weighted_levels import Levels, bound_by_key, levels_of_loads


@njit(cache=True)
def class_levels(reduced: ReducedInstance, owned: OwnedCounts, weight: Int64) -> Levels:
    """Find the level of every class: its members get level or level + 1 partitions.

    The flow starts from the present owners, so a group that is nearly even costs
    little more than looking at it.

    Parameters
    ----------
    reduced : ReducedInstance
    owned : OwnedCounts
    weight : int64 (K,)
        Capacity of a member of each class; empty when all are equal.
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    net, excess, load = _class_network(reduced, owned)
    level = np.zeros(n_classes, np.int32)
    order = np.arange(n_topics + n_classes).astype(np.int32)
    side = np.zeros(n_topics + n_classes, np.bool_)
    low = np.zeros(n_topics + n_classes, np.int32)
    high = np.zeros(n_topics + n_classes, np.int32)
    blocks = [(0, n_topics + n_classes)]
    while blocks and n_classes > 0:
        start, end = blocks.pop()
        nodes = order[start:end]
        total = 0
        for v in nodes:
            total += excess[v] + load[v]
        if weight.size:
            bound_by_key(reduced, nodes, weight, total, low, high)
        else:
            _bound_evenly(reduced, nodes, total, low, high)
        if _cut_block(net, n_topics, nodes, excess, load, low, high, side):
            middle = _partition(net, nodes, side) + start
            blocks.append((start, middle))
            blocks.append((middle, end))
    if weight.size:
        return levels_of_loads(net, reduced, weight, load)
    for k in range(n_classes):
        level[k] = low[n_topics + k] // reduced.class_size[k]
    none = np.zeros(0, np.int64)
    return Levels(level, level, level + np.int32(1), none, none)


@njit(cache=True)
def _class_network(
    reduced: ReducedInstance, owned: OwnedCounts
) -> tuple[Network, Int32, Int32]:
    """Build topic → class arcs that carry what classes own today.

    Returns the network, the supply still unplaced of each node, and the load of each
    node (0 for topics).
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    arcs = reduced.wanted.size
    tail = np.empty(arcs, np.int32)
    head = np.empty(arcs, np.int32)
    flow = np.zeros(arcs, np.int32)
    by_topic = np.zeros(n_topics + 1, np.int64)
    for k in range(n_classes):
        for i in range(reduced.first[k], reduced.first[k + 1]):
            tail[i] = reduced.wanted[i]
            head[i] = n_topics + k
            by_topic[reduced.wanted[i] + 1] += 1
    # Arcs topic by topic, to find the arc of a pair by a look-up table of classes.
    for t in range(n_topics):
        by_topic[t + 1] += by_topic[t]
    free = by_topic[:-1].copy()
    arc_at = np.empty(arcs, np.int64)
    for i in range(arcs):
        arc_at[free[tail[i]]] = i
        free[tail[i]] += 1
    excess = np.zeros(n_topics + n_classes, np.int32)
    load = np.zeros(n_topics + n_classes, np.int32)
    arc_of = np.zeros(n_classes, np.int64)
    for t in range(n_topics):
        for j in range(by_topic[t], by_topic[t + 1]):
            arc_of[head[arc_at[j]] - n_topics] = arc_at[j]
        excess[t] = reduced.supply[t]
        for pair in range(owned.first[t], owned.first[t + 1]):
            k = reduced.member_class[owned.member[pair]]
            flow[arc_of[k]] += owned.amount[pair]
            load[n_topics + k] += owned.amount[pair]
            excess[t] -= owned.amount[pair]
    room = np.full(arcs, FREE, np.int32)
    cost = np.zeros(arcs, np.int8)
    net, _ = network(n_topics + n_classes, tail, head, room, flow, cost)
    return net, excess, load


@njit(cache=True)
def _bound_evenly(
    reduced: ReducedInstance, nodes: Int32, total: int, low: Int32, high: Int32
) -> None:
    """Bound the loads of a block's classes by the mean, rounded down and up."""
    n_topics = reduced.supply.size
    people = 0
    for v in nodes:
        if v >= n_topics:
            people += reduced.class_size[v - n_topics]
    quota, rest = total // people, total % people
    for v in nodes:
        if v >= n_topics:
            low[v] = quota * reduced.class_size[v - n_topics]
            high[v] = low[v] + (reduced.class_size[v - n_topics] if rest > 0 else 0)


@njit(cache=True)
def _cut_block(
    net: Network,
    n_topics: int,
    nodes: Int32,
    excess: Int32,
    load: Int32,
    low: Int32,
    high: Int32,
    side: Bools,
) -> bool:
    """Even a block out as far as it goes; mark one side of the cut in ``side``.

    Returns whether it fell apart.
    """
    left, reached = _even(net, n_topics, nodes, excess, load, high)
    if left:
        for v in nodes:
            side[v] = False
        for v in reached:
            side[v] = True
        return True
    free = 0
    for v in nodes:
        if v >= n_topics:
            free += high[v] - load[v]
    if free == 0:
        return False
    _even(net, n_topics, nodes, excess, load, low)
    return _mark_starving(net, n_topics, nodes, load, low, side)


@njit(cache=True)
def _even(
    net: Network, n_topics: int, nodes: Int32, excess: Int32, load: Int32, bound: Int32
) -> tuple[bool, Int32]:
    """Move what exceeds the bounds to where it is not reached, until no way is left.

    Returns whether something still exceeds, and the nodes that it can reach.
    """
    supply = np.zeros(excess.size, np.int32)
    demand = np.zeros(excess.size, np.int32)
    potential = np.zeros(excess.size, np.int32)
    for v in nodes:
        if v < n_topics:
            supply[v] = excess[v]
            continue
        over = load[v] - bound[v]
        supply[v] = max(over, 0)
        demand[v] = max(-over, 0)
    reached = route(net, nodes, supply, demand, potential)
    left = False
    for v in nodes:
        left |= supply[v] > 0
        if v < n_topics:
            excess[v] = supply[v]
        else:
            load[v] = bound[v] + supply[v] - demand[v]
    return left, reached


@njit(cache=True)
def _mark_starving(
    net: Network, n_topics: int, nodes: Int32, load: Int32, low: Int32, side: Bools
) -> bool:
    """Mark all that could still feed a class below its bound; tell if there is one."""
    queue = np.empty(nodes.size, np.int32)
    end = 0
    for v in nodes:
        side[v] = False
        if v >= n_topics and load[v] < low[v]:
            side[v] = True
            queue[end] = v
            end += 1
    starving = end > 0
    at = 0
    while at < end:
        v = queue[at]
        at += 1
        for a in range(net.first[v], net.first[v + 1]):
            u = net.head[a]
            if net.room[net.twin[a]] > 0 and not side[u]:
                side[u] = True
                queue[end] = u
                end += 1
    return starving


@njit(cache=True)
def _partition(net: Network, nodes: Int32, side: Bools) -> int:
    """Put the marked nodes first, close the arcs between the sides, return the border.

    No arc between the sides carries anything: it would have joined them.
    """
    marked = nodes[side[nodes]]
    others = nodes[~side[nodes]]
    nodes[: marked.size] = marked
    nodes[marked.size :] = others
    for v in nodes:
        for a in range(net.first[v], net.first[v + 1]):
            if side[v] != side[net.head[a]]:
                net.room[a] = 0
    return int(marked.size)
