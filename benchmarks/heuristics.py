"""Times of the heuristics, side by side: ``python -m benchmarks.heuristics``.

Measured from an instance in memory to an assignment; medians of calls after a warm-up.
Prints the sizes S1 and S2 with equal subscriptions, a small rebalance, and the growth
with doubling sizes.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable

import numba
import numpy as np

from heuristics import ASSIGNORS, Assignor
from rebalance import Claims, Instance

REPEATS = 15
SEED = 20_240


def equal_subscriptions(
    *, members: int, partitions: int, topics: int, joined: int = 0, left: int = 0
) -> Instance:
    """Build a group with equal subscriptions.

    The owner of each partition is drawn among the previous members: those without the
    ``joined`` newest, and ``left`` others that have left.
    """
    rng = np.random.default_rng(SEED)
    before = members - joined
    owner = rng.permutation(np.arange(partitions) % (before + left))
    claimed = np.flatnonzero(owner < before)
    claimed = claimed[np.argsort(owner[claimed], kind="stable")]
    counts = np.bincount(owner[claimed], minlength=members)
    return Instance(
        group="benchmark",
        topics=tuple(f"t{i:06}" for i in range(topics)),
        topic_offsets=np.linspace(0, partitions, topics + 1).astype(np.int64),
        members=tuple(f"m{i:06}" for i in range(members)),
        member_class=np.zeros(members, dtype=np.int32),
        class_offsets=np.array([0, topics], dtype=np.int64),
        class_topics=np.arange(topics, dtype=np.int32),
        claims=Claims(
            offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
            partitions=claimed.astype(np.int32),
            generation=np.ones(members, dtype=np.int64),
        ),
        lag=rng.integers(0, 1_000_000, size=partitions),
    )


def mixed_subscriptions(*, members: int, partitions: int, topics: int) -> Instance:
    """Build a group in which each member subscribes to 2 % of the topics."""
    rng = np.random.default_rng(SEED)
    wanted = max(2, topics // 50)
    draws = [rng.choice(topics, size=wanted, replace=False) for _ in range(members)]
    return Instance(
        group="benchmark",
        topics=tuple(f"t{i:06}" for i in range(topics)),
        topic_offsets=np.linspace(0, partitions, topics + 1).astype(np.int64),
        members=tuple(f"m{i:06}" for i in range(members)),
        member_class=np.arange(members, dtype=np.int32),
        class_offsets=np.arange(0, wanted * members + 1, wanted, dtype=np.int64),
        class_topics=np.concatenate([np.sort(d) for d in draws]).astype(np.int32),
        claims=Claims(
            offsets=np.zeros(members + 1, dtype=np.int64),
            partitions=np.zeros(0, dtype=np.int32),
            generation=np.ones(members, dtype=np.int64),
        ),
        lag=rng.integers(0, 1_000_000, size=partitions),
    )


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of one call, after a first call that does not count."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(assignor: Assignor, instance: Instance) -> float | None:
    """Time an assignor; None if it refuses."""
    if assignor.refuses(instance) is not None:
        return None
    return seconds(lambda: assignor.assign(instance))


def shown(time_s: float | None) -> str:
    """Format a time in milliseconds with three significant digits."""
    return "refuses" if time_s is None else f"{time_s * 1e3:.3g} ms"


def print_row(label: str, cells: list[str]) -> None:
    """Print one line of a table."""
    print(f"{label:34}" + "".join(f"{cell:>20}" for cell in cells))


def print_sizes() -> None:
    """Print the fixed sizes."""
    sizes = {
        "small: 10 x 50, 5 topics": equal_subscriptions(
            members=10, partitions=50, topics=5, joined=1
        ),
        "S1: 2,100 x 2,100, one left": equal_subscriptions(
            members=2_099, partitions=2_100, topics=1, left=1
        ),
        "S2: 2,000 x 1,000,000, 20 joined": equal_subscriptions(
            members=2_000, partitions=1_000_000, topics=1_000, joined=20
        ),
        "mixed: 1,000 x 10,000": mixed_subscriptions(
            members=1_000, partitions=10_000, topics=1_000
        ),
    }
    print_row("", list(ASSIGNORS))
    for label, instance in sizes.items():
        cells = [shown(measure(assignor, instance)) for assignor in ASSIGNORS.values()]
        print_row(label, cells)


def print_growth(steps: int) -> None:
    """Print time and ratio per doubling of members and partitions."""
    print_row("\nmembers x partitions (ratio)", list(ASSIGNORS))
    last: list[float | None] = [None] * len(ASSIGNORS)
    for step in range(steps):
        members, partitions = 125 << step, 62_500 << step
        instance = equal_subscriptions(
            members=members, partitions=partitions, topics=200, joined=members // 100
        )
        times = [measure(assignor, instance) for assignor in ASSIGNORS.values()]
        cells = [
            shown(now) + (f" ({now / then:.2f})" if now and then else "")
            for now, then in zip(times, last, strict=True)
        ]
        print_row(f"{members:,} x {partitions:,}", cells)
        last = times


def main(argv: list[str]) -> None:
    """Print the machine and all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doublings", type=int, default=5)
    steps = parser.parse_args(argv).doublings
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    versions = f"numpy {np.__version__}, numba {numba.__version__}"
    print(f"{machine}; Python {platform.python_version()}, {versions}")
    print(f"medians of {REPEATS} calls, one core\n")
    print_sizes()
    print_growth(steps)


if __name__ == "__main__":
    main(sys.argv[1:])
