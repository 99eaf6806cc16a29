"""Min-cost flow with several sources and sinks, by the primal-dual method.

Repeat: compute shortest reduced distances from the nodes with supply up to the nearest
demand, shift the potentials by them, then saturate all paths of reduced cost 0 by
blocking flows (Dinic). Started from a flow and potentials without a residual arc of
negative reduced cost, it ends at a flow of least cost, which the potentials prove.
Source: Ahuja, Magnanti, Orlin, *Network Flows*, 1993, §9.7 and §9.8. Distances are
small integers, so one bucket per distance replaces the heap (Dial, 1969).

If all costs are 0, the result is a maximum flow, and the nodes that the remaining
supply reaches are the source side of a minimum cut.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebalance import Int32, Int64, borrowing_kernel, kernel

Int8 = NDArray[np.int8]

UNREACHED: Final = -1
UNFINISHED: Final = -2
NO_ENTRY: Final = -1
UNCAPACITATED: Final = np.int32(2**30)
"""Capacity of an arc without one. Not `UNBOUNDED`: a residual capacity is this plus the
flow that the arc gives back, fewer than 2^30 partitions, and must stay an int32."""


FORWARD: Final = 0
BACKWARD: Final = 1
_SIDE, _LIMIT, _SCANNED, _PROBE = range(4)
"""The state of a search: side, limit of scanned arcs, arcs scanned by the last one that
ended, and the phase that tries the other side."""
UNLIMITED: Final = np.iinfo(np.int64).max
FIRST_PROBE: Final = 4
"""Phases 4, 8, 16, and so on try the other side."""
PROBED: Final = 8
"""They may scan this part of the nodes that the side in use has scanned."""
SUSPICIOUS: Final = 4
LEAST_LIMIT: Final = 10_000
"""A side that scans so many times as much as before, and so many arcs more, makes the
other be tried."""


class Network(NamedTuple):
    """A residual network with N nodes and A arcs, grouped by tail."""

    first: Int64  # (N+1,): arcs out of node v are first[v]:first[v+1]
    head: Int32
    reverse: Int32  # the arc in the opposite direction
    residual: Int32  # residual capacity, in partitions
    cost: Int8  # per partition; the reverse arc has the negative


class FlowProblem(NamedTuple):
    """A network, and the amounts that its nodes have still to send and to receive."""

    net: Network
    nodes: Int32  # that take part; arcs to others have no residual capacity
    supply: Int32  # (N,)
    demand: Int32  # (N,)
    potential: Int32  # (N,): cost + potential[tail] >= potential[head] if residual > 0


class _Buckets(NamedTuple):
    """Nodes found at a distance greater than the current one, one list per distance.

    Each arc makes at most one entry, so the lists never outgrow the network.
    """

    last: Int64  # last entry of each distance
    previous: Int64  # entry before each entry, of the same distance
    node: Int32  # node of each entry
    tally: Int64  # (2,): entries made, largest distance


@kernel
def build_network(
    n_nodes: int, tail: Int32, head: Int32, residual: Int32, flow: Int32, cost: Int8
) -> tuple[Network, Int32]:
    """Group arcs by tail, and add the reverse of each, which can carry its flow back.

    Also returns the position of each given arc in the network.
    """
    arcs = tail.size
    first = np.zeros(n_nodes + 1, np.int64)
    for a in range(arcs):
        first[tail[a] + 1] += 1
        first[head[a] + 1] += 1
    first = np.cumsum(first)
    free = first[:-1].copy()
    heads = np.empty(2 * arcs, np.int32)
    reverses = np.empty(2 * arcs, np.int32)
    residuals = np.empty(2 * arcs, np.int32)
    costs = np.empty(2 * arcs, np.int8)
    position = np.empty(arcs, np.int32)
    for a in range(arcs):
        forward = free[tail[a]]
        free[tail[a]] += 1
        back = free[head[a]]
        free[head[a]] += 1
        heads[forward], heads[back] = head[a], tail[a]
        reverses[forward], reverses[back] = back, forward
        residuals[forward], residuals[back] = residual[a], flow[a]
        costs[forward], costs[back] = cost[a], -cost[a]
        position[a] = forward
    return Network(first, heads, reverses, residuals, costs), position


@kernel
def route_supply(problem: FlowProblem) -> Int32:
    """Send as much supply as can reach demand, at least cost.

    ``net.residual``, ``supply``, ``demand`` and ``potential`` change. Returns the nodes
    that the remaining supply reaches: empty if all was sent.
    """
    return route_from_sides(problem, FIRST_PROBE, PROBED, LEAST_LIMIT)


@kernel
def route_from_sides(
    problem: FlowProblem, first_probe: int, probed: int, least_limit: int
) -> Int32:
    """Do so with other rules of when a search begins at the other side.

    The result is equally good; ties can differ, and prices.
    """
    net, nodes, supply, _, potential = problem
    n_nodes = net.first.size - 1
    distance = np.full(n_nodes, UNREACHED, np.int32)
    depth = np.full(n_nodes, UNREACHED, np.int32)
    current_arc = np.zeros(n_nodes, np.int64)
    reached = np.empty(nodes.size, np.int32)
    path = np.empty(nodes.size, np.int32)
    # Costs are -1, 0 and 1, so a simple path costs less than the number of nodes. So do
    # all shifts of potentials together: reduced distances stay below three times that.
    buckets = _Buckets(
        np.full(3 * nodes.size + 3, NO_ENTRY, np.int64),
        np.empty(net.head.size, np.int64),
        np.empty(net.head.size, np.int32),
        np.zeros(2, np.int64),
    )
    search = np.array([FORWARD, UNLIMITED, 0, first_probe], np.int64)
    phase = 0
    while True:
        phase += 1
        limit = SUSPICIOUS * search[_SCANNED] + least_limit
        limits = (search[_SCANNED] // probed, limit if phase > 1 else UNLIMITED)
        is_probe = phase == search[_PROBE]
        n_reached, nearest = _nearest(
            problem, is_probe, limits, search, distance, reached, buckets
        )
        if nearest == UNREACHED:
            return reached[:n_reached]
        # Nodes farther than the nearest keep their potential.
        sign = 1 if search[_SIDE] == FORWARD else -1
        for v in reached[:n_reached]:
            potential[v] += sign * (distance[v] - nearest)
            distance[v] = UNREACHED
        while _build_layers(problem, depth, current_arc, reached):
            for i in range(nodes.size):
                if supply[nodes[i]] > 0:
                    _send_from(nodes[i], problem, depth, current_arc, path)


@kernel
def _nearest(
    problem: FlowProblem,
    is_probe: bool,
    limits: tuple[int, int],
    search: Int64,
    distance: Int32,
    reached: Int32,
    buckets: _Buckets,
) -> tuple[int, int]:
    """Search from the side that has less to scan, as far as that is known.

    ``search`` has the side that was searched from last, and how many arcs it scanned.
    Where that side scans far more than before, and now and then, the other is tried
    with a limit. Only a search from supply finds the nodes that supply reaches.

    Returns the number of nodes reached, and the distance of the nearest or `UNREACHED`.
    """
    side = search[_SIDE]
    if is_probe:
        search[_PROBE] *= 2
        sides, most = (1 - side, side, side), (limits[0], UNLIMITED, UNLIMITED)
    else:
        sides, most = (side, 1 - side, side), (limits[1], limits[1], UNLIMITED)
    for trial in range(3):
        search[_SIDE], search[_LIMIT] = sides[trial], most[trial]
        end, nearest = _search(problem, search, distance, reached, buckets)
        if nearest >= 0 or (nearest == UNREACHED and sides[trial] == FORWARD):
            return end, nearest
        distance[reached[:end]] = UNREACHED
        if nearest == UNREACHED:
            break
    search[_SIDE], search[_LIMIT] = FORWARD, UNLIMITED
    return _search(problem, search, distance, reached, buckets)


@kernel
def _search(
    problem: FlowProblem,
    search: Int64,
    distance: Int32,
    reached: Int32,
    buckets: _Buckets,
) -> tuple[int, int]:
    """Label nodes with their reduced distance from supply, up to the first demand.

    Backward, with their distance to demand, up to the first supply. Returns the number
    of nodes reached, in order of distance, and the distance of the nearest; `UNREACHED`
    if there is none, `UNFINISHED` where the limit of scanned arcs is exceeded.
    """
    net, nodes, supply, demand, potential = problem
    is_forward = search[_SIDE] == FORWARD
    begins, ends = (supply, demand) if is_forward else (demand, supply)
    buckets.last[: buckets.tally[1] + 1] = NO_ENTRY
    buckets.tally[:] = 0
    end, scanned = _label_begins(nodes, begins, distance, reached), 0
    if not (is_forward or (supply[nodes] > 0).any()):
        return end, UNREACHED
    at, current = 0, 0
    while True:
        # Arcs of length 0 extend the current distance, so it is exhausted first.
        while at < end:
            v = reached[at]
            at += 1
            if ends[v] > 0:
                search[_SCANNED] = scanned
                return end, current
            scanned += net.first[v + 1] - net.first[v]
            if scanned > search[_LIMIT]:
                return end, UNFINISHED
            if is_forward:
                end = _relax_out(v, net, potential, distance, reached, end, buckets)
            else:
                end = _relax_in(v, net, potential, distance, reached, end, buckets)
        if current == buckets.tally[1]:
            search[_SCANNED] = scanned
            return end, UNREACHED
        # An entry is stale if its node was reached at a smaller distance meanwhile.
        current += 1
        entry = buckets.last[current]
        while entry != NO_ENTRY:
            w = buckets.node[entry]
            if distance[w] == UNREACHED:
                distance[w] = current
                reached[end] = w
                end += 1
            entry = buckets.previous[entry]


@borrowing_kernel
def _label_begins(nodes: Int32, begins: Int32, distance: Int32, reached: Int32) -> int:
    """Label the nodes where a search begins; return their number."""
    end = 0
    for v in nodes:
        if begins[v] > 0:
            distance[v] = 0
            reached[end] = v
            end += 1
    return end


@borrowing_kernel
def _relax_out(
    v: int,
    net: Network,
    potential: Int32,
    distance: Int32,
    reached: Int32,
    end: int,
    buckets: _Buckets,
) -> int:
    """Label heads of arcs out of v at distance 0; put the others into their buckets."""
    for a in range(net.first[v], net.first[v + 1]):
        w = net.head[a]
        if net.residual[a] == 0 or distance[w] != UNREACHED:
            continue
        length = net.cost[a] + potential[v] - potential[w]
        if length == 0:
            distance[w] = distance[v]
            reached[end] = w
            end += 1
        else:
            _put(w, distance[v] + length, buckets)
    return end


@borrowing_kernel
def _relax_in(
    v: int,
    net: Network,
    potential: Int32,
    distance: Int32,
    reached: Int32,
    end: int,
    buckets: _Buckets,
) -> int:
    """Do so with the tails of arcs into v, which are the reverse ones of those out."""
    for a in range(net.first[v], net.first[v + 1]):
        w = net.head[a]
        if distance[w] != UNREACHED or net.residual[net.reverse[a]] == 0:
            continue
        length = potential[w] - potential[v] - net.cost[a]
        if length == 0:
            distance[w] = distance[v]
            reached[end] = w
            end += 1
        else:
            _put(w, distance[v] + length, buckets)
    return end


@borrowing_kernel
def _put(w: int, distance: int, buckets: _Buckets) -> None:
    """Put a node into the bucket of a distance."""
    entry = buckets.tally[0]
    buckets.node[entry] = w
    buckets.previous[entry] = buckets.last[distance]
    buckets.last[distance] = entry
    buckets.tally[0] += 1
    buckets.tally[1] = max(buckets.tally[1], distance)


@borrowing_kernel
def _build_layers(
    problem: FlowProblem, depth: Int32, current_arc: Int64, queue: Int32
) -> bool:
    """Build the layered network: the least number of admissible arcs from supply.

    Stops at the layer that contains demand; returns whether there is one. Resets
    ``current_arc`` to the first arc of every node reached.
    """
    net, nodes, supply, demand, potential = problem
    end = 0
    for v in nodes:
        depth[v] = UNREACHED
        if supply[v] > 0:
            depth[v] = 0
            current_arc[v] = net.first[v]
            queue[end] = v
            end += 1
    last = UNREACHED
    at = 0
    while at < end and (last == UNREACHED or depth[queue[at]] <= last):
        v = queue[at]
        at += 1
        if demand[v] > 0:
            last = depth[v]
            continue
        for a in range(net.first[v], net.first[v + 1]):
            w = net.head[a]
            if depth[w] == UNREACHED and _is_admissible(a, v, net, potential):
                depth[w] = depth[v] + 1
                current_arc[w] = net.first[w]
                queue[end] = w
                end += 1
    return last != UNREACHED


@borrowing_kernel
def _is_admissible(a: int, v: int, net: Network, potential: Int32) -> bool:
    """Return whether an arc out of v has residual capacity and reduced cost 0."""
    if net.residual[a] == 0:
        return False
    return bool(net.cost[a] + potential[v] == potential[net.head[a]])


@borrowing_kernel
def _send_from(
    source: int, problem: FlowProblem, depth: Int32, current_arc: Int64, path: Int32
) -> None:
    """Send from one source through the layered network until no path is left.

    Depth-first search; a node without a way onward leaves the layered network.
    """
    net, _, supply, demand, potential = problem
    length = 0
    v = source
    while True:
        if demand[v] > 0:
            length = _augment(source, v, problem, path, length)
            if supply[source] == 0:
                return
            v = source if length == 0 else net.head[path[length - 1]]
            continue
        # Advance the current arc to the next admissible one into the next layer.
        a, end = current_arc[v], net.first[v + 1]
        while a < end and not (
            depth[net.head[a]] == depth[v] + 1 and _is_admissible(a, v, net, potential)
        ):
            a += 1
        current_arc[v] = a
        if a < end:
            path[length] = a
            length += 1
            v = net.head[a]
        elif length == 0:
            return
        else:
            depth[v] = UNREACHED
            length -= 1
            v = net.head[net.reverse[path[length]]]


@borrowing_kernel
def _augment(
    source: int, target: int, problem: FlowProblem, path: Int32, length: int
) -> int:
    """Send the path's capacity; return its length up to the first full arc."""
    net, _, supply, demand, _ = problem
    amount = min(supply[source], demand[target])
    for i in range(length):
        amount = min(amount, net.residual[path[i]])
    supply[source] -= amount
    demand[target] -= amount
    unsaturated = length
    for i in range(length - 1, -1, -1):
        net.residual[path[i]] -= amount
        net.residual[net.reverse[path[i]]] += amount
        if net.residual[path[i]] == 0:
            unsaturated = i
    return unsaturated
