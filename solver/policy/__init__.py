"""Policies: which assignments are allowed, and which of those is best."""

from solver.policy.named import NAMED, STICKY
from solver.policy.policy import (
    Balance,
    Objective,
    Policy,
    Sum,
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
    "Balance",
    "Objective",
    "Policy",
    "Sum",
    "dec_min",
    "kip54",
    "no_balance",
    "parse_policy",
    "per_topic",
    "spread",
]
