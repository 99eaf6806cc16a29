"""Timed work: rebalances as documents and as columns, and the assignors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from benchmarks.core_instances import CASES, equal, mixed
from heuristics import ASSIGNORS
from heuristics.cooperative_sticky import CooperativeStickyAssignor
from rebalance import Assignment, Instance, members_of

LAG_SEED: Final = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCase:
    """One rebalance to time: name, description, and a function that builds it."""

    name: str
    about: str
    build: Callable[[], Instance]


def fixed_cases() -> dict[str, TimedCase]:
    """Return the sizes that the benchmark of the exact core uses, too."""
    return {
        name: TimedCase(name=name, about=about, build=build)
        for name, (about, build) in CASES.items()
    }


def growing(kind: str, steps: int) -> list[TimedCase]:
    """Return doubling sizes, the last of 1,000,000 partitions.

    ``equal`` is a smaller S2: 500 partitions per member and 1,000 per topic. ``mixed``
    is close to L1: 100 partitions per member, 125 per topic, 50 topics per member.
    """
    sizes = [1_000_000 >> step for step in reversed(range(steps))]
    build = _equal if kind == "equal" else _mixed
    return [build(size) for size in sizes]


def _equal(partitions: int) -> TimedCase:
    members = partitions // 500
    return TimedCase(
        name=f"equal-{partitions}",
        about=f"{members:,} x {partitions:,}",
        build=lambda: equal(
            members=members,
            partitions=partitions,
            topics=partitions // 1000,
            joined=max(1, members // 100),
        ),
    )


def _mixed(partitions: int) -> TimedCase:
    members = partitions // 100
    return TimedCase(
        name=f"mixed-{partitions}",
        about=f"{members:,} x {partitions:,}",
        build=lambda: mixed(
            members=members,
            partitions=partitions,
            topics=partitions // 125,
            each=50,
        ),
    )


def with_lag(instance: Instance) -> Instance:
    """Draw the lag of each partition, for assignors that use it."""
    rng = np.random.default_rng(LAG_SEED)
    return replace(instance, lag=rng.integers(0, 100_000, size=instance.n_partitions))


def write_document(instance: Instance, path: Path) -> None:
    """Write a rebalance/1 document without lag; every member has joined before."""
    sizes = instance.topic_sizes.tolist()
    owned = members_of(instance, Assignment(assignee=instance.owner))
    document = {
        "format": "rebalance/1",
        "group": instance.group,
        "topics": {
            topic: {"partitions": size}
            for topic, size in zip(instance.topics, sizes, strict=True)
        },
        "members": {
            member: {
                "subscription": [instance.topics[t] for t in instance.topics_of(m)],
                "owned": owned[member],
                "generation": int(instance.claims.generation[m]),
            }
            for m, member in enumerate(instance.members)
        },
    }
    path.write_bytes(orjson.dumps(document))


def answering(name: str) -> Callable[[Instance], object]:
    """Return our assignor as its peer is called: one round of cooperative-sticky."""
    if name == CooperativeStickyAssignor.name:
        return CooperativeStickyAssignor().first_round
    return ASSIGNORS[name].assign


def refusal(name: str, instance: Instance) -> str | None:
    """Return why our assignor does not apply; None if it applies."""
    return ASSIGNORS[name].refuses(instance)


def settling(instance: Instance) -> Instance:
    """Rebuild the instance: checks, topics of partitions, owners by claims."""
    return replace(instance)
