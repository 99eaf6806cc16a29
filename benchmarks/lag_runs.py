"""The runs of one kind, in this process: one line each."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

import verify
from benchmarks.lags import group
from benchmarks.plain import by_cp_sat, by_highs
from heuristics.lag_aware import LagAwareAssignor
from rebalance import Assignment, Instance, document_of, to_json
from solver.lag import solve
from solver.limits import Limits
from solver.policy import Policy, parse_policy
from solver.values import values_of

Line = dict[str, Any]
JUDGED = 10_000  # partitions; the judge reads documents, and is not in a hurry
VERSIONS = {"cp-sat": "ortools", "highs": "highspy"}


def runs(case: Line) -> Iterator[Line]:
    """Run the seeds of a case, after one tiny run that loads what there is to load."""
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


def _measured(instance: Instance, case: Line) -> Line:
    cpu, wall = time.process_time(), time.perf_counter()
    assignment, bound, status = _answered(instance, case)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    policy = parse_policy(case["policy"])
    value = None
    if assignment is not None:
        (value,) = values_of(instance, assignment, policy)
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
        "bound": bound,
        "status": status,
        "verdict": _verdict(instance, assignment, document),
        "wall_s": round(wall, 4),
        "cpu_s": round(cpu, 4),
        "limit_s": case["seconds"],
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
    }


def _answered(
    instance: Instance, case: Line
) -> tuple[Assignment | None, int | None, str]:
    policy = parse_policy(case["policy"])
    if case["engine"] == "ours":
        return _by_us(instance, policy, case["seconds"])
    if case["engine"] == "greedy":
        return LagAwareAssignor().assign(instance), None, "heuristic"
    by = by_cp_sat if case["engine"] == "cp-sat" else by_highs
    if instance.lag is None:
        raise SystemExit("no lag")
    found = by(instance.lag.tolist(), case["members"], case["seconds"])
    status = "optimal" if found.is_proved else "feasible"
    if found.holder is None:
        return None, None, "unknown"
    return Assignment(assignee=found.holder), found.bound, status


def _by_us(
    instance: Instance, policy: Policy, seconds: float
) -> tuple[Assignment | None, int | None, str]:
    outcome = solve(instance, policy, limits=Limits(seconds=seconds))
    bound = outcome.objectives[0].bound
    if not isinstance(bound, int):
        raise SystemExit("peak lag is no vector")
    return outcome.assignment, bound, outcome.status.value


def _verdict(
    instance: Instance, assignment: Assignment | None, document: bytes
) -> str | None:
    """Ask the judge; None if nobody asked."""
    if assignment is None or instance.n_partitions > JUDGED:
        return None
    answer = json.loads(to_json(document_of(instance, assignment, assignor="any")))
    verdict = str(verify.judge(json.loads(document), answer)["verdict"])
    if verdict != "valid":
        sys.exit(f"{instance.group}: {verdict}")
    return verdict


def written(instance: Instance) -> bytes:
    """Write a group of equal subscriptions as canonical rebalance/1, without claims."""
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
