"""The parts of the programs: faces, windows, quotas, constraints, ladders, terms."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from rebalance import InstanceError
from solver.limits import Limits
from solver.milp import Backend, highs
from solver.milp.alike import in_order
from solver.milp.backend import End, Request
from solver.milp.case import Case, case_of
from solver.milp.check import is_allowed
from solver.milp.facing import find_face
from solver.milp.loads import counted, reaching_of, stages, vector_of
from solver.milp.rounding import assignment_of, counts_of
from solver.milp.terms import terms_of
from solver.milp.windows import windows_of
from solver.milp.writing import written
from solver.objectives import check_policy, value_of, values_of
from solver.policy import BalanceKind, Policy, kip54, parse_policy
from tests.shapes import Document, shape
from tests.solver.milp.cases import assignments, lags
from tests.solver.routes import instance
from tests.strategies import TINY, seeded_rebalance

SEEDS = range(40)
FEW = 300


def tiny(seed: int) -> Document | None:
    """A rebalance with few assignments."""
    document = seeded_rebalance(seed, TINY)
    listed = itertools.islice(assignments(instance(document)), FEW)
    return document if sum(1 for _ in listed) < FEW else None


def case_for(document: Document, policy: Policy) -> Case:
    case = case_of(instance(document), policy, Limits(), Backend.HIGHS)
    if policy.balance.kind is BalanceKind.DEC_MIN:
        return replace(case, face=find_face(case))
    return case


@pytest.mark.parametrize("seed", SEEDS)
def test_face_is_what_is_dec_min(seed: int) -> None:
    """Within seats and limits lie the least load vectors, all of them, no others."""
    document = tiny(seed)
    if document is None:
        return
    policy = parse_policy("dec-min; load")
    case = case_for(document, policy)
    face = case.face
    assert face is not None
    listed = list(assignments(case.instance))
    least = min(values_of(case.instance, one, policy) for one in listed)
    for one in listed:
        loads = one.loads(case.instance).tolist()
        counts = counts_of(case.kinds, one)
        inside = all(
            c in face.seats[case.kinds.kinds[k].group] for k, c in counts
        ) and all(
            low <= n <= high
            for low, n, high in zip(face.low, loads, face.high, strict=True)
        )
        assert inside == (values_of(case.instance, one, policy) == least)
        assert is_allowed(case.instance, policy, one) == inside


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_hold_every_kip54_balance(seed: int) -> None:
    document = tiny(seed)
    if document is None:
        return
    case = case_for(document, Policy(balance=kip54))
    windows = windows_of(case.kinds)
    for one in assignments(case.instance):
        if is_allowed(case.instance, Policy(balance=kip54), one):
            loads = one.loads(case.instance).tolist()
            assert all(a <= n for a, n in zip(windows.low, loads, strict=True))
            assert all(n <= b for n, b in zip(loads, windows.high, strict=True))


def test_windows_are_tight_where_all_is_shared() -> None:
    case = case_for(lags(*[0] * 7, members=3), Policy(balance=kip54))
    windows = windows_of(case.kinds)
    assert set(windows.low) == {2}
    assert set(windows.high) == {3}


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
def test_a_program_lets_in_what_is_allowed(text: str, seed: int) -> None:
    """Fix an assignment: the rows are met if and only if the definition is.

    Of assignments that differ by alike members only those in order are let in.
    """
    document = tiny(seed)
    if document is None:
        return
    policy = parse_policy(text)
    case = case_for(document, policy)
    for one in itertools.islice(assignments(case.instance), 12):
        program = written(case, policy.balance, policy.max_moves)
        counts = counts_of(case.kinds, one)
        counts = in_order(case.kinds, case.alike, counts)
        if not counts.keys() <= program.given.keys():
            program.contradiction = True
        for pair, var in program.given.items():
            program.equal([(var, 1)], counts.get(pair, 0))
        empty = program.contradiction
        if not empty and program.given:
            program.lp.setObjective(0 * next(iter(program.given.values())))
            request = Request(lp=program.lp, limits=Limits())
            empty = highs.run(request).end is End.EMPTY
        assert is_allowed(case.instance, policy, one) != empty


@pytest.mark.parametrize("seed", SEEDS)
def test_exchange_changes_no_value(seed: int) -> None:
    """Members put in order, and what they own with them, are worth the same."""
    document = seeded_rebalance(seed, TINY)
    policy = parse_policy("none; stickiness, rack, load")
    case = case_for(document, policy)
    for one in itertools.islice(assignments(case.instance), 20):
        counts = counts_of(case.kinds, one)
        moved = in_order(case.kinds, case.alike, counts)
        other = assignment_of(case.instance, case.kinds, moved)
        for level in policy.objectives:
            assert value_of(case.instance, one, level) == value_of(
                case.instance, other, level
            )
        loads = other.loads(case.instance).tolist()
        for members in case.alike:
            ordered = [loads[c] for c in members]
            assert ordered == sorted(ordered, reverse=True)


def test_stages_order_vectors() -> None:
    """Sums of stages are in the order of the vectors, and come apart again."""
    vectors = sorted(
        tuple(sorted(one, reverse=True))
        for one in itertools.product(range(5), repeat=3)
    )
    stage = [4, 3, 2, 1]
    sums = [counted(vector, stage, 3) for vector in vectors]
    assert sums == sorted(sums)
    for vector, total in zip(vectors, sums, strict=True):
        reaching = reaching_of(total, stage, 3)
        assert vector_of(list(zip(stage, reaching, strict=True)), 3) == vector


def test_stages_cover_all_values() -> None:
    values = list(range(50, 0, -1))
    parts = list(stages(values, 30))
    assert [value for part in parts for value in part] == values
    assert max(map(len, parts)) > 1


@pytest.mark.parametrize("seed", range(80))
def test_terms_are_below_every_peak(seed: int) -> None:
    document = tiny(seed)
    if document is None or instance(document).lag is None:
        return
    policy = parse_policy("none; peak-lag")
    try:
        check_policy(instance(document), policy)
    except InstanceError:
        return  # past 64 bits
    case = case_for(document, policy)
    (level,) = policy.objectives
    terms = terms_of(level, case.kinds, case.members)
    least = min(
        (value_of(case.instance, one, level) for one in assignments(case.instance)),
        key=int,  # type: ignore[arg-type]
    )
    assert max(term.bound for term in terms) <= least  # type: ignore[operator]


def test_crowd_counts_two_on_one_member() -> None:
    """Three of lag 5 or more on two members: two of them meet."""
    policy = parse_policy("none; peak-lag")
    case = case_for(lags(9, 6, 5, 0), policy)
    terms = terms_of(policy.objectives[0], case.kinds, case.members)
    assert {(t.kind, t.at_least): t.bound for t in terms} == {
        ("zero", None): 0,
        ("average", None): 10,
        ("crowd", 9): 9,
        ("crowd", 5): 11,
    }


def test_chain_is_no_dec_min() -> None:
    document = shape("CHAIN")
    laid_out = instance(document)
    as_it_stands = next(
        one
        for one in assignments(laid_out)
        if one.loads(laid_out).tolist() == [2, 1, 1, 0]
    )
    assert not is_allowed(laid_out, parse_policy("dec-min"), as_it_stands)
    assert is_allowed(laid_out, parse_policy("kip54"), as_it_stands)


def test_members_of_other_racks_are_not_alike() -> None:
    """Capacity, rack and what is owned tell members apart, where a policy looks."""
    document = lags(1, 2, members=4)
    document["topics"]["t"]["racks"] = [["a"], ["b"]]
    document["members"]["m0"]["rack"] = "a"
    document["members"]["m1"]["owned"] = {"t": [0]}
    for text, alike in {
        "none; load": [(0, 1, 2, 3)],
        "none; rack": [(1, 2, 3)],
        "none; stickiness": [(0, 2, 3)],
        "none; stickiness, rack": [(2, 3)],
    }.items():
        assert case_for(document, parse_policy(text)).alike == alike
    document["members"]["m3"]["capacity"] = 2
    assert case_for(document, parse_policy("none; load")).alike == [(0, 1, 2)]
