"""Compile the kernels once, at set-up, instead of in a user's first command.

numba keeps what it compiled beside the modules. Which kernels a command needs depends
on its instance and policy, so the small examples go through all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson

from heuristics import ASSIGNORS
from rebalance import Instance, instance_of, parse_rebalance
from solver import solve
from solver.exact import solve_without_closed_form
from solver.limits import Limits
from solver.peak_lag.column_generation import pack
from solver.peak_lag.feasible_region import eligible_members
from solver.peak_lag.greedy import CellLimits, in_rounds
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.work import Work
from solver.policy import NAMED, dec_min, no_balance, parse_policy

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"
POLICIES = [
    *NAMED.values(),
    parse_policy("dec-min; stickiness, rack"),
    parse_policy("per-topic; stickiness"),
    parse_policy("none; load"),
    parse_policy("none; peak-lag"),
]


def compile_kernels() -> None:
    """Answer each example that is a rebalance in every way there is."""
    _compile_peak_lag()
    for path in sorted(EXAMPLES.glob("*.json")):
        text = path.read_bytes()
        if b'"rebalance/1"' in text:
            _answer(instance_of(parse_rebalance(text)))
            _assign(instance_of(parse_rebalance(_with_equal_subscriptions(text))))


def _answer(instance: Instance) -> None:
    solve_without_closed_form(instance)
    for policy in POLICIES:
        if instance.lag is not None or not policy.needs_lag:
            solve(instance, policy)
    _assign(instance)


def _compile_peak_lag() -> None:
    """Run the kernels of peak lag that only large or packed groups need."""
    topics = {"t": {"partitions": 7, "lag": [6, 6, 5, 4, 4, 4, 4]}}
    members = {name: {"subscription": ["t"]} for name in "abc"}
    document: dict[str, Any] = {"format": "rebalance/1", "group": "packed"}
    document |= {"topics": topics, "members": members}
    instance = instance_of(parse_rebalance(orjson.dumps(document)))
    for balance in (no_balance, dec_min):
        lag_instance = build_lag_instance(instance, balance)
        if lag_instance is not None:
            pack(lag_instance, 0, 33, Work(limits=Limits()))
            region = lag_instance.region
            limits = CellLimits(region.least, region.most, region.pool, region.extra)
            order = np.argsort(-region.lag, kind="stable")
            in_rounds(region, order, eligible_members(region), limits)


def _with_equal_subscriptions(text: bytes) -> bytes:
    """Let every member want every topic: some paths are for such groups alone."""
    document = orjson.loads(text)
    for member in document["members"].values():
        member["subscription"] = sorted(document["topics"])
    return orjson.dumps(document)


def _assign(instance: Instance) -> None:
    for assignor in ASSIGNORS.values():
        if assignor.refuses(instance) is None:
            assignor.assign(instance)


if __name__ == "__main__":
    compile_kernels()
