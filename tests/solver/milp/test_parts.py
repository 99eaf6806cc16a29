"""Faces, load bounds, rows and load vectors of the programs, against definitions.

These are inner names: each part is compared with an enumeration of all assignments.

Reaches into `solver.milp` to compare each part with its definition.
"""

from __future__ import annotations

import itertools

import pytest
from pulp import LpStatusInfeasible

from solver import BalanceKind, Policy, parse_policy, values_of
from solver.milp import highs, is_allowed
from solver.milp.columns import milp_instance
from solver.milp.counted_limits import CountedLimits
from solver.milp.dec_min_face import key_of, topic_load_limits
from solver.milp.lexicographic_milp import vector_of
from solver.milp.rows import kip54_load_bounds, policy_program
from solver.milp.solve_milp import find_dec_min_face
from solver.policy import kip54
from tests.solver.milp.cases import assignments, lags
from tests.solver.routes import instance
from tests.support.shapes import Document, shape
from tests.support.strategies import TINY, seeded_rebalance

SEEDS = range(40)
FEW = 300


def tiny(seed: int) -> Document | None:
    """A rebalance with few assignments."""
    document = seeded_rebalance(seed, TINY)
    listed = itertools.islice(assignments(instance(document)), FEW)
    return document if sum(1 for _ in listed) < FEW else None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_face_contains_exactly_the_dec_min_assignments(seed: int) -> None:
    """Within the face lie the least load vectors, all of them, no others."""
    document = tiny(seed)
    if document is None:
        return
    policy = parse_policy("dec-min; load")
    laid_out = instance(document)
    case = milp_instance(laid_out, policy)
    face = find_dec_min_face(laid_out, CountedLimits())
    listed = list(assignments(laid_out))
    least = min(values_of(laid_out, assignment, policy) for assignment in listed)
    for assignment in listed:
        loads = assignment.loads(laid_out).tolist()
        inside = all(
            assignment.assignee[row] in face.groups[each.group]
            for each in case.classes
            for row in each.rows
        ) and all(
            low <= n <= high
            for low, n, high in zip(face.low, loads, face.high, strict=True)
        )
        assert inside == (values_of(laid_out, assignment, policy) == least)
        assert is_allowed(laid_out, policy, assignment) == inside


@pytest.mark.parametrize("seed", SEEDS)
def test_load_bounds_hold_for_every_kip54_balance(seed: int) -> None:
    document = tiny(seed)
    if document is None:
        return
    laid_out, policy = instance(document), Policy(balance=kip54)
    low, high = kip54_load_bounds(milp_instance(laid_out, policy))
    for assignment in assignments(laid_out):
        if is_allowed(laid_out, policy, assignment):
            loads = assignment.loads(laid_out).tolist()
            assert all(a <= n for a, n in zip(low, loads, strict=True))
            assert all(n <= b for n, b in zip(loads, high, strict=True))


def test_load_bounds_are_tight_where_all_is_shared() -> None:
    case = milp_instance(instance(lags(*[0] * 7, members=3)), Policy(balance=kip54))
    low, high = kip54_load_bounds(case)
    assert set(low) == {2}
    assert set(high) == {3}


@pytest.mark.parametrize(
    "text",
    [
        "dec-min",
        "kip54",
        "per-topic",
        "spread=0",
        "spread=1",
        "none; max-moves=1",
        "kip54; max-moves=0",
    ],
)
@pytest.mark.parametrize("seed", range(12))
def test_a_program_admits_exactly_the_allowed_assignments(text: str, seed: int) -> None:
    """Fix an assignment: the rows are met if and only if the definition is."""
    document = tiny(seed)
    if document is None:
        return
    policy, laid_out = parse_policy(text), instance(document)
    case, limits, face = milp_instance(laid_out, policy), CountedLimits(), None
    if policy.balance.kind is BalanceKind.DEC_MIN:
        face = find_dec_min_face(laid_out, limits)
    for assignment in itertools.islice(assignments(laid_out), 12):
        program = policy_program(
            case, limits, policy.balance, max_moves=policy.max_moves, face=face
        )
        for k, each in enumerate(case.classes):
            holders = assignment.assignee[list(each.rows)].tolist()
            for c in case.groups[each.group]:
                column = program.given.get((k, c), program.integer(0, 0))
                program.equal(1 * column, holders.count(c))
        run = highs.minimize(program.problem, limits, presolve=False)
        assert is_allowed(laid_out, policy, assignment) == (
            run.status != LpStatusInfeasible
        )


@pytest.mark.parametrize("capacity", [(1,), (1, 1, 1), (1, 2, 5), (3, 3, 7, 10**8)])
def test_limits_of_a_topic_are_those_of_the_greedy_algorithm(
    capacity: tuple[int, ...],
) -> None:
    for partitions in range(1, 40):
        loads = [0] * len(capacity)
        for _ in range(partitions):
            keys = [key_of(n + 1, w) for n, w in zip(loads, capacity, strict=True)]
            loads[keys.index(min(keys))] += 1
        limits = topic_load_limits(capacity, partitions)
        assert sum(low for low, _ in limits) <= partitions
        for n, (low, high) in zip(loads, limits, strict=True):
            assert low <= n <= high <= low + 1


def test_reaching_counts_order_load_vectors() -> None:
    """Vectors are in the order of their counts, which make them up again."""
    vectors = sorted(
        tuple(sorted(loads, reverse=True))
        for loads in itertools.product(range(5), repeat=3)
    )
    levels = [4, 3, 2, 1]
    counts = [[sum(load >= v for load in vector) for v in levels] for vector in vectors]
    assert counts == sorted(counts)
    for vector, reaching in zip(vectors, counts, strict=True):
        assert vector_of(levels, reaching, 3) == vector
        for known in range(len(levels)):
            assert vector_of(levels, reaching[:known], 3) <= vector


def test_chain_is_no_dec_min() -> None:
    document = shape("CHAIN")
    laid_out = instance(document)
    as_it_stands = next(
        assignment
        for assignment in assignments(laid_out)
        if assignment.loads(laid_out).tolist() == [2, 1, 1, 0]
    )
    assert not is_allowed(laid_out, parse_policy("dec-min"), as_it_stands)
    assert is_allowed(laid_out, parse_policy("kip54"), as_it_stands)
