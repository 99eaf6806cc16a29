"""Ways into the lag engine: documents with lag, and their settings."""

from __future__ import annotations

from random import Random

from solver.peak_lag.setting import Setting, setting_of
from solver.policy import Balance, dec_min, no_balance, per_topic
from tests.shapes import Document
from tests.solver.routes import instance
from tests.strategies import SMALL, Limits, seeded_rebalance

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


def settings_of(document: Document) -> list[Setting]:
    """Lay a document out under every balance that has columns."""
    laid_out = instance(document)
    found = (setting_of(laid_out, balance) for balance in BALANCES)
    return [setting for setting in found if setting is not None]
