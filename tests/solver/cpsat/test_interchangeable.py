"""Equivalence classes and the order of interchangeable members lose no solution.

Reaches into `solver.cpsat` to compare programs with and without classes.
"""

from __future__ import annotations

import numpy as np
import pytest

from rebalance import Assignment
from solver import parse_policy, values_of
from solver.cpsat import constraints
from solver.cpsat.cp_instance import CpTotals, Distinctions
from solver.cpsat.variables import in_order, interchangeable_members
from tests.solver.cpsat.cases import (
    allows,
    assignments,
    cp_instance,
    drawn,
    program_for,
)
from tests.support.shapes import member, rebalance

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
    ("distinctions", "classes", "pools"),
    [
        (Distinctions(), 1, 1),
        (Distinctions(topics=True), 2, 2),
        (Distinctions(owners=True), 3, 1),
        (Distinctions(lags=True), 2, 1),
        (Distinctions(racks=True), 3, 1),
        (Distinctions(owners=True, lags=True), 4, 1),
        (Distinctions(topics=True, owners=True, lags=True, racks=True), 5, 2),
    ],
)
def test_only_the_distinctions_separate_classes(
    distinctions: Distinctions, classes: int, pools: int
) -> None:
    cp = cp_instance(MIXED, distinctions)
    assert len(cp.classes) == classes
    assert len(cp.pools) == pools
    assert sum(class_.size for class_ in cp.classes) == 6


def test_members_that_own_equally_many_are_interchangeable() -> None:
    by_owner = cp_instance(TWINS, Distinctions(owners=True))
    assert interchangeable_members(by_owner) == [[0, 1], [3, 4]]
    bare = cp_instance(TWINS, Distinctions())
    assert interchangeable_members(bare) == [[0, 1, 2, 3, 4]]


def test_capacity_and_rack_distinguish_members() -> None:
    people = {
        "a": member(["t"], capacity=2, rack="x"),
        "b": member(["t"], rack="x"),
        "c": member(["t"], rack="y"),
    }
    document = rebalance({"t": {"partitions": 1, "racks": [["x"]]}}, people)
    bare = cp_instance(document, Distinctions())
    assert interchangeable_members(bare) == [[1, 2]]
    by_rack = cp_instance(document, Distinctions(racks=True))
    assert interchangeable_members(by_rack) == []


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    "text",
    [
        "none; stickiness, load",
        "none; rack, per-topic-spread, stickiness",
        "none; peak-lag, topic-peak-lag, lag-spread, lag-deviation, stickiness",
    ],
)
def test_the_canonical_order_loses_no_value(seed: int, text: str) -> None:
    """Every assignment has an allowed twin in canonical order, with the same values."""
    policy = parse_policy(text)
    cp = cp_instance(drawn(seed), Distinctions.of(policy))
    program = program_for(cp)
    constraints.assign_each_partition_once(program)
    constraints.order_interchangeable(program)
    for assignment in list(assignments(cp.instance))[:40]:
        counts = in_order(cp, program.interchangeable, cp.class_counts(assignment))
        totals = CpTotals.of(cp, counts)
        rank = totals.lags if cp.distinctions.lags else totals.loads
        for group in program.interchangeable:
            figures = [rank[m] for m in group]
            assert figures == sorted(figures, reverse=True)
        twin = cp.assignment(counts)
        instance = cp.instance
        assert values_of(instance, twin, policy) == values_of(
            instance, assignment, policy
        )
        assert allows(program, twin)


def test_other_orders_are_excluded() -> None:
    program = program_for(cp_instance(TWINS, Distinctions()))
    constraints.order_interchangeable(program)
    last = np.full(6, 4, dtype=np.int32)
    assert not allows(program, Assignment(assignee=last))
    first = np.zeros(6, dtype=np.int32)
    assert allows(program, Assignment(assignee=first))
