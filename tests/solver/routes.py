"""Ways into the exact core, and another engine to hold it against."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from ortools.graph.python import min_cost_flow

import verify
from rebalance import (
    ClaimRule,
    Instance,
    count_kept,
    instance_of,
    parse_rebalance,
    to_json,
)
from solver import Result, Status, solve
from solver.exact import solve_without_closed_form
from tests.support.shapes import Document

Route = Callable[[Instance], Result]
ROUTES: dict[str, Route] = {"solve": solve, "flow": solve_without_closed_form}


def instance(
    document: Document, claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM
) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)), claim_rule=claim_rule)


def judged(
    document: Document,
    answer: Result,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
) -> dict[str, Any]:
    """Return the judge's verdict on an answer, as it stands in its document."""
    written = to_json(answer.to_document(instance(document, claim_rule)))
    return verify.judge(document, json.loads(written), claim_rule=claim_rule.value)


def check_proved(
    document: Document,
    answer: Result,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
) -> dict[str, Any]:
    """Assert that the judge finds the answer valid and both optima proved."""
    verdict = judged(document, answer, claim_rule)
    assert verdict["verdict"] == "valid", verdict
    assert verdict["violations"] == []
    assert verdict["proved"]["dec_min"], verdict
    assert verdict["proved"]["stickiness"], verdict
    assert verdict["figures"]["dec_min_balanced"], verdict
    assert answer.status is Status.OPTIMAL
    (stickiness,) = answer.objectives
    assert stickiness.value == stickiness.bound == verdict["figures"]["moves"]
    return verdict


def kept_by(laid_out: Instance, answer: Result) -> int:
    """Count the owned partitions that stay with their owner."""
    return count_kept(laid_out, answer.require_assignment())


def best_by_ortools(laid_out: Instance) -> tuple[list[int], int]:
    """Return the best loads and the most kept, by one convex flow of another library.

    The n-th partition of a member costs W times the place of n ÷ capacity among all
    such fractions, larger capacities first; a kept one costs -1, and W is more than all
    kept ones together.
    """
    weight = laid_out.n_partitions + 1
    n_topics, n_members = len(laid_out.topics), len(laid_out.members)
    sizes = laid_out.topic_sizes
    sink = n_topics + n_members
    flow = min_cost_flow.SimpleMinCostFlow()
    supply = 0
    own = np.zeros((n_topics, n_members), dtype=np.int64)
    for topic, owner in zip(laid_out.partition_topic, laid_out.owner, strict=True):
        if owner >= 0:
            own[topic, owner] += 1
    kept_arcs = []
    reach = np.zeros(n_members, dtype=np.int64)
    rank = _ranks(laid_out)
    for m in range(n_members):
        for t in laid_out.topics_of(m):
            member = n_topics + m
            reach[m] += sizes[t]
            flow.add_arc_with_capacity_and_unit_cost(t, member, sizes[t], 0)
            if own[t, m]:
                arc = flow.add_arc_with_capacity_and_unit_cost(t, member, own[t, m], -1)
                kept_arcs.append(arc)
        for n in range(1, reach[m] + 1):
            cost = rank[n, _capacity(laid_out, m)] * weight
            flow.add_arc_with_capacity_and_unit_cost(n_topics + m, sink, 1, cost)
    for t in np.flatnonzero(laid_out.topic_subscribed):
        flow.set_node_supply(t, sizes[t])
        supply += sizes[t]
    flow.set_node_supply(sink, -supply)
    assert flow.solve() == flow.OPTIMAL
    load = np.zeros(n_members, dtype=np.int64)
    for arc in range(flow.num_arcs()):
        if flow.head(arc) == sink:
            load[flow.tail(arc) - n_topics] += flow.flow(arc)
    kept = sum(flow.flow(arc) for arc in kept_arcs)
    return sorted(load.tolist(), reverse=True), kept


def _capacity(laid_out: Instance, member: int) -> int:
    return 1 if laid_out.capacity is None else int(laid_out.capacity[member])


def _ranks(laid_out: Instance) -> dict[tuple[int, int], int]:
    keys = {
        (n, _capacity(laid_out, m))
        for m in range(len(laid_out.members))
        for n in range(1, laid_out.n_partitions + 1)
    }
    ordered = sorted(keys, key=lambda key: (Fraction(*key), -key[1]))
    return {key: place for place, key in enumerate(ordered)}
