"""Named rebalances that chance misses: everyone's ``@example``.

Each is a plain ``rebalance/1`` document of ``tests/data/shapes.json``, which tells what
it is about. Take a copy before changing one: ``shape("CHAIN")`` gives a fresh one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Document = dict[str, Any]
TESTS = Path(__file__).parents[1]


def member(
    subscription: Sequence[str],
    owned: Mapping[str, Sequence[int]] | None = None,
    generation: int | None = None,
    **more: object,
) -> Document:
    """Return a member's part of a document; what is None is left out."""
    out: Document = {"subscription": list(subscription)}
    if owned is not None:
        out["owned"] = {t: list(numbers) for t, numbers in owned.items()}
    if generation is not None:
        out["generation"] = generation
    return out | more


def rebalance(
    topics: Mapping[str, int | Document],
    members: Mapping[str, Document],
    **more: object,
) -> Document:
    """Return a ``rebalance/1`` document; a bare number is a partition count."""
    return {
        "format": "rebalance/1",
        "group": "g",
        **more,
        "topics": {
            name: {"partitions": topic} if isinstance(topic, int) else topic
            for name, topic in topics.items()
        },
        "members": dict(members),
    }


def claims_of(document: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return the member, topic, and number of each claim."""
    return [
        (name, topic, number)
        for name, entry in document["members"].items()
        for topic, numbers in entry.get("owned", {}).items()
        for number in numbers
    ]


def _read() -> dict[str, Document]:
    stated = json.loads((TESTS / "data" / "shapes.json").read_bytes())
    return {
        name: rebalance(**{key: part for key, part in entry.items() if key != "about"})
        for name, entry in stated.items()
    }


SHAPES = _read()
CHAIN = SHAPES["CHAIN"]
LONG_CHAIN = SHAPES["LONG_CHAIN"]
EQUAL_LEVEL_BLOCKS = SHAPES["EQUAL_LEVEL_BLOCKS"]
TWO_LEVELS = SHAPES["TWO_LEVELS"]
DOUBLE_CLAIM = SHAPES["DOUBLE_CLAIM"]
STALE_CLAIM = SHAPES["STALE_CLAIM"]
MIXED_GENERATIONS = SHAPES["MIXED_GENERATIONS"]
NEWEST_CLAIM_UNSUBSCRIBED = SHAPES["NEWEST_CLAIM_UNSUBSCRIBED"]
VANISHED = SHAPES["VANISHED"]
EMPTY_TOPIC = SHAPES["EMPTY_TOPIC"]
NO_MEMBERS = SHAPES["NO_MEMBERS"]
NO_TOPICS = SHAPES["NO_TOPICS"]
NO_PARTITIONS = SHAPES["NO_PARTITIONS"]
NOTHING = SHAPES["NOTHING"]
STICKINESS = SHAPES["STICKINESS"]
LAG = SHAPES["LAG"]
LAG_GREEDY_FAILS = SHAPES["LAG_GREEDY_FAILS"]
RACKS = SHAPES["RACKS"]
EVERY_FIELD = SHAPES["EVERY_FIELD"]


def shape(name: str) -> Document:
    """Return a fresh copy of the shape called ``name``."""
    return copy.deepcopy(SHAPES[name])
