"""How a solve ends without an answer, or with reasons; see also `test_limits`."""

from __future__ import annotations

import time
from random import Random

import pytest
from ortools.sat.python import cp_model

from rebalance import Assignment
from solver import Limits, Result, Status, cpsat, parse_policy, run_limited
from solver.cpsat import solve_cpsat
from tests.solver.routes import instance, lagging
from tests.support.shapes import Document, member, rebalance

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


def test_without_a_start_a_limit_leaves_nothing() -> None:
    outcome = answer(SWAPPED, "spread=3; load; max-moves=1", seconds=0.0)
    assert outcome.status is Status.UNKNOWN
    assert outcome.assignment is None
    assert outcome.objectives == ()
    assert outcome.reason is not None
    assert "time limit of 0 s" in outcome.reason


@pytest.mark.parametrize(
    ("allowed", "reason"),
    [({"effort": 40}, "effort limit of 40"), ({"seconds": 5}, "too large")],
)
def test_no_program_is_built_after_a_limit(
    allowed: dict[str, float], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve_cpsat, "build_program", None)
    monkeypatch.setattr(solve_cpsat, "CHOICES_PER_SECOND", 10)
    outcome = answer(hard(), "none; peak-lag", **allowed)
    assert outcome.status is Status.FEASIBLE
    assert reason in str(outcome.reason)


def test_a_search_that_does_not_stop_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cp_model.CpSolver, "solve", lambda *_: time.sleep(2.0))
    monkeypatch.setattr(run_limited, "GRACE_SECONDS", 0.1)
    outcome = answer(hard(), "none; peak-lag", seconds=0.5)
    assert outcome.status is Status.FEASIBLE
    assert outcome.objectives[0].is_proved is False


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
