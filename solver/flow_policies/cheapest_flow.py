"""Dec-min assignment with the least cost of moves and rack mismatches, and its prices.

On the optimal face, moves and mismatches are sums over partitions, so one min-cost flow
minimizes any weighted sum of them. Its nodes, layer by layer:

- classes of interchangeable partitions (`solver.flow_policies.place_classes`);
- per topic one *hall*, from which all its doors can be entered, at the cost of a
  mismatch;
- per topic and slot (a rack, or none) one *door*, for partitions that match the slot;
- groups of members with equal subscription, load bounds and slot;
- members, and per level a node that takes the loads beyond ``low``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Instance, Int32, Int64, kernel
from solver.exact import OUTSIDE, OptimalFace, shift_prices, take_rows
from solver.flow_policies.move_rack_weights import Weights
from solver.flow_policies.ortools_flow import limited_min_cost_flow
from solver.flow_policies.place_classes import Places, number_rows, place_classes_of
from solver.limits import Limits

MEMBER_LAYERS: Final = 4  # layers of arcs from classes to members


class MemberGroups(NamedTuple):
    """Groups of interchangeable members, and the (topic, slot) doors to each."""

    number: Int64  # (M,): group of each member
    entry_group: Int64  # one entry per group and topic of the face
    entry_topic: Int64
    entry_slot: Int64


class _Arcs(NamedTuple):
    layer: Int64
    tail: Int64
    head: Int64
    capacity: Int64
    cost: Int64


def cheapest_flow(
    instance: Instance,
    places: Places,
    face: OptimalFace,
    weights: Weights,
    limits: Limits,
) -> tuple[Int32, Int64] | None:
    """Minimize a weighted sum on a face; return the assignee column and the prices.

    None if OR-Tools cannot represent the costs. Raises LimitExceededError if a limit is
    reached during the flow.
    """
    network = _RackNetwork(instance, places, face, weights)
    arcs = network.arcs()
    flow = limited_min_cost_flow(np.stack(arcs[1:]), network.supply(), limits)
    if flow.size < arcs.tail.size:
        return None
    distance = _residual_distances(network.end, *arcs[1:], flow)
    price = -distance[network.member : network.level]
    classes = network.classes
    assignee = np.full(instance.n_partitions, NOBODY, np.int32)
    assignee[classes.rows] = _decompose(arcs, flow, classes.number) - network.member
    return assignee, shift_prices(price, face.place)


def member_groups(
    instance: Instance, places: Places, face: OptimalFace
) -> MemberGroups:
    """Group the members, and list the topics that the face lets each group have."""
    columns = instance.member_class, face.low, face.place, places.rack
    number, first = number_rows(*columns)
    offsets, topic = take_rows(
        instance.class_offsets, instance.class_topics, instance.member_class[first]
    )
    group = np.repeat(np.arange(first.size), np.diff(offsets))
    place = face.place[first][group]
    on_face = (place == face.floor[topic]) & (place != OUTSIDE)
    group, topic = group[on_face], topic[on_face].astype(np.int64)
    return MemberGroups(number, group, topic, places.slot[first][group])


class _RackNetwork:
    """Nodes by layer, each layer from its first node on, and the arcs between them."""

    def __init__(
        self, instance: Instance, places: Places, face: OptimalFace, weights: Weights
    ) -> None:
        self.instance, self.places = instance, places
        self.face, self.weights = face, weights
        self.classes = place_classes_of(instance, places)
        self.groups = member_groups(instance, places, face)
        self.topic = instance.partition_topic[self.classes.first].astype(np.int64)
        self.owner = instance.owner[self.classes.first].astype(np.int64)
        n_topics, n_members = len(instance.topics), len(instance.members)
        self.slots = places.racks + 1
        self.hall = self.classes.first.size
        self.door = self.hall + n_topics
        self.group = self.door + n_topics * self.slots
        self.member = self.group + int(self.groups.number.max(initial=-1)) + 1
        self.level = self.member + n_members
        self.end = self.level + face.extra.size

    def supply(self) -> Int64:
        """Return the supply of each node; below 0, its demand."""
        supply = np.zeros(self.end, np.int64)
        supply[: self.hall] = self.classes.amount
        supply[self.member : self.level] = -self.face.low
        supply[self.level :] = -self.face.extra
        return supply

    def arcs(self) -> _Arcs:
        """Return the arcs of all layers."""
        layers = [self._to_owners(), *self._to_doors(), *self._to_members()]
        return _Arcs(*(np.concatenate(column) for column in zip(*layers, strict=True)))

    def _to_owners(self) -> _Arcs:
        """Return class → owner, where the owner is on the face."""
        face, first = self.face, self.classes.first
        on_face = face.place[self.owner] == face.floor[self.topic]
        tail = np.flatnonzero((self.owner != NOBODY) & on_face)
        owner = self.owner[tail]
        cost = self.weights.mismatch * self.places.is_mismatch(first[tail], owner)
        amount = self.classes.amount[tail]
        return _arcs(0, tail, self.member + owner, amount, cost)

    def _to_doors(self) -> list[_Arcs]:
        """Return class → hall, class → matching doors, and hall → doors."""
        first, amount = self.classes.first, self.classes.amount
        every = np.arange(first.size)
        move = self.weights.move * (self.owner != NOBODY)
        to_hall = move + self.weights.mismatch * self.places.known[first]
        found = [_arcs(0, every, self.hall + self.topic, amount, to_hall)]
        for slot in range(self.slots):
            tail = every[self.places.can_match(first, slot)]
            door = self.door + self.topic[tail] * self.slots + slot
            found.append(_arcs(0, tail, door, amount[tail], move[tail]))
        door = np.arange(self.door, self.group)
        hall = self.hall + (door - self.door) // self.slots
        return [*found, self._free_arcs(1, hall, door)]

    def _to_members(self) -> list[_Arcs]:
        """Return door → group → member, and one unit of member → level."""
        face, groups = self.face, self.groups
        door = self.door + groups.entry_topic * self.slots + groups.entry_slot
        member = np.arange(self.member, self.level)
        more = np.flatnonzero(face.high > face.low)
        level = self.level + face.place[more].astype(np.int64)
        one = np.ones(more.size, np.int64)
        return [
            self._free_arcs(2, door, self.group + groups.entry_group),
            self._free_arcs(3, self.group + groups.number, member),
            _arcs(MEMBER_LAYERS, self.member + more, level, one, 0 * one),
        ]

    def _free_arcs(self, layer: int, tail: Int64, head: Int64) -> _Arcs:
        """Return arcs without cost that can carry every partition."""
        capacity = np.full(tail.size, self.instance.n_partitions)
        return _arcs(layer, tail, head, capacity, 0 * capacity)


def _arcs(layer: int, tail: Int64, head: Int64, capacity: Int64, cost: Int64) -> _Arcs:
    columns = np.full(tail.size, layer), tail, head, capacity, cost
    return _Arcs(*(np.asarray(column, np.int64) for column in columns))


@kernel
def _residual_distances(
    n_nodes: int, tail: Int64, head: Int64, capacity: Int64, cost: Int64, flow: Int64
) -> Int64:
    """Return the length of a shortest residual path to each node, from any node.

    A cheapest flow leaves no negative cycle, so Bellman-Ford ends. Sweeps alternate in
    direction, because residual paths follow the order of arcs or reverse it.
    """
    distance = np.zeros(n_nodes, np.int64)
    has_changed = True
    forward = True
    while has_changed:
        has_changed = False
        for i in range(tail.size):
            a = i if forward else tail.size - 1 - i
            u, v = tail[a], head[a]
            if flow[a] < capacity[a] and distance[u] + cost[a] < distance[v]:
                distance[v] = distance[u] + cost[a]
                has_changed = True
            if flow[a] > 0 and distance[v] - cost[a] < distance[u]:
                distance[u] = distance[v] - cost[a]
                has_changed = True
        forward = not forward
    return distance


def _decompose(arcs: _Arcs, flow: Int64, start: Int64) -> Int64:
    """Follow the flow of each partition from its class to a member, in order of rows.

    Of a class of which some stay with their owner, the lowest do.
    """
    node = start.copy()
    for layer in range(MEMBER_LAYERS):
        used = np.flatnonzero((arcs.layer == layer) & (flow > 0))
        used = used[np.argsort(arcs.tail[used], kind="stable")]
        here = np.flatnonzero(np.isin(node, arcs.tail[used]))
        here = here[np.argsort(node[here], kind="stable")]
        node[here] = np.repeat(arcs.head[used], flow[used])
    return node
