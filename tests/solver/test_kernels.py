"""Kernels are compiled at set-up and loaded before the clock starts.

Two tests show this without compiling every kernel: what a broad run calls is called by
a task of the set-up, and what a task calls is compiled and stored.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BROAD_RUN = """
import json
from heuristics import ASSIGNORS
from rebalance import InstanceError, instance_of, parse_rebalance
from pipeline.evaluation import DEFAULT, Evaluation
from rebalance import ClaimRule
from solver import (
    NAMED, Limits, compiled_kernels, parse_policy, requested_kernels, solve
)
from solver.exact import solve_without_closed_form
from tests.support.strategies import LARGER, SMALL, seeded_rebalance

POLICIES = [*NAMED.values(), *map(parse_policy, (
    "dec-min; stickiness, rack", "per-topic; stickiness", "none; load",
    "none; peak-lag",
    "per-topic; topic-peak-lag", "none; peak-lag; max-moves=2", "kip54; peak-lag",
))]
for seed in range(60):
    document = seeded_rebalance(seed, (SMALL, LARGER)[seed % 2])
    instance = instance_of(parse_rebalance(json.dumps(document)))
    solve_without_closed_form(instance)
    for assignor in ASSIGNORS.values():
        if assignor.refuses(instance) is None:
            assignor.assign(instance)
    evaluation = Evaluation(
        parse_rebalance(json.dumps(document)), ClaimRule.NEWEST_CLAIM
    )
    list(evaluation.answers(DEFAULT))
    for policy in POLICIES:
        if instance.lag is not None or not policy.needs_lag:
            try:
                solve(instance, policy, limits=Limits(effort=0.2))
            except InstanceError:
                pass
print(*requested_kernels(), sep="\\n")
print(*(f"compiled {name}" for name in compiled_kernels()), sep="\\n")
"""

EVERY_TASK = """
from solver import requested_kernels
from tools.kernel_tasks import tasks

for task in tasks().values():
    task()
print(*requested_kernels(), sep="\\n")
"""

SMALL_RUN = """
from heuristics import ASSIGNORS
from rebalance import instance_of, parse_rebalance
from solver import compiled_kernels

ASSIGNORS["range"].assign(instance_of(parse_rebalance(
    '{"format": "rebalance/1", "group": "g", "topics": {"t": {"partitions": 2}},'
    ' "members": {"a": {"subscription": ["t"]}}}'
)))
print(*compiled_kernels(), sep="\\n")
"""


def run(code: list[str], cache: Path | None = None) -> list[str]:
    """Run Python, with a cache of kernels of its own if one is given."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, *code]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return [line for line in ended.stdout.splitlines() if line]


@pytest.mark.nightly(minutes=1.2)
def test_the_tasks_of_the_set_up_call_every_kernel_that_a_run_calls() -> None:
    """And nothing is compiled in a checkout that was set up."""
    needed = set(run(["-c", BROAD_RUN]))
    assert len(needed) >= 40, needed
    assert not [line for line in needed if line.startswith("compiled ")]
    assert needed - set(run(["-c", EVERY_TASK])) == set()


@pytest.mark.heavy
def test_what_a_task_calls_is_compiled_and_stored(tmp_path: Path) -> None:
    assert run(["-c", SMALL_RUN], tmp_path / "empty"), (
        "an empty cache: all are compiled"
    )
    run(["-m", "tools.kernel_compilation", "assignor range"], tmp_path / "set-up")
    assert run(["-c", SMALL_RUN], tmp_path / "set-up") == []
