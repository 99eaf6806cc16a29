"""Stickiest dec-min assignment, as one min-cost flow on the optimal face, with prices.

On the optimal face a partition is assigned to a subscriber of its topic whose level is
lowest, and every load is low or high, at most one apart. The flow starts with every
owned partition at its owner, which keeps as much as possible, and then sends along
cheapest paths the partitions that the load bounds do not allow to stay: its work grows
with the moves, not with the owned partitions. docs/method.md proves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Int32, Int64, borrowing_kernel, kernel
from solver.constants import UNBOUNDED
from solver.exact.min_cost_flow import (
    UNCAPACITATED,
    FlowProblem,
    Int8,
    build_network,
    route_supply,
)
from solver.exact.reduced_instance import OUTSIDE, OwnedCounts, ReducedInstance
from solver.exact.weighted_levels import Levels


class Plan(NamedTuple):
    """How many partitions of which topic each member gets, and the prices."""

    kept: Int32  # per pair of `OwnedCounts`: owned partitions that stay
    to_class: Int32  # per entry of `ReducedInstance.wanted`: partitions received
    to_member: Int32  # (M,): partitions received through the member's class
    price: Int32  # (M,): of the certificate, up to a constant per level


class _FaceNetwork(NamedTuple):
    """The network under construction: a list of arcs, and the supplies of nodes.

    Nodes: topics, classes, members, levels. Arcs, in this order: topic → owner, with
    cost -1 and as many units as it owns; topic → class and class → member, without
    capacity; member → level, one unit where high is above low. Arcs off the face have
    no residual capacity.
    """

    tail: Int32
    head: Int32
    residual: Int32
    flow: Int32
    cost: Int8
    supply: Int32
    demand: Int32
    load: Int32  # owned partitions at each member


@kernel
def stickiest(reduced: ReducedInstance, owned: OwnedCounts, levels: Levels) -> Plan:
    """Compute the plan that keeps the most, and its prices."""
    level = levels.place
    n_pairs, n_entries = owned.member.size, reduced.wanted.size
    n_members = reduced.member_class.size
    distinct = np.unique(level)
    first_member = reduced.supply.size + level.size
    n_nodes = first_member + n_members + distinct.size
    n_arcs = n_pairs + n_entries + 2 * n_members
    face = _FaceNetwork(
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int8),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_members, np.int32),
    )
    floor = _topic_floors(reduced, level)
    _add_owner_arcs(face, reduced, owned, level, floor)
    _add_class_arcs(face, reduced, level, floor, n_pairs)
    _add_load_bounds(face, reduced, levels, floor, n_pairs + n_entries)
    net, position = build_network(
        n_nodes, face.tail, face.head, face.residual, face.flow, face.cost
    )
    # All owner arcs are full, so no residual arc has a negative cost: zero potentials
    # are feasible.
    potential = np.zeros(n_nodes, np.int32)
    nodes = np.arange(n_nodes).astype(np.int32)
    route_supply(FlowProblem(net, nodes, face.supply, face.demand, potential))
    flow = net.residual[net.reverse[position]]
    return Plan(
        flow[:n_pairs].copy(),
        flow[n_pairs : n_pairs + n_entries].copy(),
        flow[n_pairs + n_entries : n_pairs + n_entries + n_members].copy(),
        -potential[first_member : first_member + n_members],
    )


@kernel
def _topic_floors(reduced: ReducedInstance, level: Int32) -> Int32:
    """Return the lowest level among the subscribers of each topic."""
    floor = np.full(reduced.supply.size, UNBOUNDED, np.int32)
    for k in range(level.size):
        for t in reduced.wanted[reduced.first[k] : reduced.first[k + 1]]:
            floor[t] = min(floor[t], level[k])
    return floor


@borrowing_kernel
def _add_owner_arcs(
    face: _FaceNetwork,
    reduced: ReducedInstance,
    owned: OwnedCounts,
    level: Int32,
    floor: Int32,
) -> None:
    """Add topic → owner, with the owned partitions on the face; the rest is supply."""
    first_member = reduced.supply.size + level.size
    for t in range(reduced.supply.size):
        face.supply[t] = reduced.supply[t]
        for pair in range(owned.first[t], owned.first[t + 1]):
            m = owned.member[pair]
            face.tail[pair], face.head[pair] = t, first_member + m
            face.cost[pair] = -1
            if level[reduced.member_class[m]] == floor[t]:
                face.flow[pair] = owned.amount[pair]
                face.load[m] += owned.amount[pair]
                face.supply[t] -= owned.amount[pair]


@borrowing_kernel
def _add_class_arcs(
    face: _FaceNetwork, reduced: ReducedInstance, level: Int32, floor: Int32, start: int
) -> None:
    """Add topic → class from arc ``start`` on."""
    n_topics = reduced.supply.size
    for k in range(level.size):
        for i in range(reduced.first[k], reduced.first[k + 1]):
            t = reduced.wanted[i]
            face.tail[start + i], face.head[start + i] = t, n_topics + k
            if level[k] == floor[t]:
                face.residual[start + i] = UNCAPACITATED


@kernel
def _add_load_bounds(
    face: _FaceNetwork,
    reduced: ReducedInstance,
    levels: Levels,
    floor: Int32,
    start: int,
) -> None:
    """Add class → member and member → level from arc ``start`` on, and their demands.

    A member whose owned partitions exceed ``high`` supplies the excess; one below
    ``low`` demands the difference; in between, it occupies its arc to the level.
    """
    level = levels.place
    n_topics, n_members = reduced.supply.size, face.load.size
    first_member = n_topics + level.size
    first_level = first_member + n_members
    distinct = np.unique(level)
    extra = _members_at_high(reduced, levels, floor, distinct)
    for m in range(n_members):
        k = reduced.member_class[m]
        if k == OUTSIDE:
            continue
        c, rank = first_member + m, np.searchsorted(distinct, level[k])
        a, b = start + m, start + n_members + m
        face.tail[a], face.head[a], face.residual[a] = n_topics + k, c, UNCAPACITATED
        face.tail[b], face.head[b] = c, first_level + rank
        beyond, one = face.load[m] - levels.low[k], levels.high[k] - levels.low[k]
        face.demand[c] = max(-beyond, 0)
        face.supply[c] = max(beyond - one, 0)
        face.flow[b] = one if beyond > 0 else 0
        face.residual[b] = one - face.flow[b]
        extra[rank] -= face.flow[b]
    for i in range(distinct.size):
        face.demand[first_level + i] = max(extra[i], 0)
        face.supply[first_level + i] = max(-extra[i], 0)


@kernel
def _members_at_high(
    reduced: ReducedInstance, levels: Levels, floor: Int32, distinct: Int32
) -> Int64:
    """Count for each level the members with ``high``: its partitions beyond ``low``."""
    level = levels.place
    extra = np.zeros(distinct.size, np.int64)
    for t in range(floor.size):
        extra[np.searchsorted(distinct, floor[t])] += reduced.supply[t]
    for k in range(level.size):
        least = np.int64(levels.low[k]) * reduced.class_size[k]
        extra[np.searchsorted(distinct, level[k])] -= least
    return extra
