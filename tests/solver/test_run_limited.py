"""Work in a child process or a thread ends when a limit is exceeded.

Reaches into `solver.run_limited` to compare its waiting with a child's true end.
"""

from __future__ import annotations

import subprocess
import sys
from threading import Event
from types import SimpleNamespace

import pytest

from solver import Limits, cpsat, run_limited
from solver.run_limited import exceeded_limits, killed_on_exit, run_in_thread

SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]
PAUSES = [sys.executable, "-c", "import time; time.sleep(0.2)"]


def test_a_child_that_ends_is_waited_for() -> None:
    with subprocess.Popen(PAUSES) as child:
        assert list(exceeded_limits(child, Limits())) == []
        assert child.poll() == 0


def test_the_child_is_checked_many_times_per_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Short pauses at first, for a child that ends early, and never a long one."""
    pauses: list[float] = []
    # Not time.sleep itself: other threads of this process call it, too.
    monkeypatch.setattr(run_limited, "time", SimpleNamespace(sleep=pauses.append))
    with subprocess.Popen(SLEEPS) as child, killed_on_exit(child):
        named = exceeded_limits(child, Limits(seconds=0))
        assert [next(named) for _ in range(20)] == ["time limit of 0 s"] * 20
    assert pauses == sorted(pauses)
    assert len(pauses) == 19
    assert 0 < pauses[0] < 0.005
    assert pauses[-1] < 0.05


def test_an_exceeded_limit_is_named_until_the_child_is_killed() -> None:
    with subprocess.Popen(SLEEPS) as child, killed_on_exit(child):
        named = exceeded_limits(child, Limits(seconds=0.1))
        assert [next(named) for _ in range(3)] == ["time limit of 0.1 s"] * 3
        assert child.poll() is None
    assert child.returncode != 0


def test_the_memory_of_the_child_counts() -> None:
    with subprocess.Popen(SLEEPS) as child, killed_on_exit(child):
        named = exceeded_limits(child, Limits(memory=1 << 20))
        assert next(named) == "memory limit of 1 MiB"


def test_a_solver_is_stopped_or_left_behind() -> None:
    limits = Limits()
    limits.stop.set()
    obedient, deaf = Event(), Event()
    assert run_in_thread(obedient.wait, obedient.set, limits)
    assert not run_in_thread(deaf.wait, lambda: None, limits)
    deaf.set()


def test_ctrl_c_is_left_to_the_caller() -> None:
    solver = cpsat.configure_solver(Limits())
    assert not solver.parameters.catch_sigint_signal
