"""Limits of all sorts: an answer, its bound, a reason, and nothing left behind."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from pathlib import Path

import pytest

from rebalance import Assignment
from solver.limits import Limits
from solver.milp import Backend, facing, solve
from solver.milp.check import is_allowed
from solver.policy import parse_policy
from solver.result import Status
from tests.shapes import Document
from tests.solver.milp.cases import answer, knotty, lags
from tests.solver.routes import instance

KIP54 = parse_policy("kip54-sticky")


def stopped() -> Limits:
    limits = Limits()
    limits.stop.set()
    return limits


@pytest.mark.parametrize("backend", Backend)
@pytest.mark.parametrize(
    "limits", [stopped(), Limits(seconds=0), Limits(memory=1), Limits(seconds=0.3)]
)
def test_a_limit_gives_what_there_is(backend: Backend, limits: Limits) -> None:
    laid_out = instance(knotty())
    outcome = solve(laid_out, KIP54, limits=limits, backend=backend)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason
    assert outcome.assignment is not None
    assert is_allowed(laid_out, KIP54, outcome.assignment)
    (reached,) = outcome.objectives
    assert 0 <= reached.bound < reached.value  # type: ignore[operator]


@pytest.mark.parametrize("backend", Backend)
def test_no_program_is_written_once_a_limit_has_struck(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def increments(*_: object) -> None:
        raise AssertionError("written all the same")

    monkeypatch.setattr(facing, "increments", increments)
    outcome = solve(
        instance(knotty()),
        parse_policy("dec-min; stickiness"),
        limits=stopped(),
        backend=backend,
    )
    assert outcome.assignment is not None
    assert outcome.reason == "interrupted"


@pytest.mark.parametrize("backend", Backend)
def test_stopping_meanwhile(
    backend: Backend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Stopped from another thread: no file and no word is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    limits = Limits(seconds=60)
    threading.Timer(0.5, limits.stop.set).start()
    start = time.monotonic()
    outcome = solve(instance(knotty()), KIP54, limits=limits, backend=backend)
    assert time.monotonic() - start < 30  # not the time limit
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "interrupted"
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("backend", Backend)
def test_effort_strikes_at_the_same_place(backend: Backend) -> None:
    document: Document = lags(*(7919 * n % 1009 for n in range(1, 25)), members=5)
    laid_out, policy = instance(document), parse_policy("none; lag-deviation")
    one, other = (
        solve(laid_out, policy, limits=Limits(effort=0.01), backend=backend)
        for _ in range(2)
    )
    assert one.objectives == other.objectives
    assert one.assignment is not None
    assert other.assignment is not None
    assert one.assignment.assignee.tolist() == other.assignment.assignee.tolist()


def test_too_large_is_not_begun() -> None:
    document = lags(*range(2000), members=100)
    outcome = solve(instance(document), parse_policy("lag-aware"), limits=Limits())
    assert outcome.status is Status.FEASIBLE
    assert "too large" in str(outcome.reason)
    assert outcome.objectives[0].bound == -(-sum(range(2000)) // 100)


def test_nothing_is_said_on_success(capfd: pytest.CaptureFixture[str]) -> None:
    for backend in Backend:
        policy = parse_policy("none; peak-lag, lag-spread")
        laid_out = instance(lags(5, 4, 3, 3, 1, members=2))
        outcome = solve(laid_out, policy, limits=Limits(), backend=backend)
        assert outcome.status is Status.OPTIMAL
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("backend", Backend)
def test_a_hint_is_used_and_never_trusted(backend: Backend) -> None:
    laid_out = instance(lags(5, 4, 3, 3, 1, members=2))
    policy = parse_policy("none; peak-lag")
    best = solve(laid_out, policy, limits=Limits(), backend=backend)
    assert best.assignment is not None
    outcome = solve(laid_out, policy, limits=stopped(), hint=best.assignment)
    assert outcome.objectives[0].value == best.objectives[0].value
    nobody = Assignment(assignee=best.assignment.assignee * 0 - 1)
    outcome = solve(laid_out, policy, limits=Limits(), hint=nobody, backend=backend)
    assert outcome.objectives == best.objectives


def test_no_solver_is_left_in_memory() -> None:
    """HiGHS, its callback and the program could hold each other for good."""
    for _ in range(3):
        answer(lags(5, 4, 3), "none; peak-lag, stickiness")
    gc.collect()
    kept = [one for one in gc.get_objects() if type(one).__name__ == "HighsCallback"]
    assert not kept
