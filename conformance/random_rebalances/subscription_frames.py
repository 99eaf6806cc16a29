"""Partition counts and subscriptions of a random group, in one of several shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

Document = dict[str, Any]
"""A JSON document of any format, as ``json.loads`` returns it."""

Subscriptions = dict[str, list[str]]
Frame = tuple[dict[str, int], Subscriptions]
"""Partition counts of topics, and topics to which members subscribe."""

HOSTILE_NAMES: Final = (
    "<script>",
    "\u00e9",
    "\U0001f600",
    "\ufffd",
    "a b",
    '"',
    "__proto__",
    "-1",
)
"""Names that break pages, sort orders, and languages that confuse keys and indices."""

MISSING_TOPIC: Final = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawLimits:
    """Largest numbers of a random rebalance, and which properties it can have.

    Attributes
    ----------
    partitions : int
        Per topic.
    hostile_names : bool
        Whether some topics and members have a name of `HOSTILE_NAMES`.
    lag, racks, capacities, identities : bool
        Whether some rebalances have these; identities are ids and static members.
    gaps : bool
        Whether there are groups without members, members without subscriptions,
        subscriptions to topics that do not exist, and topics without partitions.
    block_partitions : int or None
        Instead of ``partitions`` where several members share a topic of their own: a
        common quota needs this many, and some more.
    """

    members: int = 4
    topics: int = 4
    partitions: int = 3
    hostile_names: bool = True
    lag: bool = True
    racks: bool = True
    capacities: bool = True
    identities: bool = True
    gaps: bool = True
    block_partitions: int | None = None


def draw_frame(
    rng: Random,
    limits: DrawLimits,
    frames: Sequence[Callable[[Random, DrawLimits], Frame]] = (),
) -> Frame:
    """Draw a frame, of ``frames`` or of any, with names in an arbitrary order."""
    counts, subscriptions = rng.choice(frames or FRAMES)(rng, limits)
    hostile = limits.hostile_names and rng.randrange(5) == 0
    return _renamed(rng, counts, subscriptions, HOSTILE_NAMES if hostile else ())


def some_of(rng: Random, names: list[str], *, least: int = 0) -> list[str]:
    """Draw some of ``names``, at least so many, each at most once, in any order."""
    return rng.sample(names, rng.randint(min(least, len(names)), len(names)))


def document_of_frame(frame: Frame, *, group: str = "g") -> Document:
    """Return the rebalance/1 document of a frame, without claims."""
    counts, subscriptions = frame
    return {
        "format": "rebalance/1",
        "group": group,
        "topics": {name: {"partitions": count} for name, count in counts.items()},
        "members": {
            name: {"subscription": list(topics)}
            for name, topics in subscriptions.items()
        },
    }


def _scattered(rng: Random, limits: DrawLimits) -> Frame:
    """Members subscribe to any topics; with gaps, also to missing ones or none."""
    least = 0 if limits.gaps else 1
    counts = {
        f"t{i}": rng.randint(least, limits.partitions)
        for i in range(rng.randint(least, limits.topics))
    }
    topics = [*counts, MISSING_TOPIC] if limits.gaps else list(counts)
    members = range(rng.randint(least, limits.members))
    return counts, {f"m{i}": some_of(rng, topics, least=least) for i in members}


def _homogeneous(rng: Random, limits: DrawLimits) -> Frame:
    """All members subscribe to the same topics."""
    counts = {
        f"t{i}": rng.randint(0 if limits.gaps else 1, limits.partitions)
        for i in range(rng.randint(1, limits.topics))
    }
    topics = some_of(rng, list(counts)) or list(counts)
    members = range(rng.randint(1, limits.members))
    return counts, {f"m{i}": rng.sample(topics, len(topics)) for i in members}


def chain(rng: Random, limits: DrawLimits) -> Frame:
    """Member i shares a topic with member i + 1 only: chains alone balance it.

    In half of the draws, partition counts decrease by at most one. If each topic is
    then owned by its first subscriber, the loads of neighbors differ by at most one,
    and the chain to the last member, which owns nothing, is long.
    """
    longest = max(1, min(limits.members - 1, limits.topics))
    length = rng.choice((longest, rng.randint(1, longest)))
    descends = rng.randrange(2)
    counts = {"t0": rng.randint(1, max(1, limits.partitions))}
    for i in range(1, length):
        above = counts[f"t{i - 1}"]
        least = max(1, above - 1) if descends else int(not limits.gaps)
        bounds = (least, above if descends else limits.partitions)
        counts[f"t{i}"] = rng.randint(*bounds)
    subscriptions = {
        f"m{i}": [f"t{j}" for j in (i - 1, i) if 0 <= j < length]
        for i in range(length + 1)
    }
    return counts, subscriptions


def blocks(rng: Random, limits: DrawLimits) -> Frame:
    """Blocks with equal quotas and different remainders, some with a shared topic."""
    quota = rng.randint(0, max(0, limits.partitions // 2))
    counts: dict[str, int] = {}
    subscriptions: Subscriptions = {}
    while len(subscriptions) < limits.members and len(counts) < limits.topics:
        size = rng.randint(1, min(3, limits.members - len(subscriptions)))
        topic = f"t{len(counts)}"
        supply = quota * size + rng.randint(0, size)
        counts[topic] = min(supply, limits.block_partitions or limits.partitions)
        if not limits.gaps:
            counts[topic] = max(1, counts[topic])
        for _ in range(size):
            shared = some_of(rng, list(counts)[:-1]) if rng.randrange(3) == 0 else []
            subscriptions[f"m{len(subscriptions)}"] = [topic, *shared]
    return counts, subscriptions


FRAMES: Final[tuple[Callable[[Random, DrawLimits], Frame], ...]] = (
    _scattered,
    _homogeneous,
    chain,
    chain,
    blocks,
)
UNEVEN_FRAMES: Final = (chain, chain, blocks)
"""Those that only chains of transfers even out."""


def _renamed(
    rng: Random, counts: dict[str, int], given: Subscriptions, new: Sequence[str]
) -> Frame:
    topics = _new_names(rng, list(counts), new)
    members = _new_names(rng, list(given), new)
    return (
        {topics[name]: count for name, count in counts.items()},
        {members[m]: [topics.get(t, t) for t in wanted] for m, wanted in given.items()},
    )


def _new_names(rng: Random, names: list[str], new: Sequence[str]) -> dict[str, str]:
    fresh = [*new, *names][: len(names)]
    return dict(zip(names, rng.sample(fresh, len(fresh)), strict=True))
