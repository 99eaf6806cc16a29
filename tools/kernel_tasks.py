"""The tasks that compile all kernels: which kernels and signatures exist is not listed.

Which kernels and signatures a command needs depends on its instance and policy, so
examples and random small groups are solved under many policies and given to every
assignor (``tests/solver/test_kernels.py`` checks that nothing is missing).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from heuristics import ASSIGNORS, wanted_claims, withheld_of
from pipeline.judging.answer_texts import NamedAnswers, assignment_texts
from pipeline.judging.evaluated import EvaluatedCodes
from pipeline.judging.rebalance_code import (
    ANSWERED,
    LAG,
    LAG_KNOWN,
    RebalanceCode,
)
from rebalance import (
    ABSENT,
    ClaimRule,
    Instance,
    InstanceError,
    encode_assignments,
    instance_of,
    parse_rebalance,
)
from rebalance.assignment_text import members_text
from rebalance.tape import instance_of_text
from solver import exact, solve
from solver.exact import solve_without_closed_form
from solver.limits import Limits
from solver.peak_lag.column_generation import pack
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.set_partition import partition_exactly
from solver.peak_lag.swap_descent import descend
from solver.peak_lag.work import Work
from solver.policy import NAMED, Policy, dec_min, no_balance, parse_policy
from tools.history_example import walk_no_groups
from tools.instance_example import instance_example

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"
POLICIES: Final = [
    parse_policy("none; peak-lag"),
    *NAMED.values(),
    parse_policy("dec-min; stickiness, rack"),
    parse_policy("per-topic; stickiness"),
    parse_policy("none; load"),
    parse_policy("per-topic; topic-peak-lag"),
    parse_policy("none; peak-lag; max-moves=2"),
]
DRAWN: Final = 24


def tasks() -> dict[str, Callable[[], object]]:
    """Return the tasks by name, such that any two of the first share few kernels.

    Together they need every kernel. The first take longest, and the policies come last
    because most of their kernels are compiled by then.
    """
    first, *others = POLICIES
    return {
        "exact": _solve_exactly,
        f"policy {first}": partial(_solve, first),
        **{f"assignor {name}": partial(_assign, name) for name in ASSIGNORS},
        "withholding": _withhold,
        "packing": _pack,
        "judging": _judge_by_code,
        "instances": instance_example,
        "histories": walk_no_groups,
        "documents": _read_and_write,
        **{f"policy {policy}": partial(_solve, policy) for policy in others},
    }


def _solve_exactly() -> None:
    for instance in _instances():
        solve_without_closed_form(instance)
        exact.solve(instance)


def _solve(policy: Policy) -> None:
    for instance in _instances():
        if instance.lag is not None or not policy.needs_lag:
            with suppress(InstanceError):  # capacities can be too large for a policy
                solve(instance, policy, limits=Limits(effort=0.2))


def _assign(name: str) -> None:
    assignor = ASSIGNORS[name]
    for instance in (*_instances(), *_instances_with_equal_subscriptions()):
        if assignor.refuses(instance) is None:
            assignor.assign(instance)


def _judge_by_code() -> None:
    """Evaluate and write answers as an audit does; the real one is not balanced."""
    code = [
        *(2, 2, 2, 3, 0, 4, LAG | ANSWERED | LAG_KNOWN),
        *(3, 1),  # partitions of the topics
        *(1, 0, 2, 0),  # lag
        *(0, 1, 2, 3, 0, 1, 0),  # classes of the members; ends and topics of classes
        *(-1, -1, ABSENT, ABSENT, ABSENT, ABSENT),  # generations, racks, instance ids
        *(0, 0),  # ends of the claims
        *(4, 4, 0, 1, 2, 3),  # ends of the assigned partitions, and these
    ]
    rebalance = RebalanceCode(
        code=np.array(code, np.int64),
        topics=("t", "u"),
        members=("a", "b"),
        instance_ids=(None, None),
        racks=(),
    )
    known = EvaluatedCodes(claim_rule=ClaimRule.NEWEST_CLAIM)
    (found,) = known.of_many([(rebalance, ("range",))])
    if found is None:
        raise AssertionError("the optimum is proved")
    named = NamedAnswers(
        code=rebalance, found=found, group="judged", identity=None, client=None
    )
    assignment_texts([named])


def _withhold() -> None:
    """Compute the partitions that a cooperative leader withholds, as a plan does."""
    for instance in _instances():
        wanted_claims(instance)
        withheld_of(instance, ASSIGNORS["range"].assign(instance))


def _read_and_write() -> None:
    """Read a text straight into columns; write an assignment as text and as bytes."""
    text = orjson.dumps(
        {
            "format": "rebalance/1",
            "group": "read",
            "topics": {"t": {"partitions": 2, "lag": [1, 0]}},
            "members": {"a": {"subscription": ["t"], "owned": {"t": [0]}}},
        }
    )
    instance = instance_of_text(
        text, claim_rule=ClaimRule.NEWEST_CLAIM, max_partitions=2
    )
    if instance is None:
        raise AssertionError("the text has nothing odd")
    assignment = ASSIGNORS["range"].assign(instance)
    members_text(instance, assignment)
    encode_assignments(instance, assignment)


def _pack() -> None:
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
            descend(
                lag_instance, construct_greedily(lag_instance), 0, Work(limits=Limits())
            )


@cache
def _instances() -> tuple[Instance, ...]:
    """Return the random groups, then the examples."""
    drawn = (orjson.dumps(_drawn(seed)) for seed in range(DRAWN))
    texts = (*drawn, *_examples())
    return tuple(instance_of(parse_rebalance(text)) for text in texts)


@cache
def _instances_with_equal_subscriptions() -> tuple[Instance, ...]:
    """Return the examples with equal subscriptions: some kernels need them."""
    texts = map(_with_equal_subscriptions, _examples())
    return tuple(instance_of(parse_rebalance(text)) for text in texts)


@cache
def _examples() -> tuple[bytes, ...]:
    texts = (path.read_bytes() for path in sorted(EXAMPLES.glob("*.json")))
    return tuple(text for text in texts if b'"rebalance/1"' in text)


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
    """Return the document with equal subscriptions."""
    document = orjson.loads(text)
    for member in document["members"].values():
        member["subscription"] = sorted(document["topics"])
    return orjson.dumps(document)
