"""Dec-min levels of subscription classes, by decomposition.

Take a block of topics and classes with total supply q·|V| + r for its |V| members. If a
flow that gives no member more than q + 1 (q if r = 0) leaves supply unrouted, the
source side of the minimum cut is overloaded: split there. Otherwise, if a flow cannot
give every member q, the sink side of that cut is underloaded: split there. Otherwise,
every load of the block is q or q + 1. Members of one class are interchangeable, so the
flow runs on classes; `solver.exact.weighted_levels` replaces counts by keys where
capacities differ.

Source: Fujishige's decomposition, as in Frank and Murota, *Decreasing minimization on
M-convex sets*, 2022. docs/method.md proves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Bools, Int32, Int64, kernel
from solver.exact.min_cost_flow import (
    UNCAPACITATED,
    FlowProblem,
    Network,
    build_network,
    route_supply,
)
from solver.exact.reduced_instance import (
    OwnedCounts,
    ReducedInstance,
    group_by_key,
    row_of_entry,
)
from solver.exact.weighted_levels import Levels, bound_by_key, levels_of_loads


class _State(NamedTuple):
    """The flow from topics to classes; nodes are the topics, then the classes."""

    net: Network  # topic → class, without costs; arcs between blocks are closed
    n_topics: int
    unrouted: Int32  # supply of each topic that no class has; 0 for classes
    load: Int32  # partitions of each class, all members together; 0 for topics
    low: Int32  # least load of each class in its block
    high: Int32  # largest load
    is_cut_off: Bools  # whether the node is on the side that splits off


@kernel
def dec_min_levels(
    reduced: ReducedInstance, owned: OwnedCounts, capacity: Int64
) -> Levels:
    """Compute the level of every class: its members get level or level + 1 partitions.

    The flow starts from the present owners, so little is to be routed where a group is
    nearly balanced. ``capacity`` is that of a member of each class; empty if all are
    equal.
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    n_nodes = n_topics + n_classes
    net, unrouted, load = _owners_flow(reduced, owned)
    state = _State(
        net,
        n_topics,
        unrouted,
        load,
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.bool_),
    )
    order = np.arange(n_nodes).astype(np.int32)
    blocks = [(0, n_nodes)]  # ranges of ``order``
    while blocks and n_classes > 0:
        start, end = blocks.pop()
        nodes = order[start:end]
        total = (unrouted[nodes] + load[nodes]).sum()
        if capacity.size:
            bound_by_key(reduced, nodes, capacity, total, state.low, state.high)
        else:
            _bound_evenly(reduced, nodes, total, state.low, state.high)
        if _find_cut(state, nodes):
            middle = _split(state, nodes) + start
            blocks.append((start, middle))
            blocks.append((middle, end))
    if capacity.size:
        return levels_of_loads(net, reduced, capacity, load)
    level = state.low[n_topics:] // reduced.class_size
    none = np.zeros(0, np.int64)
    return Levels(level, level, level + np.int32(1), none, none)


@kernel
def _owners_flow(
    reduced: ReducedInstance, owned: OwnedCounts
) -> tuple[Network, Int32, Int32]:
    """Build topic → class arcs that carry the claims of the members of each class.

    Returns the network, the unrouted supply, and the load of each node.
    """
    n_topics, n_classes = reduced.supply.size, reduced.class_size.size
    tail = reduced.wanted
    head = row_of_entry(reduced.first) + np.int32(n_topics)
    flow = np.zeros(tail.size, np.int32)
    first, arcs = group_by_key(reduced.wanted, n_topics)
    unrouted = np.zeros(n_topics + n_classes, np.int32)
    load = np.zeros(n_topics + n_classes, np.int32)
    arc_of = np.zeros(n_classes, np.int64)
    for t in range(n_topics):
        for a in arcs[first[t] : first[t + 1]]:
            arc_of[head[a] - n_topics] = a
        unrouted[t] = reduced.supply[t]
        for pair in range(owned.first[t], owned.first[t + 1]):
            k = reduced.member_class[owned.member[pair]]
            flow[arc_of[k]] += owned.amount[pair]
            load[n_topics + k] += owned.amount[pair]
            unrouted[t] -= owned.amount[pair]
    residual = np.full(tail.size, UNCAPACITATED, np.int32)
    cost = np.zeros(tail.size, np.int8)
    net, _ = build_network(n_topics + n_classes, tail, head, residual, flow, cost)
    return net, unrouted, load


@kernel
def _bound_evenly(
    reduced: ReducedInstance, nodes: Int32, total: int, low: Int32, high: Int32
) -> None:
    """Bound the loads of a block's classes by the mean, rounded down and up."""
    n_topics = reduced.supply.size
    classes = nodes[nodes >= n_topics]
    size = reduced.class_size[classes - n_topics]
    quota, rest = divmod(total, size.sum())
    low[classes] = np.int32(quota) * size
    high[classes] = low[classes] + np.int32(rest > 0) * size


@kernel
def _find_cut(state: _State, nodes: Int32) -> bool:
    """Mark the overloaded, else the underloaded part of a block; return whether any."""
    is_overloaded, reached = _route_within(state, nodes, state.high)
    if is_overloaded:
        state.is_cut_off[nodes] = False
        state.is_cut_off[reached] = True
        return True
    classes = nodes[nodes >= state.n_topics]
    spare = (state.high[classes] - state.load[classes]).sum()
    # If all loads are the largest allowed, none is below the least allowed.
    if spare == 0:
        return False
    _route_within(state, nodes, state.low)
    return _mark_underloaded(state, nodes)


@kernel
def _route_within(state: _State, nodes: Int32, bound: Int32) -> tuple[bool, Int32]:
    """Route unrouted supply, and loads above the bound, to loads below the bound.

    Returns whether some of it remains, and the nodes that it reaches.
    """
    supply = np.zeros(state.load.size, np.int32)
    demand = np.zeros(state.load.size, np.int32)
    potential = np.zeros(state.load.size, np.int32)
    for v in nodes:
        if v < state.n_topics:
            supply[v] = state.unrouted[v]
            continue
        over = state.load[v] - bound[v]
        supply[v] = max(over, 0)
        demand[v] = max(-over, 0)
    reached = route_supply(FlowProblem(state.net, nodes, supply, demand, potential))
    remains = False
    for v in nodes:
        remains |= supply[v] > 0
        if v < state.n_topics:
            state.unrouted[v] = supply[v]
        else:
            state.load[v] = bound[v] + supply[v] - demand[v]
    return remains, reached


@kernel
def _mark_underloaded(state: _State, nodes: Int32) -> bool:
    """Mark the nodes from which a residual path leads to a class below its bound."""
    net = state.net
    queue = np.empty(nodes.size, np.int32)
    end = 0
    for v in nodes:
        state.is_cut_off[v] = False
        if v >= state.n_topics and state.load[v] < state.low[v]:
            state.is_cut_off[v] = True
            queue[end] = v
            end += 1
    is_underloaded = end > 0
    at = 0
    while at < end:
        v = queue[at]
        at += 1
        for a in range(net.first[v], net.first[v + 1]):
            u = net.head[a]
            if net.residual[net.reverse[a]] > 0 and not state.is_cut_off[u]:
                state.is_cut_off[u] = True
                queue[end] = u
                end += 1
    return is_underloaded


@kernel
def _split(state: _State, nodes: Int32) -> int:
    """Put the marked nodes first, close the arcs across the cut; return their number.

    No arc across the cut carries flow: residual arcs would have joined its ends.
    """
    net, is_cut_off = state.net, state.is_cut_off
    marked = nodes[is_cut_off[nodes]]
    others = nodes[~is_cut_off[nodes]]
    nodes[: marked.size] = marked
    nodes[marked.size :] = others
    for v in nodes:
        for a in range(net.first[v], net.first[v + 1]):
            if is_cut_off[v] != is_cut_off[net.head[a]]:
                net.residual[a] = 0
    return int(marked.size)
