"""Random lags, and groups with equal subscriptions and these lags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rebalance import Claims, Instance

Lags = NDArray[np.int64]


def uniform(rng: Generator, n: int) -> Lags:
    """Draw uniformly from 0 to 100,000."""
    return rng.integers(0, 100_000, size=n, endpoint=True)


def log_normal(rng: Generator, n: int) -> Lags:
    """Draw e to the power of a normal (8, 2)."""
    return rng.lognormal(8, 2, size=n).astype(np.int64)


def pareto(rng: Generator, n: int) -> Lags:
    """Draw a Pareto of shape 1.2 and scale 1,000."""
    return ((1 + rng.pareto(1.2, size=n)) * 1000).astype(np.int64)


def mostly_zero(rng: Generator, n: int) -> Lags:
    """Draw 0 with probability 0.9, else uniformly from 0 to 100,000."""
    return np.where(rng.random(n) < 0.1, uniform(rng, n), 0)


def real_looking(rng: Generator, n: int) -> Lags:
    """Draw lags as in a busy group: most near 0, some large, a few very large."""
    caught_up = rng.poisson(8, size=n)
    behind = rng.lognormal(5.5, 1.2, size=n).astype(np.int64)
    far_behind = rng.lognormal(10.5, 1, size=n).astype(np.int64)
    kind = rng.choice(3, size=n, p=[0.65, 0.3, 0.05])
    return np.choose(kind, [caught_up, behind, far_behind]).astype(np.int64)


DRAWS: Final[Mapping[str, Callable[[Generator, int], Lags]]] = {
    "uniform": uniform,
    "log-normal": log_normal,
    "pareto": pareto,
    "mostly-zero": mostly_zero,
    "real": real_looking,
}
SKEWED: Final = ("log-normal", "pareto", "mostly-zero", "real")


def group(
    draw: str, *, partitions: int, members: int, topics: int, seed: int
) -> Instance:
    """Build a group with equal subscriptions and round-robin owners."""
    rng = np.random.default_rng(seed)
    owner = np.arange(partitions) % members
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=members)
    return Instance(
        group=f"{draw}-{partitions}x{members}x{topics}/{seed}",
        topics=tuple(f"t{i:06}" for i in range(topics)),
        topic_offsets=np.linspace(0, partitions, topics + 1).astype(np.int64),
        members=tuple(f"m{i:06}" for i in range(members)),
        member_class=np.zeros(members, dtype=np.int32),
        class_offsets=np.array([0, topics], dtype=np.int64),
        class_topics=np.arange(topics, dtype=np.int32),
        claims=Claims(
            offsets=np.r_[0, np.cumsum(counts)].astype(np.int64),
            partitions=order.astype(np.int32),
            generation=np.ones(members, dtype=np.int64),
        ),
        lag=DRAWS[draw](rng, partitions),
    )
