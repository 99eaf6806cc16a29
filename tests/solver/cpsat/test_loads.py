"""``load`` on restricted sets, and programs for balance and bounds of their own."""

from __future__ import annotations

import pytest

from solver import cpsat
from solver.cpsat import loads, opening
from solver.cpsat.balance import least_rank
from solver.cpsat.face import dec_min_face, open_face
from solver.cpsat.loads import minimize_load
from solver.cpsat.plan import assignment_of, plan_of, pool_counts
from solver.cpsat.problem import Looks, problem_of
from solver.cpsat.search import Search
from solver.limits import Limits
from solver.objectives import value_of
from solver.policy import Objective, WeightedObjective, parse_policy
from solver.result import Status
from tests.shapes import CHAIN, TWO_LEVELS, Document, member, rebalance
from tests.solver.brute import Brute
from tests.solver.cpsat.cases import (
    assignments,
    drawn,
    lets_in,
    problem_for,
    program_for,
)
from tests.solver.routes import instance

LOAD = WeightedObjective.of(Objective.LOAD)

# All owned by a, b and c. With four moves the sum of squares is least where five are
# left on one: (5, 4, 4, 0 ...) against (4, 4, 4 ...) is for the search to tell.
HEAPS = rebalance(
    {"t": 9, "u": 6, "v": 3},
    {
        "a": member(["t", "u"], {"t": list(range(9))}),
        "b": member(["u", "v"], {"u": list(range(6))}),
        "c": member(["v"], {"v": [0, 1, 2]}),
        "d": member(["t", "v"]),
    },
)


@pytest.mark.parametrize("document", [HEAPS, CHAIN, TWO_LEVELS])
@pytest.mark.parametrize("budget", range(5))
@pytest.mark.parametrize("batch", [1, 2**29])
def test_load_within_a_budget(
    document: Document, budget: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One threshold a search, and many at once, come to the same vector."""
    monkeypatch.setattr(loads, "BATCH", batch)
    text = f"none; load, stickiness; max-moves={budget}"
    outcome = cpsat.solve(instance(document), parse_policy(text), limits=Limits())
    assert outcome.status is Status.OPTIMAL
    best = Brute(document).best(text)
    assert best is not None
    found = [one.value for one in outcome.objectives]
    assert found == [tuple(best[0]), best[1]]  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_a_vector_that_is_held_lets_nothing_else_in(seed: int) -> None:
    document = drawn(seed)
    problem = problem_for(document, Looks(owners=True))
    every = list(assignments(problem.instance))
    program = program_for(problem)
    for row, kind in zip(program.x, program.kinds, strict=True):
        program.model.add(sum(row.values()) == kind.amount)
    plan = plan_of(problem, every[-1])
    leveled = minimize_load(program, Search(limits=Limits()), plan)
    assert leveled.done
    best = min(value_of(problem.instance, one, LOAD) for one in every)
    assert leveled.settled == best
    found = assignment_of(problem, leveled.plan)
    assert value_of(problem.instance, found, LOAD) == best
    for one in every[:60]:
        is_best = value_of(problem.instance, one, LOAD) == best
        assert lets_in(program, one) == is_best


@pytest.mark.parametrize("seed", range(15))
def test_least_ranks_are_dec_min(seed: int) -> None:
    """The program of the balance finds it by itself, from any start."""
    problem = problem_of(instance(drawn(seed + 30)), Looks())
    worst = max(
        assignments(problem.instance),
        key=lambda one: value_of(problem.instance, one, LOAD),
    )
    plan = least_rank(problem, [worst], Search(limits=Limits()))
    assert plan is not None
    counts = pool_counts(problem, assignment_of(problem, plan))
    assert dec_min_face(problem, counts) is not None


def test_without_a_dec_min_start_the_program_finds_the_face(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = problem_of(instance(CHAIN), Looks())
    poor = max(
        assignments(problem.instance),
        key=lambda one: value_of(problem.instance, one, LOAD),
    )
    monkeypatch.setattr(opening, "starts", lambda *_: [poor])
    policy = parse_policy("dec-min; stickiness")
    outcome = cpsat.solve(instance(CHAIN), policy, limits=Limits())
    assert outcome.status is Status.OPTIMAL
    assert [one.value for one in outcome.objectives] == [3]


def test_the_open_face_holds_everything() -> None:
    problem = problem_for(CHAIN)
    face = open_face(problem)
    assert all(
        face.holds(pool_counts(problem, one)) for one in assignments(problem.instance)
    )
