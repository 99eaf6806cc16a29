"""Policies: which assignments are allowed, and which of those is best."""

from solver.policy.named import NAMED, STICKY
from solver.policy.policy import (
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
    spread,
)
from solver.policy.text import parse_policy

__all__ = [
    "NAMED",
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
    "spread",
]
