"""Limits of all sorts: an answer, its bound, a reason, and nothing left behind."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from pathlib import Path

import pytest

from solver import Limits, Status, parse_policy
from solver.milp import is_allowed, solve, solve_milp
from tests.shapes import Document
from tests.solver.milp.cases import answer, knotty, lags
from tests.solver.routes import instance

KIP54 = parse_policy("kip54-sticky")


def stopped() -> Limits:
    limits = Limits()
    limits.stop.set()
    return limits


@pytest.mark.parametrize(
    "limits", [stopped(), Limits(seconds=0), Limits(memory=1), Limits(seconds=0.3)]
)
def test_a_limit_returns_the_best_so_far(limits: Limits) -> None:
    laid_out = instance(knotty())
    outcome = solve(laid_out, KIP54, limits=limits)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason
    assert outcome.assignment is not None
    assert is_allowed(laid_out, KIP54, outcome.assignment)
    (reached,) = outcome.objectives
    assert 0 <= reached.bound < reached.value  # type: ignore[operator]


def test_no_program_is_built_after_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def policy_program(*_: object) -> None:
        raise AssertionError("written all the same")

    monkeypatch.setattr(solve_milp, "policy_program", policy_program)
    outcome = solve(
        instance(knotty()),
        parse_policy("dec-min; stickiness"),
        limits=stopped(),
    )
    assert outcome.assignment is not None
    assert outcome.reason == "interrupted"


def test_stopping_meanwhile(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Stopped from another thread: no file and no word is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    limits = Limits(seconds=60)
    threading.Timer(0.5, limits.stop.set).start()
    start = time.monotonic()
    outcome = solve(instance(knotty()), KIP54, limits=limits)
    assert time.monotonic() - start < 30  # not the time limit
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "interrupted"
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_effort_ends_at_the_same_step() -> None:
    document: Document = lags(*(7919 * n % 1009 for n in range(1, 25)), members=5)
    laid_out, policy = instance(document), parse_policy("none; lag-deviation")
    one, other = (solve(laid_out, policy, limits=Limits(effort=0.01)) for _ in range(2))
    assert one.objectives == other.objectives
    assert one.assignment is not None
    assert other.assignment is not None
    assert one.assignment.assignee.tolist() == other.assignment.assignee.tolist()


def test_too_large_is_not_begun() -> None:
    document = lags(*range(2000), members=100)
    outcome = solve(instance(document), parse_policy("lag-aware"), limits=Limits())
    assert outcome.status is Status.FEASIBLE
    assert "too large" in str(outcome.reason)
    assert outcome.objectives[0].bound == 0


def test_nothing_is_said_on_success(capfd: pytest.CaptureFixture[str]) -> None:
    policy = parse_policy("none; peak-lag, lag-spread")
    laid_out = instance(lags(5, 4, 3, 3, 1, members=2))
    outcome = solve(laid_out, policy, limits=Limits())
    assert outcome.status is Status.OPTIMAL
    assert capfd.readouterr() == ("", "")


def test_no_solver_is_left_in_memory() -> None:
    """HiGHS, its callback and the program could hold each other for good."""
    for _ in range(3):
        answer(lags(5, 4, 3), "none; peak-lag, stickiness")
    gc.collect()
    kept = [one for one in gc.get_objects() if type(one).__name__ == "HighsCallback"]
    assert not kept
