"""The stickiest of the balanced assignments, and prices that prove it.

Levels make the optimal face explicit: a partition may sit on those subscribers of its
topic whose level is least, and every load is low or high, at most one apart. One
min-cost flow
finds the point of it that keeps the most. It starts with every owned partition on its
owner, which keeps all there is to keep, and moves what balance demands: so its work
grows with what must move, not with what is owned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solver.exact.min_cost_flow import FREE, Int8, Int32, Int64, network, route
from solver.exact.owned_counts import OwnedCounts
from solver.exact.reduced_instance import OUTSIDE, ReducedInstance
from solver.exact.weighted_levels import Levels


class Plan(NamedTuple):
    """The answer on (topic, member), before real partition numbers.

    Attributes
    ----------
    kept : int32, one a pair of `OwnedCounts`
        How many of the owned partitions stay.
    to_class : int32, one an entry of `ReducedInstance.wanted`
        How many other partitions of the topic the class receives.
    to_member : int32 (M,)
        How many partitions the member receives through its class.
    price : int32 (M,)
        Of the certificate; 0 for members outside.
    """

    kept: Int32
    to_class: Int32
    to_member: Int32
    price: Int32


class _Face(NamedTuple):
    """The network while it is built: arcs in a list, what nodes have and want.

    Nodes: topics, classes, members, levels. Arcs, in this order: topic → owner of
    cost -1, one a pair, with as many units as it owns; topic → class and class →
    member without limit; member → level with one unit where high is above low. Off
    the face an arc has no room.
    """

    tail: Int32
    head: Int32
    room: Int32
    flow: Int32
    cost: Int8
    supply: Int32
    demand: Int32
    load: Int32  # kept by each member so far


@njit(cache=True)
def stickiest(reduced: ReducedInstance, owned: OwnedCounts, levels: Levels) -> Plan:
    """Find the plan that keeps the most, and its prices."""
    level = levels.place
    n_pairs, n_entries = owned.member.size, reduced.wanted.size
    n_members = reduced.member_class.size
    distinct = np.unique(level)
    first_member = reduced.supply.size + level.size
    n_nodes = first_member + n_members + distinct.size
    face = _blank_face(n_pairs + n_entries + 2 * n_members, n_nodes, n_members)
    floor = _least_level(reduced, level)
    _load_owners(face, reduced, owned, level, floor)
    _open_classes(face, reduced, level, floor, n_pairs)
    _bound_loads(face, reduced, levels, floor, n_pairs + n_entries)
    net, place = network(n_nodes, face.tail, face.head, face.room, face.flow, face.cost)
    potential = np.zeros(n_nodes, np.int32)
    nodes = np.arange(n_nodes).astype(np.int32)
    route(net, nodes, face.supply, face.demand, potential)
    carried = net.room[net.twin[place]]
    price = -potential[first_member : first_member + n_members]
    return Plan(
        carried[:n_pairs].copy(),
        carried[n_pairs : n_pairs + n_entries].copy(),
        carried[n_pairs + n_entries : n_pairs + n_entries + n_members].copy(),
        _from_zero(price, reduced, level),
    )


@njit(cache=True)
def _blank_face(n_arcs: int, n_nodes: int, n_members: int) -> _Face:
    return _Face(
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int32),
        np.zeros(n_arcs, np.int8),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_nodes, np.int32),
        np.zeros(n_members, np.int32),
    )


@njit(cache=True)
def _least_level(reduced: ReducedInstance, level: Int32) -> Int32:
    """Find the least level among the subscribers of each topic."""
    floor = np.full(reduced.supply.size, FREE, np.int32)
    for k in range(level.size):
        for t in reduced.wanted[reduced.first[k] : reduced.first[k + 1]]:
            floor[t] = min(floor[t], level[k])
    return floor


@njit(cache=True)
def _load_owners(
    face: _Face,
    reduced: ReducedInstance,
    owned: OwnedCounts,
    level: Int32,
    floor: Int32,
) -> None:
    """Put every owned partition of the face on its owner; the others are supply."""
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


@njit(cache=True)
def _open_classes(
    face: _Face, reduced: ReducedInstance, level: Int32, floor: Int32, start: int
) -> None:
    """Let topics reach the classes of the face, from arc ``start`` on."""
    n_topics = reduced.supply.size
    for k in range(level.size):
        for i in range(reduced.first[k], reduced.first[k + 1]):
            t = reduced.wanted[i]
            face.tail[start + i], face.head[start + i] = t, n_topics + k
            if level[k] == floor[t]:
                face.room[start + i] = FREE


@njit(cache=True)
def _bound_loads(
    face: _Face, reduced: ReducedInstance, levels: Levels, floor: Int32, start: int
) -> None:
    """Let classes reach members, and members one partition beyond their least."""
    level = levels.place
    n_topics, n_members = reduced.supply.size, face.load.size
    first_member = n_topics + level.size
    first_level = first_member + n_members
    distinct = np.unique(level)
    spare = _spare_of(reduced, levels, floor, distinct)
    for m in range(n_members):
        k = reduced.member_class[m]
        if k == OUTSIDE:
            continue
        c, rank = first_member + m, np.searchsorted(distinct, level[k])
        a, b = start + m, start + n_members + m
        face.tail[a], face.head[a], face.room[a] = n_topics + k, c, FREE
        face.tail[b], face.head[b] = c, first_level + rank
        beyond, more = face.load[m] - levels.low[k], levels.high[k] - levels.low[k]
        face.demand[c] = max(-beyond, 0)
        face.supply[c] = max(beyond - more, 0)
        face.flow[b] = more if beyond > 0 else 0
        face.room[b] = more - face.flow[b]
        spare[rank] -= face.flow[b]
    for i in range(distinct.size):
        face.demand[first_level + i] = max(spare[i], 0)
        face.supply[first_level + i] = max(-spare[i], 0)


@njit(cache=True)
def _spare_of(
    reduced: ReducedInstance, levels: Levels, floor: Int32, distinct: Int32
) -> Int64:
    """Count for each level the members that get one more than their least."""
    level = levels.place
    spare = np.zeros(distinct.size, np.int64)
    for t in range(floor.size):
        spare[np.searchsorted(distinct, floor[t])] += reduced.supply[t]
    for k in range(level.size):
        held = np.int64(levels.low[k]) * reduced.class_size[k]
        spare[np.searchsorted(distinct, level[k])] -= held
    return spare


@njit(cache=True)
def _from_zero(price: Int32, reduced: ReducedInstance, level: Int32) -> Int32:
    """Shift the prices of each level so that the least is 0: the bound stays.

    Members outside have level 0; price 0 keeps them out of the largest there.
    """
    least = np.full(level.max() + 1 if level.size else 1, FREE, np.int32)
    for m in range(price.size):
        k = reduced.member_class[m]
        if k != OUTSIDE:
            least[level[k]] = min(least[level[k]], price[m])
    for m in range(price.size):
        k = reduced.member_class[m]
        if k != OUTSIDE:
            price[m] -= least[level[k]]
    return price
