"""Too little time for a flow with racks: the stickiest, and bounds that hold."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event

import psutil
import pytest

from solver import (
    BalanceKind,
    Limits,
    Objective,
    ObjectiveResult,
    Result,
    Status,
    flow_policies,
    parse_policy,
    values_of,
)
from solver.flow_policies import ortools_flow
from tests.shapes import Document
from tests.solver.brute import Brute
from tests.solver.flow_policies.routes import ALWAYS, drawn, judged
from tests.solver.routes import instance
from verify import TooLarge


def stickiest_bound(document: Document, found: Result, one: ObjectiveResult) -> int:
    """Return what the stickiest assignment proves of an objective on its face.

    That is the cost of its moves, or nothing if objectives before ``load`` have
    restricted the face.
    """
    is_free = found.policy.balance.kind is BalanceKind.NONE
    if is_free and found.policy.objectives[0].only is not Objective.LOAD:
        return 0
    assert found.assignment is not None
    stickiness = parse_policy("none; stickiness")
    (moves,) = values_of(instance(document), found.assignment, stickiness)
    assert isinstance(moves, int)
    weights = {measure: weight for weight, measure in one.of.terms}
    return weights.get(Objective.STICKINESS, 0) * moves


@pytest.mark.parametrize("stopped", [False, True])
def test_bounds_hold_and_the_judge_agrees(*, stopped: bool) -> None:
    statuses = dict.fromkeys(Status, 0)
    for seed in range(25):
        document = drawn(seed)
        try:
            brute = Brute(document)
        except TooLarge:
            continue
        for text in ALWAYS:
            stop = Event()
            if stopped:
                stop.set()
            limits = Limits(seconds=None if stopped else 0.0, stop=stop)
            policy = parse_policy(text)
            outcome = flow_policies.solve(instance(document), policy, limits=limits)
            assert outcome is not None
            statuses[outcome.status] += 1
            best = brute.best(text)
            assert best is not None
            verdict = judged(document, outcome)
            assert verdict["policy"]["balance_met"]
            assert "certificate" not in verdict["evidence"]
            assert "status" not in verdict["evidence"]
            for one, level in zip(
                outcome.objectives, verdict["objectives"], strict=True
            ):
                assert "evidence" not in level, (text, level)
                assert level["proved"] == one.is_proved
            if outcome.status is Status.FEASIBLE:
                struck = "interrupted" if stopped else "time limit of 0 s"
                assert outcome.reason == struck
            for one, least in zip(outcome.objectives, best, strict=True):
                bound = list(one.bound) if isinstance(one.bound, tuple) else one.bound
                assert bound <= least  # type: ignore[operator]
                if not one.is_proved:
                    assert bound == stickiest_bound(document, outcome, one), text
                    break
    assert statuses[Status.FEASIBLE] > 20
    assert statuses[Status.OPTIMAL] > 20
    assert statuses[Status.UNKNOWN] == statuses[Status.INFEASIBLE] == 0


RACKS = "dec-min; rack, stickiness"


class Later(Event):
    """Set after a number of checks."""

    left = 3

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.fixture
def always_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every flow a process of its own, however small."""
    monkeypatch.setattr(ortools_flow, "ARCS_IN_PROCESS", -1)


def answer(seed: int, limits: Limits | None = None) -> Result:
    outcome = flow_policies.solve(
        instance(drawn(seed)), parse_policy(RACKS), limits=limits
    )
    assert outcome is not None
    return outcome


def with_racks() -> int:
    """Return a seed whose racks cost something."""
    return next(
        seed for seed in range(100) if answer(seed).objectives[0].value not in {0, ()}
    )


@pytest.mark.usefixtures("always_in_a_process")
def test_a_child_process_gives_an_equal_result(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = range(with_racks(), with_racks() + 4)
    there = [answer(seed) for seed in seeds]
    monkeypatch.setattr(ortools_flow, "ARCS_IN_PROCESS", 10**9)
    for one, seed in zip(there, seeds, strict=True):
        here = answer(seed)
        assert here.objectives == one.objectives
        assert here.assignment is not None
        assert one.assignment is not None
        assert (here.assignment.assignee == one.assignment.assignee).all()


@pytest.mark.usefixtures("always_in_a_process")
def test_a_flow_ends_at_a_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text("while True: pass\n")
    seed, children = with_racks(), psutil.Process().children()
    monkeypatch.setattr(ortools_flow, "__file__", str(endless))
    for limits, reason in (
        (Limits(stop=Later()), "interrupted"),
        (Limits(seconds=1), "time limit of 1 s"),
    ):
        outcome = answer(seed, limits)
        assert (outcome.status, outcome.reason) == (Status.FEASIBLE, reason)
        assert outcome.objectives[0].bound == 0
        assert psutil.Process().children() == children


@pytest.mark.usefixtures("always_in_a_process")
def test_the_memory_of_the_process_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    greedy = tmp_path / "greedy.py"
    greedy.write_text("held = [b'x' * 2**20 for _ in range(300)]\nwhile True: pass\n")
    seed = with_racks()
    monkeypatch.setattr(ortools_flow, "__file__", str(greedy))
    room = psutil.Process().memory_info().rss + 200 * 2**20
    outcome = answer(seed, Limits(memory=room, seconds=120))
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason is not None
    assert outcome.reason.startswith("memory limit")


@pytest.mark.usefixtures("always_in_a_process")
def test_a_process_that_is_ended_from_outside_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seed, ended = with_racks(), tmp_path / "ended.py"
    ended.write_text(f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})\n")
    monkeypatch.setattr(ortools_flow, "__file__", os.fspath(ended))
    outcome = answer(seed)
    assert outcome.status is Status.FEASIBLE
    assert outcome.reason == "what counts racks was ended from outside"
