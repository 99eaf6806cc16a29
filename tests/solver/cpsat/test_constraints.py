"""Each constraint allows exactly what it states: all assignments are tried.

Reaches into `solver.cpsat` to compare each constraint with its definition.
"""

from __future__ import annotations

from collections import Counter

import pytest
from ortools.sat.python import cp_model

from rebalance import Assignment, Instance
from solver import Objective, WeightedObjective
from solver.cpsat import constraints
from solver.cpsat.balance_region import (
    CpRegion,
    dec_min_region,
    kip54_region,
    per_topic_region,
)
from solver.cpsat.cp_instance import CpInstance, CpTotals
from solver.objectives import value_of
from tests.references.brute import Brute
from tests.solver.cpsat.cases import (
    allows,
    assignments,
    cp_instance,
    drawn,
    program_for,
    totals_of,
)
from tests.support.shapes import (
    CHAIN,
    STAIRCASE,
    STICKINESS,
    Document,
    member,
    rebalance,
)

SEEDS = range(12)


def loads_of(cp: CpInstance, assignment: Assignment) -> list[int]:
    held = Counter(assignment.assignee.tolist())
    return [held[member] for member in cp.members]


def is_kip54(instance: Instance, assignment: Assignment) -> bool:
    """Follow KIP-54's words partition by partition."""
    held = Counter(assignment.assignee.tolist())
    topic_of = instance.partition_topic.tolist()
    return all(
        holder < 0 or held[holder] <= held[other] + 1
        for topic, holder in zip(topic_of, assignment.assignee.tolist(), strict=True)
        for other in range(len(instance.members))
        if topic in instance.topics_of(other).tolist()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_kip54_allows_assignments_that_no_transfer_improves(seed: int) -> None:
    _check_kip54(drawn(seed))


@pytest.mark.parametrize("document", [CHAIN, STAIRCASE])
def test_kip54_on_shapes(document: Document) -> None:
    _check_kip54(document)


def _check_kip54(document: Document) -> None:
    cp = cp_instance(document)
    instance = cp.instance
    for some in least_and_most_even(cp):
        program = program_for(cp, kip54_region(cp, some))
        constraints.balanced_by_kip54(program)
        for assignment in assignments(instance):
            assert allows(program, assignment) == is_kip54(instance, assignment)


def least_and_most_even(cp: CpInstance) -> list[CpTotals]:
    """Return totals of assignments with the largest and the least sum of squares."""
    totals = [totals_of(cp, assignment) for assignment in assignments(cp.instance)]
    totals.sort(key=lambda total: sum(n * n for n in total.loads))
    return [totals[-1], totals[0]]


@pytest.mark.parametrize("seed", SEEDS)
def test_kip54_ranges_hold_every_balanced_assignment(seed: int) -> None:
    cp = cp_instance(drawn(seed + 100))
    balanced = [
        assignment
        for assignment in assignments(cp.instance)
        if is_kip54(cp.instance, assignment)
    ]
    for some in least_and_most_even(cp):
        ranges = kip54_region(cp, some).loads
        for assignment in balanced:
            for load, (least, most) in zip(
                loads_of(cp, assignment), ranges, strict=True
            ):
                assert least <= load <= most


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [0, 1, 2])
def test_spread_allows_loads_within_it(seed: int, most: int) -> None:
    cp = cp_instance(drawn(seed))
    program = program_for(cp)
    constraints.spread_at_most(program, most * cp.common)
    for assignment in assignments(cp.instance):
        loads = loads_of(cp, assignment)
        values = [unit * n for unit, n in zip(cp.units, loads, strict=True)]
        wide = max(values) - min(values)
        assert allows(program, assignment) == (wide <= most * cp.common)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [0, 1])
def test_the_budget_allows_assignments_within_it(seed: int, most: int) -> None:
    cp = cp_instance(drawn(seed))
    program = program_for(cp)
    constraints.moves_at_most(program, most)
    moved = WeightedObjective.of(Objective.STICKINESS)
    for assignment in assignments(cp.instance):
        moves = value_of(cp.instance, assignment, moved)
        assert isinstance(moves, int)
        assert allows(program, assignment) == (moves <= most)


def test_each_partition_goes_to_one_member() -> None:
    program = program_for(cp_instance(STICKINESS))
    constraints.assign_each_partition_once(program)
    for row in program.x:
        for variable in row.values():
            program.model.add(variable == 0)
    assert cp_model.CpSolver().solve(program.model) == cp_model.INFEASIBLE


# a could take the one of u, and every load would stay within its limits.
BRIDGE = rebalance(
    {"t": 3, "u": 1},
    {
        "a": member(["t", "u"]),
        "b": member(["t"]),
        "c": member(["u"]),
        "d": member(["u"]),
    },
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("balance", ["dec-min", "per-topic"])
def test_regions_contain_exactly_the_balanced(seed: int, balance: str) -> None:
    _check_region(drawn(seed + 50), balance)


@pytest.mark.parametrize("balance", ["dec-min", "per-topic"])
def test_region_of_a_bridge(balance: str) -> None:
    _check_region(BRIDGE, balance)


def _check_region(document: Document, balance: str) -> None:
    cp = cp_instance(document)
    brute = Brute(document)
    every = list(assignments(cp.instance))
    balanced = [
        assignment for assignment in every if _is_best(brute, cp, assignment, balance)
    ]
    region_of = per_topic_region if balance == "per-topic" else dec_min_region
    found = [region_of(cp, totals_of(cp, assignment)) for assignment in balanced]
    assert len(set(map(str, found))) == 1
    region = found[0]
    program = program_for(cp, region)
    constraints.loads_in_region(program)
    constraints.pool_loads_in_region(program)
    for assignment in every:
        expected = any(assignment is other for other in balanced)
        assert region.contains(totals_of(cp, assignment)) == expected
        assert allows(program, assignment) == expected


def _is_best(
    brute: Brute, cp: CpInstance, assignment: Assignment, balance: str
) -> bool:
    """Compare a vector of loads with the least there is."""
    instance = cp.instance
    if balance == "dec-min":
        least = brute.best("dec-min; load")
        assert least is not None
        vector = value_of(instance, assignment, WeightedObjective.of(Objective.LOAD))
        assert isinstance(vector, tuple)
        return list(vector) == list(least[0])  # type: ignore[arg-type]
    loads = totals_of(cp, assignment).pool_loads
    return all(not _improves(cp, pool, given) for pool, given in enumerate(loads))


def _improves(cp: CpInstance, pool: int, given: dict[int, int]) -> bool:
    """Return whether one transfer improves a topic's load vector."""
    members = cp.pools[pool].subscribers
    before = sorted((cp.units[m] * given.get(m, 0) for m in members), reverse=True)
    for source in given:
        for target in members:
            if source == target:
                continue
            after = dict(given)
            after[source] -= 1
            after[target] = after.get(target, 0) + 1
            values = [cp.units[m] * after.get(m, 0) for m in members]
            if sorted(values, reverse=True) < before:
                return True
    return False


@pytest.mark.parametrize(
    ("partitions", "limits"),
    [
        (1, {0: (0, 0), 1: (0, 1)}),
        (2, {0: (0, 0), 1: (1, 2)}),
        (3, {0: (0, 1), 1: (2, 2)}),
        (4, {0: (1, 1), 1: (2, 3)}),
    ],
)
def test_of_equal_loads_the_larger_capacity_has_its_first(
    partitions: int, limits: dict[int, tuple[int, int]]
) -> None:
    """2 ÷ 2 = 1 ÷ 1, but what is below is 1 ÷ 2 for one and 0 for the other."""
    people = {"a": member(["t"], capacity=1), "b": member(["t"], capacity=2)}
    cp = cp_instance(rebalance({"t": partitions}, people))
    for assignment in assignments(cp.instance):
        totals = totals_of(cp, assignment)
        if not _improves(cp, 0, totals.pool_loads[0]):
            assert per_topic_region(cp, totals).pool_loads == (limits,)


def test_a_region_has_eligible_members_and_load_ranges() -> None:
    people = {"a": member(["t", "u"]), "b": member(["t"])}
    cp = cp_instance(rebalance({"t": 2, "u": 1}, people))
    region = CpRegion(eligible=((0, 1), (0,)), loads=((1, 2), (0, 1)))
    assert region.contains(CpTotals.of(cp, [{0: 1, 1: 1}, {0: 1}]))
    assert not region.contains(CpTotals.of(cp, [{0: 1}, {1: 1}]))  # not eligible
    assert not region.contains(CpTotals.of(cp, [{0: 2}, {0: 1}]))  # too many
    assert not region.contains(CpTotals.of(cp, [{1: 1}, {}]))  # too few
