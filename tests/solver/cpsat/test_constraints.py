"""Each constraint lets in exactly what it says: all assignments tried one by one."""

from __future__ import annotations

from collections import Counter

import pytest
from ortools.sat.python import cp_model

from rebalance import Assignment, Instance
from solver.cpsat import constraints
from solver.cpsat.face import Face, dec_min_face, kip54_face, per_topic_face
from solver.cpsat.plan import pool_counts
from solver.cpsat.problem import Problem
from solver.objectives import value_of
from solver.policy import Objective, WeightedObjective
from tests.shapes import CHAIN, STAIRCASE, STICKINESS, Document, member, rebalance
from tests.solver.brute import Brute
from tests.solver.cpsat.cases import (
    assignments,
    drawn,
    lets_in,
    problem_for,
    program_for,
)

SEEDS = range(12)


def loads_of(problem: Problem, assignment: Assignment) -> list[int]:
    held = Counter(assignment.assignee.tolist())
    return [held[member] for member in problem.members]


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
def test_kip54_lets_in_what_no_transfer_improves(seed: int) -> None:
    _check_kip54(drawn(seed))


@pytest.mark.parametrize("document", [CHAIN, STAIRCASE])
def test_kip54_on_shapes(document: Document) -> None:
    _check_kip54(document)


def _check_kip54(document: Document) -> None:
    problem = problem_for(document)
    instance = problem.instance
    program = program_for(problem, kip54_face(problem))
    constraints.balanced_by_kip54(program)
    for one in assignments(instance):
        assert lets_in(program, one) == is_kip54(instance, one)


@pytest.mark.parametrize("seed", SEEDS)
def test_kip54_ranges_hold_every_balanced_assignment(seed: int) -> None:
    problem = problem_for(drawn(seed + 100))
    ranges = kip54_face(problem).loads
    for one in assignments(problem.instance):
        if is_kip54(problem.instance, one):
            for load, (least, most) in zip(loads_of(problem, one), ranges, strict=True):
                assert least <= load <= most


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [0, 1, 2])
def test_spread_lets_in_what_lies_so_close(seed: int, most: int) -> None:
    problem = problem_for(drawn(seed))
    program = program_for(problem)
    constraints.spread_at_most(program, most * problem.common)
    for one in assignments(problem.instance):
        loads = loads_of(problem, one)
        values = [unit * n for unit, n in zip(problem.units, loads, strict=True)]
        wide = max(values) - min(values)
        assert lets_in(program, one) == (wide <= most * problem.common)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [0, 1])
def test_budget_lets_in_what_moves_no_more(seed: int, most: int) -> None:
    problem = problem_for(drawn(seed))
    program = program_for(problem)
    constraints.moves_at_most(program, most)
    moved = WeightedObjective.of(Objective.STICKINESS)
    for one in assignments(problem.instance):
        moves = value_of(problem.instance, one, moved)
        assert isinstance(moves, int)
        assert lets_in(program, one) == (moves <= most)


def test_each_partition_goes_to_one_member() -> None:
    program = program_for(problem_for(STICKINESS))
    constraints.each_partition_once(program)
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
def test_faces_hold_exactly_what_is_balanced(seed: int, balance: str) -> None:
    _check_face(drawn(seed + 50), balance)


@pytest.mark.parametrize("balance", ["dec-min", "per-topic"])
def test_the_face_of_a_bridge(balance: str) -> None:
    _check_face(BRIDGE, balance)


def _check_face(document: Document, balance: str) -> None:
    problem = problem_for(document)
    brute = Brute(document)
    face = per_topic_face(problem) if balance == "per-topic" else None
    every = list(assignments(problem.instance))
    if face is None:
        counts = (pool_counts(problem, one) for one in every)
        found = [face for face in (dec_min_face(problem, c) for c in counts) if face]
        assert len(set(map(str, found))) == 1
        face = found[0]
    program = program_for(problem, face)
    constraints.loads_within(program)
    constraints.pool_loads_within(program)
    for one in every:
        expected = _is_best(brute, problem, one, balance)
        assert face.holds(pool_counts(problem, one)) == expected
        assert lets_in(program, one) == expected


def _is_best(
    brute: Brute, problem: Problem, assignment: Assignment, balance: str
) -> bool:
    """Compare a vector of loads with the least there is."""
    instance = problem.instance
    if balance == "dec-min":
        least = brute.best("dec-min; load")
        assert least is not None
        vector = value_of(instance, assignment, WeightedObjective.of(Objective.LOAD))
        assert isinstance(vector, tuple)
        return list(vector) == list(least[0])  # type: ignore[arg-type]
    counts = pool_counts(problem, assignment)
    return all(not _improves(problem, pool, given) for pool, given in enumerate(counts))


def _improves(problem: Problem, pool: int, given: dict[int, int]) -> bool:
    """Tell whether one transfer makes a topic's vector of loads less."""
    members = problem.pools[pool].subscribers
    before = sorted((problem.units[m] * given.get(m, 0) for m in members), reverse=True)
    for giver in given:
        for taker in members:
            if giver == taker:
                continue
            after = dict(given)
            after[giver] -= 1
            after[taker] = after.get(taker, 0) + 1
            values = [problem.units[m] * after.get(m, 0) for m in members]
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
    problem = problem_for(rebalance({"t": partitions}, people))
    assert per_topic_face(problem).pool_loads == (limits,)


def test_a_face_is_refused_where_a_chain_improves() -> None:
    problem = problem_for(CHAIN)
    kept = Assignment(assignee=problem.instance.owner.copy())
    assert dec_min_face(problem, pool_counts(problem, kept)) is None


def test_a_face_keeps_its_seats_and_limits() -> None:
    face = Face(seats=((0, 1), (0,)), loads=((1, 2), (0, 1)))
    assert face.holds([{0: 1, 1: 1}, {0: 1}])
    assert not face.holds([{0: 1}, {1: 1}])  # no seat
    assert not face.holds([{0: 2}, {0: 1}])  # too many
    assert not face.holds([{1: 1}, {}])  # too few
