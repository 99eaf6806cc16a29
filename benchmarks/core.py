"""Times of the exact core and of OR-Tools: ``python -m benchmarks.core``.

Measured from columns to columns, including the certificate and its check. Each size
runs in a separate process, whose kernels are loaded by a tiny solve. In the same
process, OR-Tools' min-cost flow computes the stickiest assignment on the same optimal
face, from the levels that the core has computed, which is less work than that of the
core.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from ortools.graph.python import min_cost_flow

from benchmarks.core_instances import CASES, GROWING, one_left
from rebalance import Instance, count_kept
from solver import Result, Status, solve

REPEATS = 7
ALL = CASES | GROWING


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(ALL)}; all if none")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(measured(arguments.cases[0])))
        return
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python "
          f"{platform.python_version()}, numba {version('numba')}, "
          f"OR-Tools {version('ortools')}; milliseconds")  # fmt: skip
    print(
        f"{'':5}{'first':>9}{'median':>9}{'OR-Tools':>10}{'ratio':>7}  kept      what"
    )
    for name in arguments.cases or ALL:
        command = [sys.executable, "-m", "benchmarks.core", "--here", name]
        said = subprocess.run(command, check=True, capture_output=True).stdout
        row = json.loads(said)
        print(
            f"{name:5}{row['first']:9.2f}{row['median']:9.2f}{row['peer']:10.2f}"
            f"{row['peer'] / row['median']:7.1f}  {row['kept']:<9} {ALL[name][0]}"
        )


def measured(name: str) -> dict[str, float]:
    """Time one size in this process; reject an answer that is not proved."""
    solve(one_left(members=3, partitions=3))
    tiny = CASES["S3"][1]() if name != "S3" else CASES["S5"][1]()
    solve(tiny)  # loads the kernels of the flow
    instance = ALL[name][1]()
    answer = solve(instance)
    if answer.status is not Status.OPTIMAL:
        raise SystemExit(f"{name}: not proved")
    ours, peer = [], []
    fresh = ALL[name][1]()
    ours.append(_milliseconds(lambda: solve(fresh)))
    for _ in range(REPEATS - 1):
        peer.append(_milliseconds(lambda: _check_peer(instance, answer)))
        ours.append(_milliseconds(lambda: solve(instance)))
    return {
        "first": ours[0],
        "median": statistics.median(ours),
        "peer": statistics.median(peer),
        "kept": _kept(instance, answer),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def _check_peer(instance: Instance, answer: Result) -> None:
    kept = kept_by_ortools(instance, answer.require_certificate().level)
    ours = _kept(instance, answer)
    if kept != ours:
        raise SystemExit(f"OR-Tools keeps {kept}, we keep {ours}")


def _kept(instance: Instance, answer: Result) -> int:
    return count_kept(instance, answer.require_assignment())


def kept_by_ortools(instance: Instance, level: np.ndarray) -> int:
    """Return the largest kept count on the optimal face, by OR-Tools' min-cost flow."""
    n_classes = instance.n_classes
    class_level = np.zeros(n_classes, dtype=np.int64)
    class_level[instance.member_class] = level
    of_class = np.repeat(np.arange(n_classes), np.diff(instance.class_offsets))
    floor = np.full(len(instance.topics), np.iinfo(np.int64).max)
    np.minimum.at(floor, instance.class_topics, class_level[of_class])
    flow = min_cost_flow.SimpleMinCostFlow()
    face = class_level[of_class] == floor[instance.class_topics]
    _add_arcs(flow, instance, level, floor, of_class=of_class, face=face)
    supply = _supplies(instance, level, floor)
    flow.set_nodes_supplies(np.arange(supply.size), supply)
    if flow.solve() != flow.OPTIMAL:
        raise SystemExit("OR-Tools found no flow")
    return -int(flow.optimal_cost())


def _add_arcs(
    flow: min_cost_flow.SimpleMinCostFlow,
    instance: Instance,
    level: np.ndarray,
    floor: np.ndarray,
    *,
    of_class: np.ndarray,
    face: np.ndarray,
) -> None:
    """Add the arcs from topics by kept partitions or classes to members and levels.

    Nodes are the topics, the classes of subscriptions, the members, and the levels.
    """
    n_members = len(instance.members)
    class_node = len(instance.topics)
    member_node = class_node + instance.n_classes
    level_node = member_node + n_members
    rank = np.unique(level, return_inverse=True)[1]
    owned = instance.owner >= 0
    pair, amount = np.unique(
        instance.partition_topic[owned].astype(np.int64) * n_members
        + instance.owner[owned],
        return_counts=True,
    )
    topic, member = pair // n_members, pair % n_members
    on_face = level[member] == floor[topic]
    topic, member, amount = topic[on_face], member[on_face], amount[on_face]
    everyone = np.arange(n_members)
    free = np.full(1, instance.n_partitions)
    tail = [topic, instance.class_topics[face], class_node + instance.member_class]
    head = [member_node + member, class_node + of_class[face], member_node + everyone]
    room = [amount, free.repeat(face.sum()), free.repeat(n_members)]
    tail.append(member_node + everyone)
    head.append(level_node + rank)
    room.append(np.ones(n_members, dtype=np.int64))
    cost = np.zeros(sum(part.size for part in tail), dtype=np.int64)
    cost[: topic.size] = -1
    flow.add_arcs_with_capacity_and_unit_cost(
        np.concatenate(tail), np.concatenate(head), np.concatenate(room), cost
    )


def _supplies(instance: Instance, level: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Return the supply of each node: topics send, members and levels receive."""
    n_topics, n_members = len(instance.topics), len(instance.members)
    member_node = n_topics + instance.n_classes
    level_node = member_node + n_members
    distinct, rank = np.unique(level, return_inverse=True)
    served = floor < np.iinfo(np.int64).max
    supply = np.zeros(level_node + distinct.size, dtype=np.int64)
    supply[:n_topics] = instance.topic_sizes * served
    supply[member_node:level_node] = -level
    total = np.bincount(
        np.searchsorted(distinct, floor[served]),
        weights=instance.topic_sizes[served],
        minlength=distinct.size,
    ).astype(np.int64)
    supply[level_node:] = -(total - np.bincount(rank) * distinct)
    return supply


if __name__ == "__main__":
    main()
