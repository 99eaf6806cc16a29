"""Share of small groups with uniform lags whose least peak lag is proved.

``python -m benchmarks.uniform_lags`` prints the table of docs/ablation.md. Effort is
counted in deterministic steps, so the shares and gaps are the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import product
from typing import Final

import numpy as np

from benchmarks.lags import uniform
from rebalance import Instance, instance_of, parse_rebalance
from solver import Limits, parse_policy, solve

SIZES: Final = ((30, 6), (60, 10))
TOPICS: Final = 3
EFFORT: Final = 3.0
KINDS: Final = tuple(product((True, False), (False, True)))
"""Whether all members subscribe to all topics, and whether capacities differ."""

BALANCES: Final = ("none", "per-topic", "dec-min")
SHARE_SUBSCRIBED: Final = 0.4
CAPACITIES: Final = (1, 2, 4)


def main() -> None:
    """Solve a number of groups per cell and print one row per cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="groups per cell")
    arguments = parser.parse_args()
    run(group(*SIZES[0], *KINDS[0], seed=0), BALANCES[0])  # loads kernels
    print("| size | members | balance | n | proved, % | reported gap, % | CPU s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    runs: list[tuple[float, float]] = []
    for (partitions, members), kind in product(SIZES, KINDS):
        for balance in BALANCES:
            cell = [
                run(group(partitions, members, *kind, seed=seed), balance)
                for seed in range(arguments.seeds)
            ]
            runs += cell
            name = ("hom" if kind[0] else "het") + (" + cap" if kind[1] else "")
            print(f"| {partitions}x{members} | {name} | {balance} | {row(cell)} |")
    print(f"| all |  |  | {row(runs)} |")


def row(runs: list[tuple[float, float]]) -> str:
    """Return count, share proved, largest gap in percent, and median time."""
    gaps, times = zip(*runs, strict=True)
    proved = 100 * sum(gap == 0 for gap in gaps) / len(gaps)
    worst = f"{100 * max(gaps):.4f}" if any(gaps) else "0"
    return f"{len(gaps)} | {proved:.0f} | {worst} | {statistics.median(times):.2f}"


def run(instance: Instance, balance: str) -> tuple[float, float]:
    """Return the reported gap and the CPU seconds of one solve."""
    policy = parse_policy(f"{balance}; peak-lag")
    start = time.process_time()
    peak = solve(instance, policy, limits=Limits(effort=EFFORT)).objectives[0]
    seconds = time.process_time() - start
    if not isinstance(peak.value, int) or not isinstance(peak.bound, int):
        raise TypeError(peak)
    return (peak.value - peak.bound) / max(1, peak.bound), seconds


def group(
    partitions: int, members: int, homogeneous: bool, capacities: bool, *, seed: int
) -> Instance:
    """Draw a group: uniform lags, and no owners, which do not affect peak lag."""
    rng = np.random.default_rng(seed)
    topics = [f"t{number}" for number in range(TOPICS)]
    subscribed = rng.random((members, TOPICS)) < (
        2 if homogeneous else SHARE_SUBSCRIBED
    )
    for number in range(TOPICS):  # every topic and every member has one
        subscribed[rng.integers(members), number] = True
    for member in range(members):
        subscribed[member, rng.integers(TOPICS)] = True
    document = {
        "format": "rebalance/1",
        "group": f"uniform-{partitions}x{members}/{seed}",
        "topics": {
            topic: {
                "partitions": partitions // TOPICS,
                "lag": uniform(rng, partitions // TOPICS).tolist(),
            }
            for topic in topics
        },
        "members": {
            f"m{number}": {
                "subscription": [
                    t for t, is_one in zip(topics, row, strict=True) if is_one
                ],
                **({"capacity": int(rng.choice(CAPACITIES))} if capacities else {}),
            }
            for number, row in enumerate(subscribed.tolist())
        },
    }
    return instance_of(parse_rebalance(json.dumps(document)))


if __name__ == "__main__":
    main()
