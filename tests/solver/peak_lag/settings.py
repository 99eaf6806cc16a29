"""Documents with lag, and their feasible regions.

Reaches into `solver.peak_lag` for the regions that tests compare with brute force.
"""

from __future__ import annotations

from random import Random

from solver import Balance, no_balance
from solver.peak_lag.lag_instance import LagInstance, build_lag_instance
from solver.policy import dec_min, per_topic
from tests.solver.routes import instance
from tests.support.shapes import Document
from tests.support.strategies import SMALL, Limits, seeded_rebalance

BALANCES: tuple[Balance, ...] = (dec_min, per_topic, no_balance)


def lagging(seed: int, limits: Limits = SMALL) -> Document:
    """Return the rebalance of a seed with lag on every topic, of mixed size."""
    document = seeded_rebalance(seed, limits)
    rng = Random(seed)  # noqa: S311
    for topic in document["topics"].values():
        topic["lag"] = [
            rng.choice(
                (0, rng.randint(0, 5), rng.randint(0, 100), rng.randint(0, 10**6))
            )
            for _ in range(topic["partitions"])
        ]
    return document


def mostly_without_lag(seed: int, limits: Limits = SMALL) -> Document:
    """Return a rebalance of `lagging`, four of five lags replaced by 0."""
    document = lagging(seed, limits)
    rng = Random(seed)  # noqa: S311
    for topic in document["topics"].values():
        topic["lag"] = [lag if rng.random() < 0.2 else 0 for lag in topic["lag"]]
    return document


def lag_instances(document: Document) -> list[LagInstance]:
    """Build the feasible region of a document under every balance that has one."""
    columns = instance(document)
    found = (build_lag_instance(columns, balance) for balance in BALANCES)
    return [lag_instance for lag_instance in found if lag_instance is not None]
