"""How a solve ends: within limits, without answer, or with reasons."""

from __future__ import annotations

import threading
import time
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from ortools.sat.python import cp_model

from rebalance import Assignment, to_json
from solver import Limits, Result, Status, cpsat, parse_policy, run_limited
from solver.cpsat import solve_cpsat
from solver.limits import resident_bytes
from tests.solver.cpsat.cases import lagging
from tests.solver.routes import instance
from tests.support.shapes import CHAIN, NO_MEMBERS, NOTHING, Document, member, rebalance

SWAPPED = rebalance(
    {"t": 4},
    {"a": member(["t"], {"t": [0, 1, 2, 3]}), "b": member(["t"]), "c": member(["t"])},
)


def hard(partitions: int = 60, members: int = 8) -> Document:
    """Draw lags that no search evens out exactly."""
    rng = Random(partitions)  # noqa: S311
    lags = [rng.randint(0, 10**6) for _ in range(partitions)]
    return lagging(*lags, members=members)


def answer(document: Document, policy: str, **allowed: object) -> Result:
    limits = Limits(**allowed)  # type: ignore[arg-type]
    return cpsat.solve(instance(document), parse_policy(policy), limits=limits)


def test_a_time_limit_leaves_an_answer_with_its_bound() -> None:
    outcome = answer(hard(), "none; peak-lag, load", seconds=1.5)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason is not None
    # A busy machine may find what is left of the time too short for a program.
    assert outcome.reason.endswith("time limit of 1.5 s")
    first, second = outcome.objectives
    assert isinstance(first.bound, int)
    assert isinstance(first.value, int)
    assert 0 < first.bound < first.value
    assert second.bound <= second.value  # type: ignore[operator]


def test_no_time_at_all_leaves_the_start() -> None:
    outcome = answer(hard(), "per-topic; peak-lag", seconds=0.0)
    assert outcome.status is Status.FEASIBLE
    assert outcome.assignment is not None
    assert outcome.objectives[0].proof is not None


def test_without_a_start_a_limit_leaves_nothing() -> None:
    outcome = answer(SWAPPED, "spread=3; load; max-moves=1", seconds=0.0)
    assert outcome.status is Status.UNKNOWN
    assert outcome.assignment is None
    assert outcome.objectives == ()
    assert outcome.reason is not None
    assert "time limit of 0 s" in outcome.reason


def test_it_stops_on_request() -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    outcome = answer(hard(), "none; peak-lag", stop=stop)
    timer.join()
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "interrupted"


def test_a_stop_before_the_search_began_is_heard() -> None:
    stop = threading.Event()
    stop.set()
    outcome = answer(hard(), "none; peak-lag", stop=stop)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "interrupted"


def test_effort_ends_at_the_same_step_in_every_run() -> None:
    laid_out = instance(hard())
    found = [answer(hard(), "none; peak-lag, load", effort=0.2) for _ in range(2)]
    assert found[0].reason == "effort limit of 0.2"
    first, second = (to_json(outcome.to_document(laid_out)) for outcome in found)
    assert first == second


def test_effort_that_ends_a_run_is_the_reason_despite_a_time_limit() -> None:
    outcome = answer(hard(), "none; peak-lag, load", effort=0.01, seconds=600)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "effort limit of 0.01"


def test_the_same_bytes_every_time() -> None:
    document = hard(12, 3)
    laid_out = instance(document)
    found = [answer(document, "none; peak-lag, load") for _ in range(2)]
    assert found[0].status is Status.OPTIMAL
    first, second = (to_json(outcome.to_document(laid_out)) for outcome in found)
    assert first == second


def test_a_memory_limit_is_heard() -> None:
    outcome = answer(hard(), "none; peak-lag", memory=resident_bytes() - 1)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason is not None
    assert "memory" in outcome.reason


def test_building_counts_as_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_cpsat, "build_program", None)
    monkeypatch.setattr(solve_cpsat, "CHOICES_PER_SECOND", 10)
    outcome = answer(hard(), "none; peak-lag", effort=40)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "effort limit of 40"


def test_what_is_too_large_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve_cpsat, "build_program", None)
    monkeypatch.setattr(solve_cpsat, "CHOICES_PER_SECOND", 10)
    outcome = answer(hard(), "none; peak-lag", seconds=5)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason is not None
    assert "too large" in outcome.reason


def test_a_search_that_does_not_stop_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Deaf(cp_model.CpSolver):
        def solve(
            self,
            model: cp_model.CpModel,  # noqa: ARG002
            solution_callback: cp_model.CpSolverSolutionCallback | None = None,  # noqa: ARG002
        ) -> Any:
            time.sleep(2.0)

    monkeypatch.setattr(cp_model, "CpSolver", Deaf)
    monkeypatch.setattr(run_limited, "GRACE_SECONDS", 0.1)
    outcome = answer(hard(), "none; peak-lag", seconds=0.5)
    assert outcome.status is Status.FEASIBLE
    assert outcome.objectives[0].is_proved is False


@pytest.mark.parametrize("document", [NOTHING, NO_MEMBERS])
@pytest.mark.parametrize("balance", ["dec-min", "kip54", "per-topic", "spread=0"])
def test_where_there_is_nothing_to_give_nothing_is_best(
    document: Document, balance: str
) -> None:
    outcome = answer(document, f"{balance}; stickiness, load, rack; max-moves=0")
    assert outcome.status is Status.OPTIMAL
    assert [objective.value for objective in outcome.objectives] == [0, (), 0]


def test_a_policy_of_balance_alone_is_answered() -> None:
    outcome = answer(CHAIN, "dec-min")
    assert outcome.status is Status.OPTIMAL
    assert outcome.objectives == ()


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("spread=0", "no assignment has loads at most 0 apart; the least spread is 1"),
        (
            "dec-min; load; max-moves=1",
            "the fewest moves to a dec-min assignment are 2, more than max-moves=1",
        ),
        (
            "kip54; load; max-moves=1",
            (
                "the fewest moves to an assignment balanced by KIP-54 are 2, "
                "more than max-moves=1"
            ),
        ),
        (
            "per-topic; load; max-moves=0",
            (
                "the fewest moves to an assignment balanced within each topic are 2, "
                "more than max-moves=0"
            ),
        ),
        (
            "spread=2; load; max-moves=0",
            (
                "the fewest moves to an assignment with loads at most 2 apart are 2, "
                "more than max-moves=0"
            ),
        ),
        (
            "spread=0; load; max-moves=0",
            "no assignment has loads at most 0 apart; the least spread is 1",
        ),
    ],
)
def test_the_unreachable_is_reported_with_the_least_there_is(
    policy: str, reason: str
) -> None:
    outcome = answer(SWAPPED, policy)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.assignment is None
    assert outcome.reason == reason


def test_the_least_spread_is_stated_as_a_fraction() -> None:
    people = {"a": member(["t"], capacity=2), "b": member(["t"], capacity=3)}
    outcome = answer(rebalance({"t": 4}, people), "spread=0")
    least = abs(Fraction(2, 2) - Fraction(2, 3))
    assert outcome.reason == (
        "no assignment has loads ÷ capacity at most 0 apart; "
        f"the least spread is {least}"
    )


def test_a_hint_is_used_if_it_is_allowed() -> None:
    document = hard()
    laid_out = instance(document)
    good = answer(document, "none; peak-lag", effort=0.5).assignment
    assert good is not None
    wrong = Assignment(assignee=good.assignee * 0 - 1)
    policy = parse_policy("none; peak-lag")
    for hint, best in ((good, good), (wrong, None)):
        stopped = Limits(seconds=0.0)
        outcome = cpsat.solve(laid_out, policy, limits=stopped, hint=hint)
        assert outcome.assignment is not None
        same = (outcome.assignment.assignee == good.assignee).all()
        assert bool(same) == (best is not None)
