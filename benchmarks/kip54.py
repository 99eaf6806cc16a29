"""How far KIP-54's own optimum can be proved: ``python -m benchmarks.kip54``.

Members subscribe to random topics. Owners are either those of the optimum before some
members left and as many joined, as in clusters, or random, which is artificial and
hard. Each line is one rebalance under ``kip54-sticky``, with the moves of the global
optimum, ``sticky``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import time
from importlib.metadata import version
from typing import Any

from rebalance import Instance, document_of, instance_of, parse_rebalance
from solver import solve
from solver.limits import Limits
from solver.policy import parse_policy

SIZES = ((20, 20), (50, 50), (100, 100), (200, 200))
"""Members and topics; ten partitions per topic, five topics per member."""
PARTITIONS, EACH = 10, 5
CHURNS = (1, 3, None)

Document = dict[str, Any]


def main() -> None:
    """Print one line per rebalance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="limit of each")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, OR-Tools {version('ortools')}; "
        f"seeds 0-{arguments.seeds - 1}, at most {arguments.seconds:g} s each"
    )
    print(f"{'members':>7}{'partitions':>12}  {'owners':<12}{'seed':>4}"
          f"{'sticky':>8}{'kip54':>7}{'bound':>7}{'seconds':>9}")  # fmt: skip
    for members, topics in SIZES:
        for churn in CHURNS:
            owners = "at random" if churn is None else f"{churn} replaced"
            for seed in range(arguments.seeds):
                drawn = random.Random(seed)  # noqa: S311
                instance = _instance(rebalance(members, topics, churn, drawn))
                line = measured(instance, arguments.seconds)
                print(f"{members:7}{topics * PARTITIONS:12}  {owners:<12}{seed:4}"
                      + line, flush=True)  # fmt: skip


def measured(instance: Instance, seconds: float) -> str:
    """Solve both policies; return moves of each, and the second's bound and time."""
    sticky = solve(instance, parse_policy("sticky"))
    start = time.perf_counter()
    kip54 = solve(
        instance, parse_policy("kip54-sticky"), limits=Limits(seconds=seconds)
    )
    took = time.perf_counter() - start
    (most,), (own,) = sticky.objectives, kip54.objectives
    return f"{most.value:8}{own.value:7}{own.bound:7}{took:9.2f}"


def rebalance(
    members: int, topics: int, churn: int | None, drawn: random.Random
) -> Document:
    """Draw a rebalance in which ``churn`` members are replaced; None: random owners."""
    document: Document = {
        "format": "rebalance/1",
        "group": "benchmark",
        "topics": {f"t{i:03}": {"partitions": PARTITIONS} for i in range(topics)},
        "members": {},
    }
    for number in range(members):
        document["members"][f"m{number:03}"] = _member(document, drawn)
    if churn is None:
        _own_at_random(document, drawn)
        return document
    _own(document)
    for gone in drawn.sample(sorted(document["members"]), churn):
        del document["members"][gone]
    for number in range(churn):
        document["members"][f"n{number:03}"] = _member(document, drawn)
    return document


def _member(document: Document, drawn: random.Random) -> Document:
    return {"subscription": sorted(drawn.sample(sorted(document["topics"]), EACH))}


def _own_at_random(document: Document, drawn: random.Random) -> None:
    for topic in document["topics"]:
        takers = [
            member
            for member in document["members"].values()
            if topic in member["subscription"]
        ]
        for number in range(PARTITIONS if takers else 0):
            owned = drawn.choice(takers).setdefault("owned", {})
            owned.setdefault(topic, []).append(number)


def _own(document: Document) -> None:
    """Let every member own its partitions in the optimum."""
    instance = _instance(document)
    best = solve(instance, parse_policy("sticky")).assignment
    if best is None:
        raise SystemExit("there is always an optimum")
    held = document_of(instance, best, assignor="oracle").members
    for name, topics in held.items():
        document["members"][name]["owned"] = {t: [*p] for t, p in topics.items()}


def _instance(document: Document) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)))


if __name__ == "__main__":
    main()
