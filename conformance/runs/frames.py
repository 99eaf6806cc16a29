"""Random topics and subscriptions, by the shapes that matter for balance.

Independent draws rarely yield a long chain or two blocks of one level, so these have
shapes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The largest numbers that are drawn; ``partitions`` is per topic."""

    members: int
    topics: int
    partitions: int


SMALL: Final = Size(members=5, topics=4, partitions=4)
MODERATE: Final = Size(members=16, topics=10, partitions=12)
LARGE: Final = Size(members=100, topics=40, partitions=1000)

Frame = tuple[dict[str, int], dict[str, list[str]]]
"""Partitions per topic, and the topics to which each member subscribes."""


def draw_size(rng: Random) -> Size:
    """Draw a size: small in three of four draws, because small findings are read."""
    return MODERATE if rng.randrange(4) == 0 else SMALL


def draw_frame(rng: Random, size: Size) -> Frame:
    """Draw a frame of any shape, with names in random order."""
    return shuffled(rng, rng.choice(_SHAPES)(rng, size))


def equal(rng: Random, size: Size) -> Frame:
    """All members subscribe to all topics."""
    counts = _counts(rng, size, least=1)
    members = range(rng.randint(1, size.members))
    return counts, {f"m{i}": list(counts) for i in members}


def mixed(rng: Random, size: Size) -> Frame:
    """Each member subscribes to a random part of the topics, at least one."""
    counts = _counts(rng, size, least=1)
    members = range(rng.randint(1, size.members))
    return counts, {f"m{i}": some(rng, list(counts), least=1) for i in members}


def ladder(rng: Random, size: Size) -> Frame:
    """Member i shares one topic with member i + 1: only chains even the loads out.

    In half of them the topics are a staircase, the first the largest: each with as many
    partitions as the one before, or one fewer. If the first subscriber of each topic
    owns all of it, neighbors differ by one at most, and the chain is long.
    """
    rungs = rng.randint(1, max(1, min(size.members - 1, size.topics)))
    is_staircase = rng.randrange(2) == 0
    counts = {"t0": rng.randint(1, size.partitions)}
    for i in range(1, rungs):
        above = counts[f"t{i - 1}"]
        least, most = (max(1, above - 1), above) if is_staircase else (1, 4)
        counts[f"t{i}"] = rng.randint(least, most)
    subscriptions = {
        f"m{i}": [f"t{j}" for j in (i - 1, i) if 0 <= j < rungs]
        for i in range(rungs + 1)
    }
    return counts, subscriptions


def blocks(rng: Random, size: Size) -> Frame:
    """Blocks of one level with different remainders, and some bridges between them."""
    level = rng.randint(0, max(1, size.partitions // 2))
    counts: dict[str, int] = {}
    subscriptions: dict[str, list[str]] = {}
    while len(subscriptions) < size.members and len(counts) < size.topics:
        n = rng.randint(1, min(3, size.members - len(subscriptions)))
        earlier = list(counts)
        topic = f"t{len(counts)}"
        counts[topic] = max(1, level * n + rng.randint(0, n))
        for _ in range(n):
            bridge = some(rng, earlier) if rng.randrange(3) == 0 else []
            subscriptions[f"m{len(subscriptions)}"] = [topic, *bridge]
    return counts, subscriptions


_SHAPES: Final[Sequence[Callable[[Random, Size], Frame]]] = (
    equal,
    mixed,
    mixed,
    ladder,
    blocks,
)


def shuffled(rng: Random, frame: Frame) -> Frame:
    """Rename members and topics at random: the order of names has no meaning."""
    counts, subscriptions = frame
    topics = dict(zip(counts, rng.sample(list(counts), len(counts)), strict=True))
    names = list(subscriptions)
    members = dict(zip(names, rng.sample(names, len(names)), strict=True))
    return (
        {topics[t]: n for t, n in counts.items()},
        {members[m]: [topics[t] for t in ts] for m, ts in subscriptions.items()},
    )


def document_of_frame(frame: Frame, *, group: str) -> Document:
    """Return the rebalance/1 document of a frame, without claims."""
    counts, subscriptions = frame
    return {
        "format": "rebalance/1",
        "group": group,
        "topics": {name: {"partitions": n} for name, n in counts.items()},
        "members": {
            name: {"subscription": list(topics)}
            for name, topics in subscriptions.items()
        },
    }


def some(rng: Random, names: Sequence[str], *, least: int = 0) -> list[str]:
    """Draw a part of the names, at least so many, none twice."""
    return rng.sample(list(names), rng.randint(min(least, len(names)), len(names)))


def subscribers(rebalance: Mapping[str, Any], topic: str) -> list[str]:
    """Return the members that subscribe to a topic."""
    members = rebalance["members"].items()
    return [name for name, one in members if topic in one["subscription"]]


def _counts(rng: Random, size: Size, *, least: int) -> dict[str, int]:
    topics = range(rng.randint(1, size.topics))
    return {f"t{i}": rng.randint(least, size.partitions) for i in topics}
