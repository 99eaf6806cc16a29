"""The policies that have names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from solver.policy.policy import (
    Balance,
    Objective,
    Policy,
    WeightedObjective,
    dec_min,
    kip54,
    no_balance,
    per_topic,
)


def _policy(balance: Balance, *objectives: Objective) -> Policy:
    return Policy(
        balance=balance, objectives=tuple(map(WeightedObjective.of, objectives))
    )


STICKY: Final = _policy(dec_min, Objective.STICKINESS)
"""What the exact core answers: the best balance, and the fewest moves to it."""

NAMED: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        "sticky": STICKY,
        "kip54-sticky": _policy(kip54, Objective.STICKINESS),
        "fairest-sticky": _policy(no_balance, Objective.STICKINESS, Objective.LOAD),
        "fair": _policy(dec_min),
        "lag-aware": _policy(per_topic, Objective.PEAK_LAG),
        "sticky-lag": _policy(dec_min, Objective.STICKINESS, Objective.PEAK_LAG),
        "lag-sticky": _policy(dec_min, Objective.PEAK_LAG, Objective.STICKINESS),
    }
)
