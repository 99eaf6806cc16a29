"""Flows of least cost from either side, against augmenting paths by Bellman and Ford.

Reaches into `solver.exact.min_cost_flow`: small networks never need a search from the
other side.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.core_instances import spine_and_block
from solver import Status, solve
from solver.exact.min_cost_flow import (
    FIRST_PROBE,
    LEAST_LIMIT,
    PROBED,
    FlowProblem,
    build_network,
    route_from_sides,
)
from tests.support.amount import INSTANCES, seeds

RULES = {
    "as it is": (FIRST_PROBE, PROBED, LEAST_LIMIT),
    "probed at once": (2, 1, LEAST_LIMIT),
    "suspected soon": (2**30, 1, -50),
    "both": (2, 1, -50),
}


class Drawn(NamedTuple):
    """Arcs as (tail, head, residual, flow, cost), and what nodes send and receive."""

    arcs: list[tuple[int, int, int, int, int]]
    supply: list[int]
    demand: list[int]


def drawn(rng: Random) -> Drawn:
    """Draw a network without residual arcs of negative cost."""
    nodes = rng.randint(2, 12)
    arcs = []
    for _ in range(rng.randint(1, 4 * nodes)):
        tail, head = rng.sample(range(nodes), 2)
        amount, cost = rng.randint(0, 3), rng.choice((-1, 0, 0, 1))
        back = rng.randint(0, 2) if cost == 0 else 0
        arcs.append(
            (tail, head, 0, amount, -1)
            if cost < 0
            else (tail, head, amount, back, cost)
        )
    ends = [rng.choice((0, 0, -2, -1, 1, 2)) for _ in range(nodes)]
    return Drawn(arcs, [max(n, 0) for n in ends], [max(-n, 0) for n in ends])


def by_paths(network: Drawn) -> tuple[int, int]:
    """Return the most that can be sent, and the least cost of it."""
    residual: dict[tuple[int, int], int] = {}  # (arc, direction) -> amount
    for place, (_, _, amount, flow, _) in enumerate(network.arcs):
        residual[place, 1], residual[place, -1] = amount, flow
    supply, demand = [*network.supply], [*network.demand]
    sent = cost = 0
    while True:
        far = float("inf")
        length = [0 if n > 0 else far for n in supply]
        last: list[tuple[int, int] | None] = [None] * len(supply)
        for _ in supply:
            for (place, way), left in residual.items():
                tail, head, _, _, price = network.arcs[place]
                start, end = (tail, head) if way > 0 else (head, tail)
                if left and length[start] + way * price < length[end]:
                    length[end] = length[start] + way * price
                    last[end] = (place, way)
        targets = [v for v, n in enumerate(demand) if n and length[v] < far]
        if not targets:
            return sent, cost
        target = v = min(targets, key=lambda v: length[v])
        while (step := last[v]) is not None:
            residual[step] -= 1
            residual[step[0], -step[1]] += 1
            cost += step[1] * network.arcs[step[0]][4]
            v = network.arcs[step[0]][0 if step[1] > 0 else 1]
        supply[v] -= 1
        demand[target] -= 1
        sent += 1


def routed(network: Drawn, rules: tuple[int, int, int]) -> tuple[int, int, bool]:
    """Return what is sent, at which cost, and whether a search went backward.

    Checks that potentials prove the cost, and that the remaining supply reaches what it
    is said to reach.
    """
    columns = [*zip(*network.arcs, strict=True)]
    tail, head, residual, flow = (np.array(column, np.int32) for column in columns[:4])
    cost = np.array(columns[4], np.int8)
    n_nodes = len(network.supply)
    net, position = build_network(n_nodes, tail, head, residual, flow, cost)
    supply = np.array(network.supply, np.int32)
    demand = np.array(network.demand, np.int32)
    potential = np.zeros(n_nodes, np.int32)
    nodes = np.arange(n_nodes, dtype=np.int32)
    problem = FlowProblem(net, nodes, supply, demand, potential)
    reached = set(route_from_sides(problem, *rules).tolist())
    left = net.residual[position]
    back = net.residual[net.reverse[position]]
    assert (left + back == residual + flow).all()
    assert min(left.min(), back.min(), supply.min(), demand.min()) >= 0
    balance = np.array(network.supply) - supply - np.array(network.demand) + demand
    np.add.at(balance, head, back - flow)
    np.add.at(balance, tail, flow - back)
    assert not balance.any()
    reduced = cost + potential[tail] - potential[head]
    assert (reduced[left > 0] >= 0).all()
    assert (reduced[back > 0] <= 0).all()
    known = set(np.flatnonzero(supply).tolist())
    while (
        more := {
            *head[np.isin(tail, [*known]) & (left > 0)].tolist(),
            *tail[np.isin(head, [*known]) & (back > 0)].tolist(),
        }
        - known
    ):
        known |= more
    assert reached == known
    spent = int((cost * (back - flow)).sum())
    return sum(network.supply) - int(supply.sum()), spent, bool((potential > 0).any())


@pytest.mark.parametrize("rules", RULES)
def test_flows_are_largest_and_cheapest(rules: str) -> None:
    were_backward = 0
    for seed in seeds(max(200, INSTANCES // 5)):
        network = drawn(Random(seed))  # noqa: S311
        *found, was_backward = routed(network, RULES[rules])
        assert tuple(found) == by_paths(network), network
        were_backward += was_backward
    assert (were_backward > 0) is (rules != "as it is")


def test_a_long_chain_beside_a_dense_block() -> None:
    """Of n - 1 partitions too many, the i-th goes i members further: i moves."""
    n = 100  # fewer are searched from supply alone
    outcome = solve(spine_and_block(n))
    assert outcome.status is Status.OPTIMAL
    assert outcome.objectives[0].value == n * (n - 1) // 2
