"""Min-cost flow by shortest paths, several sources and sinks at once.

The primal-dual method: find the least reduced cost D at which some source reaches
room, lower the potentials of all that lies nearer, then fill every path of reduced
cost 0 by blocking flows (Dinic). Started from a flow and potentials that leave no
residual arc of negative reduced cost, it ends at a flow of least cost, and the
potentials prove it. Source: Ahuja, Magnanti, Orlin, *Network Flows*, 1993, §9.7 and
§9.8; distances are small integers, so a bucket a distance replaces the heap (Dial).

With all costs 0 it is a maximum flow, and the nodes it reaches when no room is left
in sight are the source side of a minimum cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

UNSEEN = -1
NO_ENTRY = -1
FREE = np.int32(2**30)  # capacity of an arc without one: above any partition count


class Network(NamedTuple):
    """A residual network, arcs grouped by tail.

    Attributes
    ----------
    first : int64 (N+1,)
        Arcs out of node v are ``first[v]:first[v+1]``.
    head : int32 (A,)
    twin : int32 (A,)
        The arc that undoes this one.
    room : int32 (A,)
        Residual capacity, partitions.
    cost : int8 (A,)
        Of one partition; the twin's is the negative.
    """

    first: Int64
    head: Int32
    twin: Int32
    room: Int32
    cost: Int8


class _Later(NamedTuple):
    """Nodes seen along arcs that cost, a list for each distance.

    An entry is made at most once an arc, so the lists never outgrow the network.
    """

    newest: Int64  # last entry of each distance
    older: Int64  # entry before each entry, of the same distance
    node: Int32  # node of each entry
    tally: Int64  # (2,): entries made, largest distance


@njit(cache=True)
def network(
    n_nodes: int,
    tail: Int32,
    head: Int32,
    room: Int32,
    flow: Int32,
    cost: Int8,
) -> tuple[Network, Int32]:
    """Group arcs by tail, each with its twin.

    Parameters
    ----------
    n_nodes : int
    tail, head : int32 (A,)
    room : int32 (A,)
        What the arc may still take.
    flow : int32 (A,)
        What it carries and may give back.
    cost : int8 (A,)

    Returns
    -------
    Network, int32 (A,)
        With 2 A arcs; and where each given arc stands in it.
    """
    arcs = tail.size
    first = np.zeros(n_nodes + 1, np.int64)
    for a in range(arcs):
        first[tail[a] + 1] += 1
        first[head[a] + 1] += 1
    for v in range(n_nodes):
        first[v + 1] += first[v]
    free = first[:-1].copy()
    heads = np.empty(2 * arcs, np.int32)
    twins = np.empty(2 * arcs, np.int32)
    rooms = np.empty(2 * arcs, np.int32)
    costs = np.empty(2 * arcs, np.int8)
    place = np.empty(arcs, np.int32)
    for a in range(arcs):
        there = free[tail[a]]
        free[tail[a]] += 1
        back = free[head[a]]
        free[head[a]] += 1
        heads[there], heads[back] = head[a], tail[a]
        twins[there], twins[back] = back, there
        rooms[there], rooms[back] = room[a], flow[a]
        costs[there], costs[back] = cost[a], -cost[a]
        place[a] = there
    return Network(first, heads, twins, rooms, costs), place


@njit(cache=True)
def route(
    net: Network, nodes: Int32, supply: Int32, demand: Int32, potential: Int32
) -> Int32:
    """Send as much supply as can reach demand, at least cost; all three change.

    Parameters
    ----------
    net : Network
        Its ``room`` changes. Arcs that leave ``nodes`` must have none.
    nodes : int32
        The nodes that take part.
    supply, demand : int32 (N,)
        What each node still has to send, or still wants; both count down.
    potential : int32 (N,)
        No residual arc may have cost + potential[tail] - potential[head] below 0.

    Returns
    -------
    int32
        The nodes that supply left over can still reach: empty when all was sent.
    """
    n_nodes = net.first.size - 1
    distance = np.full(n_nodes, UNSEEN, np.int32)
    depth = np.full(n_nodes, UNSEEN, np.int32)
    arc = np.zeros(n_nodes, np.int64)
    reached = np.empty(nodes.size, np.int32)
    path = np.empty(nodes.size, np.int32)
    # No path costs more than one a node, and potentials lie as far apart at most.
    later = _Later(
        np.full(2 * nodes.size + 2, NO_ENTRY, np.int64),
        np.empty(net.head.size, np.int64),
        np.empty(net.head.size, np.int32),
        np.zeros(2, np.int64),
    )
    while True:
        n_reached, nearest = _nearest_demand(
            net, nodes, supply, demand, potential, distance, reached, later
        )
        if nearest == UNSEEN:
            return reached[:n_reached]
        for v in reached[:n_reached]:
            potential[v] += distance[v] - nearest
            distance[v] = UNSEEN
        while _layer(net, nodes, supply, demand, potential, depth, arc, reached):
            for i in range(nodes.size):
                if supply[nodes[i]] > 0:
                    _fill(nodes[i], net, supply, demand, potential, depth, arc, path)


@njit(cache=True)
def _nearest_demand(
    net: Network,
    nodes: Int32,
    supply: Int32,
    demand: Int32,
    potential: Int32,
    distance: Int32,
    reached: Int32,
    later: _Later,
) -> tuple[int, int]:
    """Label nodes with their reduced distance from supply, up to the first demand.

    Returns how many nodes were reached, in order of distance, and the distance of
    the nearest demand (`UNSEEN` when none can be reached).
    """
    later.newest[: later.tally[1] + 1] = NO_ENTRY
    later.tally[:] = 0
    end = 0
    for v in nodes:
        if supply[v] > 0:
            distance[v] = 0
            reached[end] = v
            end += 1
    at, current = 0, 0
    while True:
        while at < end:
            v = reached[at]
            at += 1
            if demand[v] > 0:
                return end, current
            end = _look_around(v, net, potential, distance, reached, end, later)
        if current == later.tally[1]:
            return end, UNSEEN
        current += 1
        entry = later.newest[current]
        while entry != NO_ENTRY:
            w = later.node[entry]
            if distance[w] == UNSEEN:
                distance[w] = current
                reached[end] = w
                end += 1
            entry = later.older[entry]


@njit(cache=True)
def _look_around(
    v: int,
    net: Network,
    potential: Int32,
    distance: Int32,
    reached: Int32,
    end: int,
    later: _Later,
) -> int:
    """Label the neighbours that cost nothing; put the others down for later."""
    for a in range(net.first[v], net.first[v + 1]):
        w = net.head[a]
        if net.room[a] == 0 or distance[w] != UNSEEN:
            continue
        length = net.cost[a] + potential[v] - potential[w]
        if length == 0:
            distance[w] = distance[v]
            reached[end] = w
            end += 1
            continue
        there = distance[v] + length
        entry = later.tally[0]
        later.node[entry] = w
        later.older[entry] = later.newest[there]
        later.newest[there] = entry
        later.tally[0] += 1
        later.tally[1] = max(later.tally[1], there)
    return end


@njit(cache=True)
def _layer(
    net: Network,
    nodes: Int32,
    supply: Int32,
    demand: Int32,
    potential: Int32,
    depth: Int32,
    arc: Int64,
    queue: Int32,
) -> bool:
    """Give nodes their least count of cost-free arcs from supply.

    Stops at the layer that holds demand; returns whether there is one. Sets ``arc``
    to the first arc of every numbered node.
    """
    end = 0
    for v in nodes:
        depth[v] = UNSEEN
        if supply[v] > 0:
            depth[v] = 0
            arc[v] = net.first[v]
            queue[end] = v
            end += 1
    last = UNSEEN
    at = 0
    while at < end and (last == UNSEEN or depth[queue[at]] <= last):
        v = queue[at]
        at += 1
        if demand[v] > 0:
            last = depth[v]
            continue
        for a in range(net.first[v], net.first[v + 1]):
            w = net.head[a]
            if depth[w] == UNSEEN and _is_free(a, v, net, potential):
                depth[w] = depth[v] + 1
                arc[w] = net.first[w]
                queue[end] = w
                end += 1
    return last != UNSEEN


@njit(cache=True)
def _is_free(a: int, v: int, net: Network, potential: Int32) -> bool:
    """Tell whether an arc out of v has room and no reduced cost."""
    if net.room[a] == 0:
        return False
    return bool(net.cost[a] + potential[v] == potential[net.head[a]])


@njit(cache=True)
def _fill(
    source: int,
    net: Network,
    supply: Int32,
    demand: Int32,
    potential: Int32,
    depth: Int32,
    arc: Int64,
    path: Int32,
) -> None:
    """Send from one source along cost-free arcs, layer by layer, until it is stuck."""
    length = 0
    v = source
    while True:
        if demand[v] > 0:
            length = _augment(source, v, net, supply, demand, path, length)
            if supply[source] == 0:
                return
            v = source if length == 0 else net.head[path[length - 1]]
            continue
        if _find_onward(v, net, potential, depth, arc):
            path[length] = arc[v]
            length += 1
            v = net.head[arc[v]]
        elif length == 0:
            return
        else:
            depth[v] = UNSEEN
            length -= 1
            v = net.head[net.twin[path[length]]]


@njit(cache=True)
def _augment(
    source: int,
    target: int,
    net: Network,
    supply: Int32,
    demand: Int32,
    path: Int32,
    length: int,
) -> int:
    """Send what the path can carry; return its length up to the first full arc."""
    amount = min(supply[source], demand[target])
    for i in range(length):
        amount = min(amount, net.room[path[i]])
    supply[source] -= amount
    demand[target] -= amount
    whole = length
    for i in range(length - 1, -1, -1):
        net.room[path[i]] -= amount
        net.room[net.twin[path[i]]] += amount
        if net.room[path[i]] == 0:
            whole = i
    return whole


@njit(cache=True)
def _find_onward(
    v: int, net: Network, potential: Int32, depth: Int32, arc: Int64
) -> bool:
    """Move the arc of v to its next free one that leads a layer on, if there is one."""
    while arc[v] < net.first[v + 1]:
        w = net.head[arc[v]]
        if depth[w] == depth[v] + 1 and _is_free(arc[v], v, net, potential):
            return True
        arc[v] += 1
    return False
