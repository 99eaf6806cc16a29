"""Aggregation and the order of the alike: fewer variables, and nothing lost."""

from __future__ import annotations

import numpy as np
import pytest

from rebalance import Assignment
from solver.cpsat import constraints
from solver.cpsat.alike import alike_members, arranged, rank_of
from solver.cpsat.plan import Tally, assignment_of, plan_of
from solver.cpsat.problem import Looks
from solver.objectives import values_of
from solver.policy import parse_policy
from tests.shapes import member, rebalance
from tests.solver.cpsat.cases import (
    assignments,
    drawn,
    lets_in,
    problem_for,
    program_for,
)

MIXED = rebalance(
    {
        "t": {"partitions": 4, "lag": [5, 5, 7, 7], "racks": [["x"], ["x"], ["y"], []]},
        "u": {"partitions": 2, "lag": [5, 5]},
    },
    {
        "a": member(["t", "u"], {"t": [0]}, rack="x"),
        "b": member(["t", "u"], {"t": [1]}, rack="y"),
    },
)
TWINS = rebalance(
    {"t": 6},
    {
        "a": member(["t"], {"t": [0, 1]}),
        "b": member(["t"], {"t": [2, 3]}),
        "c": member(["t"], {"t": [4]}),
        "d": member(["t"]),
        "e": member(["t"]),
    },
)


@pytest.mark.parametrize(
    ("looks", "kinds", "pools"),
    [
        (Looks(), 1, 1),
        (Looks(topics=True), 2, 2),
        (Looks(owners=True), 3, 1),
        (Looks(lags=True), 2, 1),
        (Looks(racks=True), 3, 1),
        (Looks(owners=True, lags=True), 4, 1),
        (Looks(topics=True, owners=True, lags=True, racks=True), 5, 2),
    ],
)
def test_only_what_is_looked_at_tells_partitions_apart(
    looks: Looks, kinds: int, pools: int
) -> None:
    problem = problem_for(MIXED, looks)
    assert len(list(problem.kinds)) == kinds
    assert len(problem.pools) == pools
    assert sum(kind.amount for kind in problem.kinds) == 6


def test_who_owns_alike_is_alike() -> None:
    assert alike_members(problem_for(TWINS, Looks(owners=True))) == [[0, 1], [3, 4]]
    assert alike_members(problem_for(TWINS, Looks())) == [[0, 1, 2, 3, 4]]


def test_capacity_and_rack_tell_members_apart() -> None:
    people = {
        "a": member(["t"], capacity=2, rack="x"),
        "b": member(["t"], rack="x"),
        "c": member(["t"], rack="y"),
    }
    document = rebalance({"t": {"partitions": 1, "racks": [["x"]]}}, people)
    assert alike_members(problem_for(document, Looks())) == [[1, 2]]
    assert alike_members(problem_for(document, Looks(racks=True))) == []


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    "text",
    [
        "none; stickiness, load",
        "none; rack, per-topic-spread, stickiness",
        "none; peak-lag, topic-peak-lag, lag-spread, lag-deviation, stickiness",
    ],
)
def test_the_order_of_the_alike_loses_no_value(seed: int, text: str) -> None:
    """Every assignment has a twin in order: same values, and the program lets it in."""
    policy = parse_policy(text)
    problem = problem_for(drawn(seed), Looks.of(policy))
    program = program_for(problem)
    constraints.each_partition_once(program)
    constraints.alike_in_order(program)
    for one in list(assignments(problem.instance))[:40]:
        plan = arranged(problem, program.alike, plan_of(problem, one))
        rank = rank_of(problem, Tally.of(problem, plan))
        for group in program.alike:
            figures = [rank[m] for m in group]
            assert figures == sorted(figures, reverse=True)
        twin = assignment_of(problem, plan)
        instance = problem.instance
        assert values_of(instance, twin, policy) == values_of(instance, one, policy)
        assert lets_in(program, twin)


def test_what_is_out_of_order_is_not_let_in() -> None:
    problem = problem_for(TWINS, Looks())
    program = program_for(problem)
    constraints.alike_in_order(program)
    last = np.full(6, 4, dtype=np.int32)
    assert not lets_in(program, Assignment(assignee=last))
    first = np.zeros(6, dtype=np.int32)
    assert lets_in(program, Assignment(assignee=first))
