"""Policies that the flow engine solves, and instances for them.

Reaches into `solver` for the type of a value.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache

from rebalance import Instance
from solver import Result, flow_policies, parse_policy
from tests.solver.routes import instance
from tests.support.shapes import Document
from tests.support.strategies import SMALL, TINY, seeded_rebalance

DEC_MIN = (
    "dec-min",
    "dec-min; stickiness",
    "dec-min; load",
    "dec-min; load, stickiness",
    "dec-min; rack",
    "dec-min; stickiness, rack",
    "dec-min; rack, stickiness",
    "dec-min; rack, load, stickiness",
    "dec-min; 2*stickiness + rack",
    "dec-min; stickiness + 3*rack, rack",
)
PER_TOPIC = (
    "per-topic",
    "per-topic; stickiness",
    "per-topic; rack",
    "per-topic; rack, stickiness",
    "per-topic; stickiness, rack",
    "per-topic; 3*stickiness + 2*rack, rack",
)
ALONE = (
    "none",
    "none; stickiness",
    "none; rack",
    "none; load",
    "none; load, stickiness",
    "none; stickiness, load",
    "none; rack, load",
    "none; rack, stickiness, load",
    "none; stickiness, rack, load",
    "none; stickiness, load, rack",
    "none; rack, load, stickiness",
    "none; stickiness + rack",
    "none; 2*stickiness + rack, load, rack",
)
ALWAYS = (*DEC_MIN, *PER_TOPIC, *ALONE)
"""Answered whatever the instance."""

SOMETIMES = (
    "dec-min; stickiness; max-moves=1",
    "dec-min; rack; max-moves=1",
    "dec-min; rack, stickiness; max-moves=2",
    "dec-min; peak-lag; max-moves=0",
    "per-topic; stickiness; max-moves=1",
    "per-topic; rack; max-moves=1",
    "per-topic; peak-lag; max-moves=0",
    "none; rack; max-moves=1",
    "none; load, rack; max-moves=2",
    "kip54",
    "kip54; stickiness",
    "kip54; load, stickiness",
    "kip54; stickiness, load",
    "kip54; rack; max-moves=0",
    "spread=1",
    "spread=0; stickiness",
    "spread=1; load, rack",
    "spread=2; stickiness, load",
)
"""Answered where flow settles them, and left to a program where not."""

WEIGHTS = ((1,), (1, 2, 3, 4, 5), (1, 2, 3, 6, 10, 15), (4,))


def drawn(seed: int) -> Document:
    """Return a tiny rebalance, often with capacities, mostly with racks."""
    rng = random.Random(seed)  # noqa: S311
    document = seeded_rebalance(seed, rng.choice([TINY, SMALL]))
    weights, racks = rng.choice(WEIGHTS), ("r0", "r1", "r2")
    if rng.randrange(4):
        for topic in document["topics"].values():
            if rng.randrange(5):
                topic["racks"] = [
                    rng.sample(racks, rng.randint(0, 2))
                    for _ in range(topic["partitions"])
                ]
    for member in document["members"].values():
        member["capacity"] = rng.choice(weights)
        member.pop("rack", None)
        if rng.randrange(5):
            member["rack"] = rng.choice(racks)
    return document


def result_of(document: Document, text: str) -> Result | None:
    """Return the answer of flow to a policy, by its text."""
    return flow_policies.solve(laid_out(document), parse_policy(text))


def laid_out(document: Document) -> Instance:
    """Return the instance of a document, the same as last time if it is equal."""
    return _laid_out(json.dumps(document))


@lru_cache(maxsize=1)
def _laid_out(text: str) -> Instance:
    return instance(json.loads(text))
