"""The cheapest of the balanced assignments in moves and rack mismatches, and prices.

On the face of a certificate of balance every partition may sit on the subscribers of
the least level, and every load is low or high. Moves and mismatches add up over
partitions, so one min-cost flow finds the best. Its nodes, layer by layer: kinds of
partitions; *doors*, one a topic and rack (and one for members without), behind which
no rack matters; one *hall* a topic, which leads to all its doors; groups of members of
one subscription, capacity and rack; members; levels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import Instance
from rebalance.claims import NOBODY, Int32, Int64
from rebalance.instance import ABSENT
from solver.exact import OUTSIDE, OptimalFace
from solver.flow_policies.apart import flow_within
from solver.flow_policies.kinds import Kinds, Places, dense, kinds_of
from solver.flow_policies.levels import Weights
from solver.limits import Limits

_LAYERS = 4  # from kinds to members


class Arcs(NamedTuple):
    """Arcs of one layer or more; ``room`` and ``cost`` of one partition."""

    layer: Int64
    tail: Int64
    head: Int64
    room: Int64
    cost: Int64


class _Nodes(NamedTuple):
    """Where the nodes of each sort start, in order; and how many nodes there are."""

    hall: int
    door: int
    group: int
    member: int
    level: int
    end: int


class Cheapest(NamedTuple):
    """An assignment, and a price a member that proves that none is cheaper."""

    assignee: Int32
    price: Int64


def cheapest(
    instance: Instance, places: Places, face: OptimalFace, weights: Weights, limits: Limits
) -> Cheapest | None:
    """Find the cheapest assignment of a face; None if its costs pass the library's.

    Raises
    ------
    LimitExceededError
        If a limit strikes during the flow.
    """
    kinds = kinds_of(instance, places)
    groups, group_first = dense(
        instance.member_class, face.low, face.place, places.seat
    )
    nodes = _nodes(instance, places, kinds, face, group_first.size)
    layers = [
        _to_owners(instance, places, kinds, face, nodes, weights),
        _to_doors(instance, places, kinds, nodes, weights),
        _to_groups(instance, places, face, nodes, group_first),
        _to_members(instance, face, nodes, groups),
    ]
    arcs = Arcs(*(np.concatenate(column) for column in zip(*layers, strict=True)))
    flow = flow_within(np.stack(arcs[1:]), _supply(face, kinds, nodes), limits)
    if flow.size < arcs.tail.size:
        return None
    distance = _distances(nodes.end, *arcs[1:], flow)
    price = -distance[nodes.member : nodes.level]
    assignee = np.full(instance.n_partitions, NOBODY, np.int32)
    assignee[kinds.rows] = _walked(arcs, flow, kinds.kind) - nodes.member
    return Cheapest(assignee, _from_zero(price, face))


def _nodes(
    instance: Instance, places: Places, kinds: Kinds, face: OptimalFace, groups: int
) -> _Nodes:
    topics = len(instance.topics)
    hall = kinds.first.size
    door = hall + topics
    group = door + topics * (places.racks + 1)
    member = group + groups
    level = member + len(instance.members)
    return _Nodes(hall, door, group, member, level, level + face.extra.size)


def _to_owners(
    instance: Instance,
    places: Places,
    kinds: Kinds,
    face: OptimalFace,
    nodes: _Nodes,
    weights: Weights,
) -> Arcs:
    """Let kinds stay with their owner, if it is on the face."""
    topic = instance.partition_topic[kinds.first]
    owner = instance.owner[kinds.first].astype(np.int64)
    stays = (owner != NOBODY) & (face.place[owner] == face.floor[topic])
    kind = np.flatnonzero(stays)
    owner = owner[kind]
    cost = weights.mismatch * places.is_far(kinds.first[kind], owner)
    return _arcs(0, kind, nodes.member + owner, kinds.amount[kind], cost)


def _to_doors(
    instance: Instance, places: Places, kinds: Kinds, nodes: _Nodes, weights: Weights
) -> Arcs:
    """Let kinds enter near their replicas, or anywhere through the hall."""
    kind = np.arange(kinds.first.size)
    topic = instance.partition_topic[kinds.first].astype(np.int64)
    known, mask = places.known[kinds.first], places.mask[kinds.first]
    moved = weights.move * (instance.owner[kinds.first] != NOBODY)
    into_hall = moved + weights.mismatch * known
    found = [_arcs(0, kind, nodes.hall + topic, kinds.amount, into_hall)]
    doors = nodes.door + topic * (places.racks + 1)
    for slot in range(places.racks + 1):
        near = known & ((slot == places.racks) | ((mask >> slot) & 1 > 0))
        here = kind[near]
        head = doors[here] + slot
        found.append(_arcs(0, here, head, kinds.amount[here], moved[here]))
    topics = np.repeat(np.arange(len(instance.topics)), places.racks + 1)
    every = nodes.door + np.arange(topics.size)
    free = np.full(every.size, instance.n_partitions)
    found.append(_arcs(1, nodes.hall + topics, every, free, 0 * free))
    return Arcs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _to_groups(
    instance: Instance, places: Places, face: OptimalFace, nodes: _Nodes, first: Int64
) -> Arcs:
    """Let doors lead to the groups of their topic and rack that are on the face."""
    of_class = instance.member_class[first]
    starts = instance.class_offsets[of_class]
    lengths = instance.class_offsets[of_class + 1] - starts
    group = np.repeat(np.arange(first.size), lengths)
    before = np.cumsum(lengths) - lengths
    at = np.arange(group.size) + np.repeat(starts - before, lengths)
    topic = instance.class_topics[at].astype(np.int64)
    place = face.place[first][group]
    open_to = (place == face.floor[topic]) & (place != OUTSIDE)
    group, topic = group[open_to], topic[open_to]
    seat = places.seat[first][group]
    slot = np.where(seat == ABSENT, places.racks, seat)
    door = nodes.door + topic * (places.racks + 1) + slot
    free = np.full(group.size, instance.n_partitions)
    return _arcs(2, door, nodes.group + group, free, 0 * free)


def _to_members(instance: Instance, face: OptimalFace, nodes: _Nodes, groups: Int64) -> Arcs:
    """Let groups feed their members, and members one partition beyond their least."""
    member = np.arange(groups.size)
    free = np.full(groups.size, instance.n_partitions)
    fed = _arcs(3, nodes.group + groups, nodes.member + member, free, 0 * free)
    more = np.flatnonzero(face.high > face.low)
    level = nodes.level + face.place[more].astype(np.int64)
    one = np.ones(more.size, np.int64)
    beyond = _arcs(_LAYERS, nodes.member + more, level, one, 0 * one)
    return Arcs(*(np.concatenate(pair) for pair in zip(fed, beyond, strict=True)))


def _arcs(layer: int, tail: Int64, head: Int64, room: Int64, cost: Int64) -> Arcs:
    layers = np.full(tail.size, layer, np.int64)
    return Arcs(layers, *(np.asarray(c, np.int64) for c in (tail, head, room, cost)))


def _supply(face: OptimalFace, kinds: Kinds, nodes: _Nodes) -> Int64:
    """Return what each node has to send, below 0 what it wants."""
    supply = np.zeros(nodes.end, np.int64)
    supply[: nodes.hall] = kinds.amount
    supply[nodes.member : nodes.level] = -face.low
    supply[nodes.level :] = -face.extra
    return supply


@njit(cache=True)
def _distances(
    n_nodes: int, tail: Int64, head: Int64, room: Int64, cost: Int64, flow: Int64
) -> Int64:
    """Return the length of a shortest residual path to each node, from anywhere.

    A cheapest flow leaves no cycle of negative length, so sweeps over the arcs, to and
    fro, come to rest (Bellman, Ford).
    """
    distance = np.zeros(n_nodes, np.int64)
    moved = True
    forth = True
    while moved:
        moved = False
        for i in range(tail.size):
            a = i if forth else tail.size - 1 - i
            u, v = tail[a], head[a]
            if flow[a] < room[a] and distance[u] + cost[a] < distance[v]:
                distance[v] = distance[u] + cost[a]
                moved = True
            if flow[a] > 0 and distance[v] - cost[a] < distance[u]:
                distance[u] = distance[v] - cost[a]
                moved = True
        forth = not forth
    return distance


def _walked(arcs: Arcs, flow: Int64, start: Int64) -> Int64:
    """Lead each partition from its kind to a member, in order of numbers.

    Where some of a kind stay with their owner, the lowest do.
    """
    node = start.copy()
    for layer in range(_LAYERS):
        used = np.flatnonzero((arcs.layer == layer) & (flow > 0))
        used = used[np.argsort(arcs.tail[used], kind="stable")]
        here = np.flatnonzero(np.isin(node, arcs.tail[used]))
        here = here[np.argsort(node[here], kind="stable")]
        node[here] = np.repeat(arcs.head[used], flow[used])
    return node


def _from_zero(price: Int64, face: OptimalFace) -> Int64:
    """Shift the prices of each level so that the least is 0: the bound stays."""
    inside = face.place != OUTSIDE
    least = np.full(face.extra.size, np.iinfo(np.int64).max)
    np.minimum.at(least, face.place[inside], price[inside])
    shifted = np.zeros_like(price)
    shifted[inside] = price[inside] - least[face.place[inside]]
    return shifted
