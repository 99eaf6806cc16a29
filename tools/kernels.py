"""Compile the kernels once, at set-up, instead of in a user's first command.

numba keeps what it compiled beside the modules. Which kernels a command needs depends
on its instance and policy, so the small examples go through all of them.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from heuristics import ASSIGNORS
from rebalance import Instance, instance_of, parse_rebalance
from solver import solve
from solver.exact import solve_without_closed_form
from solver.policy import NAMED, parse_policy

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
