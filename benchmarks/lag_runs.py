"""Runs of one kind in this process, one line per run."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import verify
from benchmarks.lags import group
from benchmarks.plain import by_cp_sat, by_highs
from heuristics import ASSIGNORS
from rebalance import Assignment, Instance, document_of, to_json
from solver.limits import Limits
from solver.objectives import values_of
from solver.peak_lag import solve
from solver.policy import Policy, parse_policy
from solver.result import Result

Line = dict[str, Any]
JUDGED = 10_000  # partitions; judging larger documents takes too long
PACKAGES = ("numpy", "numba", "ortools", "highspy")
VERSIONS = {"cp-sat": "ortools", "highs": "highspy"}
HEURISTICS = {"greedy": "lag-aware", "swaps": "lag-swaps"}


def runs(case: Line) -> Iterator[Line]:
    """Run the seeds of a case, after a tiny run that loads libraries and kernels."""
    # Imported here, so that the first run does not load it.
    import solver.peak_lag.column_generation  # noqa: F401, PLC0415

    warm = {**case, "partitions": 12, "members": 3, "topics": 2, "seconds": 0.5}
    _answered(_group(warm, 0), warm)
    for seed in range(case["seeds"]):
        yield _measured(_group(case, seed), case)


def _group(case: Line, seed: int) -> Instance:
    return group(
        case["draw"],
        partitions=case["partitions"],
        members=case["members"],
        topics=case["topics"],
        seed=seed,
    )


class _EngineAnswer(NamedTuple):
    """Result of an engine.

    Attributes
    ----------
    outcome : Result or None
        With its proof, if there is one.
    """

    assignment: Assignment | None
    bound: int | None
    status: str
    outcome: Result | None = None


def _measured(instance: Instance, case: Line) -> Line:
    cpu, wall = time.process_time(), time.perf_counter()
    found = _answered(instance, case)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    policy = parse_policy(case["policy"])
    value = None
    if found.assignment is not None:
        (value,) = values_of(instance, found.assignment, policy)
    document = written(instance)
    return {
        "instance": instance.group,
        "digest": hashlib.sha256(document).hexdigest(),
        "size": case["size"],
        "draw": case["draw"],
        "topics": case["topics"],
        "policy": case["policy"],
        "assignor": case["engine"],
        "version": version(VERSIONS.get(case["engine"], "assignor-oracle")),
        "objective": value,
        "bound": found.bound,
        "status": found.status,
        "rests_on": _rests_on(found.outcome),
        "verdict": _verdict(instance, found, document),
        "wall_s": round(wall, 4),
        "cpu_s": round(cpu, 4),
        "limit_s": case["seconds"],
        "mebibytes": mebibytes,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _answered(instance: Instance, case: Line) -> _EngineAnswer:
    policy = parse_policy(case["policy"])
    if case["engine"] == "ours":
        return _by_us(instance, policy, case["seconds"])
    if case["engine"] in HEURISTICS:
        assignor = ASSIGNORS[HEURISTICS[case["engine"]]]
        return _EngineAnswer(assignor.assign(instance), None, "heuristic")
    by = by_cp_sat if case["engine"] == "cp-sat" else by_highs
    if instance.lag is None:
        raise SystemExit("no lag")
    found = by(instance.lag.tolist(), case["members"], case["seconds"])
    status = "optimal" if found.is_proved else "feasible"
    if found.holder is None:
        return _EngineAnswer(None, None, "unknown")
    return _EngineAnswer(Assignment(assignee=found.holder), found.bound, status)


def _by_us(instance: Instance, policy: Policy, seconds: float) -> _EngineAnswer:
    outcome = solve(instance, policy, limits=Limits(seconds=seconds))
    bound = outcome.objectives[0].bound
    if not isinstance(bound, int):
        raise SystemExit("peak lag is no vector")
    return _EngineAnswer(outcome.assignment, bound, outcome.status.value, outcome)


def _rests_on(outcome: Result | None) -> str | None:
    proof = None if outcome is None else outcome.objectives[0].proof
    return None if proof is None else proof.by


def _verdict(instance: Instance, found: _EngineAnswer, document: bytes) -> str | None:
    """Judge the answer, including its terms; None if it is not judged."""
    if found.assignment is None or instance.n_partitions > JUDGED:
        return None
    if found.outcome is None:
        answer = to_json(document_of(instance, found.assignment, assignor="any"))
    else:
        answer = to_json(found.outcome.to_document(instance))
    judged = verify.judge(json.loads(document), json.loads(answer))
    verdict = str(judged["verdict"])
    if verdict != "valid":
        sys.exit(f"{instance.group}: {verdict}")
    for level in judged.get("objectives", ()):
        if level["rests_on"] == "terms" and level["bound"] != found.bound:
            sys.exit(f"{instance.group}: its terms do not hold")
    return verdict


def written(instance: Instance) -> bytes:
    """Write a group without claims as canonical rebalance/1."""
    lag: NDArray[np.int64] = np.zeros(0, np.int64)
    lag = lag if instance.lag is None else instance.lag
    offsets = instance.topic_offsets.tolist()
    topics = {
        name: {"partitions": end - start, "lag": lag[start:end].tolist()}
        for name, start, end in zip(
            instance.topics, offsets[:-1], offsets[1:], strict=True
        )
    }
    members = {name: {"subscription": list(topics)} for name in instance.members}
    document = {"format": "rebalance/1", "group": "benchmark", "topics": topics,
                "members": members}  # fmt: skip
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
