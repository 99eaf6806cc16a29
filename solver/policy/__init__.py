"""Policies: which assignments are allowed, and which of them is best.

To add a named policy, add a row to ``named.toml``.
"""

from solver.policy.definition import (
    WEIGHT_MAX,
    Balance,
    BalanceKind,
    Objective,
    Policy,
    WeightedObjective,
    dec_min,
    kip54,
    no_balance,
    per_topic,
)
from solver.policy.named import NAMED, OPTIMA, STICKY, parse_policy

__all__ = [
    "NAMED",
    "OPTIMA",
    "STICKY",
    "WEIGHT_MAX",
    "Balance",
    "BalanceKind",
    "Objective",
    "Policy",
    "WeightedObjective",
    "dec_min",
    "kip54",
    "no_balance",
    "parse_policy",
    "per_topic",
]
