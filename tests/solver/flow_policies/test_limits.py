"""Large flows with racks run in a process of their own, which ends at a limit."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import psutil
import pytest

from solver import Limits, Result, Status, flow_policies, parse_policy
from solver.flow_policies import ortools_flow
from tests.solver.flow_policies.routes import drawn
from tests.solver.routes import instance

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
    first = with_racks()
    seeds = range(first, first + 2)
    there = [answer(seed) for seed in seeds]
    monkeypatch.setattr(ortools_flow, "ARCS_IN_PROCESS", 10**9)
    for result, seed in zip(there, seeds, strict=True):
        here = answer(seed)
        assert here.objectives == result.objectives
        assert here.assignment is not None
        assert result.assignment is not None
        assert (here.assignment.assignee == result.assignment.assignee).all()


def test_the_process_imports_nothing_of_this_project() -> None:
    """Under the script's name it would compute; what it imports is the same."""
    code = (
        f"import runpy, sys; runpy.run_path({ortools_flow.__file__!r}); "
        "print({name.partition('.')[0] for name in sys.modules})"
    )
    command = [sys.executable, "-P", "-c", code]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    imported = ast.literal_eval(ran.stdout)
    assert "ortools" in imported
    assert not imported & {"solver", "rebalance", "verify"}


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
    assert outcome.reason == "the process that counts racks was ended from outside"
