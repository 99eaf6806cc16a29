"""Compile the kernels at set-up, not in a user's first command.

numba stores compiled kernels next to the modules. Which kernels and signatures a
command needs depends on its instance and policy, so examples and random small groups
are solved under many policies (``tests/solver/test_kernels.py`` checks that nothing is
missing).
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from heuristics import ASSIGNORS
from rebalance import Instance, InstanceError, instance_of, parse_rebalance
from solver import solve
from solver.exact import solve_without_closed_form
from solver.limits import Limits
from solver.peak_lag.column_generation import pack
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.set_partition import partition_exactly
from solver.peak_lag.work import Work
from solver.policy import NAMED, dec_min, no_balance, parse_policy

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"
POLICIES = [
    *NAMED.values(),
    parse_policy("dec-min; stickiness, rack"),
    parse_policy("per-topic; stickiness"),
    parse_policy("none; load"),
    parse_policy("none; peak-lag"),
    parse_policy("per-topic; topic-peak-lag"),
    parse_policy("none; peak-lag; max-moves=2"),
]
DRAWN: Final = 24


def compile_kernels() -> None:
    """Solve examples and random groups under every policy, and run every assignor."""
    _compile_peak_lag()
    for seed in range(DRAWN):
        _answer(instance_of(parse_rebalance(orjson.dumps(_drawn(seed)))))
    for path in sorted(EXAMPLES.glob("*.json")):
        text = path.read_bytes()
        if b'"rebalance/1"' in text:
            _answer(instance_of(parse_rebalance(text)))
            _assign(instance_of(parse_rebalance(_with_equal_subscriptions(text))))


def _answer(instance: Instance) -> None:
    solve_without_closed_form(instance)
    for policy in POLICIES:
        if instance.lag is not None or not policy.needs_lag:
            with suppress(InstanceError):  # capacities can be too large for a policy
                solve(instance, policy, limits=Limits(effort=0.2))
    _assign(instance)


def _compile_peak_lag() -> None:
    """Run the peak-lag kernels that groups of this size rarely use."""
    topics = {"t": {"partitions": 7, "lag": [6, 6, 5, 4, 4, 4, 4]}}
    members = {name: {"subscription": ["t"]} for name in "abc"}
    document: dict[str, Any] = {"format": "rebalance/1", "group": "packed"}
    document |= {"topics": topics, "members": members}
    instance = instance_of(parse_rebalance(orjson.dumps(document)))
    for balance in (no_balance, dec_min):
        lag_instance = build_lag_instance(instance, balance)
        if lag_instance is not None:
            pack(lag_instance, 0, 33, Work(limits=Limits()))
            partition_exactly(lag_instance.region, 0, 33, Work(limits=Limits()))


def _drawn(seed: int) -> dict[str, Any]:
    """Draw a random group, mostly with owners, some with capacities or racks."""
    draw = random.Random(seed)  # noqa: S311  # examples, no secrets
    racks = ("x", "y")
    sizes = {f"t{i}": draw.randint(1, 12) for i in range(draw.randint(1, 6))}
    members: dict[str, Any] = {}
    for number in range(draw.randint(1, 10)):
        wanted = draw.sample(sorted(sizes), draw.randint(0, len(sizes)))
        one: dict[str, Any] = {"subscription": wanted, "generation": draw.randint(1, 2)}
        one |= {"capacity": draw.randint(1, 4)} if seed % 4 == 1 else {}
        one |= {"rack": draw.choice(racks)} if seed % 3 == 1 else {}
        members[f"m{number}"] = one
    for topic, size in sizes.items():
        for partition in range(size):
            owned = draw.choice([*members.values()]).setdefault("owned", {})
            if draw.random() < 0.9:
                owned.setdefault(topic, []).append(partition)
    topics = {
        topic: {
            "partitions": size,
            "lag": [draw.randint(0, 1000) for _ in range(size)],
            "racks": [[draw.choice(racks)] for _ in range(size)],
        }
        for topic, size in sizes.items()
    }
    head = {"format": "rebalance/1", "group": f"drawn-{seed}"}
    return {**head, "topics": topics, "members": members}


def _with_equal_subscriptions(text: bytes) -> bytes:
    """Make all subscriptions equal: some kernels are used only for such groups."""
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
