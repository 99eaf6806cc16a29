"""Answer rebalance/1 lines with assignment/1 lines, one for one, until the input ends.

An error of the assignor is the answer to its rebalance. This module runs in the
environment of a client, and imports Python's own library only.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

UNKNOWN_GENERATION: Final = -1

Held = dict[str, dict[str, list[int]]]


@dataclass(frozen=True)
class JoinedMember:
    """What one member brings to a rebalance."""

    member_id: str
    subscription: list[str]
    owned: dict[str, list[int]] | None = None
    generation: int = UNKNOWN_GENERATION
    instance_id: str | None = None

    @property
    def has_joined_before(self) -> bool:
        """Whether the member has had an assignment."""
        return self.owned is not None or self.generation >= 0

    @property
    def owned_by_topic(self) -> list[tuple[str, list[int]]]:
        """The claims, by topic."""
        return sorted((self.owned or {}).items())


@dataclass(frozen=True)
class LeaderCluster:
    """The part of a client's cluster metadata that assignors read.

    Topics without partitions do not exist; the leader asks for the group's topics only.
    """

    counts: dict[str, int] = field(default_factory=dict)

    def topics(self) -> set[str]:
        """Return the names of the topics that exist."""
        return set(self.counts)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partition numbers; None if the topic does not exist."""
        count = self.counts.get(topic)
        return None if count is None else set(range(count))


def read_members(rebalance: dict[str, Any]) -> list[JoinedMember]:
    """Return the members by id: a coordinator's order is arbitrary."""
    return [
        JoinedMember(
            member_id=member_id,
            subscription=about["subscription"],
            owned=about.get("owned"),
            generation=about.get("generation", UNKNOWN_GENERATION),
            instance_id=about.get("instance_id"),
        )
        for member_id, about in sorted(rebalance["members"].items())
    ]


def read_cluster(
    rebalance: dict[str, Any], members: Iterable[JoinedMember]
) -> LeaderCluster:
    """Return the topics of the group that exist."""
    wanted = {topic for member in members for topic in member.subscription}
    counts = {
        topic: about["partitions"]
        for topic, about in rebalance["topics"].items()
        if topic in wanted and about["partitions"]
    }
    return LeaderCluster(counts)


def serve(
    name: str, assign: Callable[[LeaderCluster, list[JoinedMember]], Held]
) -> None:
    """Answer every line of the standard input."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = sys.stderr  # what a library prints is not an answer
    for line in sys.stdin.buffer:
        print(_answer(name, assign, json.loads(line)), file=out, flush=True)


def _place(error: Exception) -> str:
    """Return the function and the line that raised."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    return f"{raised.name} ({Path(raised.filename).name}:{raised.lineno})"


def _answer(
    name: str,
    assign: Callable[[LeaderCluster, list[JoinedMember]], Held],
    rebalance: dict[str, Any],
) -> str:
    members = read_members(rebalance)
    if not members:
        return json.dumps({"error": "no member leads a group without members"})
    try:
        given = assign(read_cluster(rebalance, members), members)
    except Exception as error:  # noqa: BLE001  # whatever the assignor raises
        said = {"error": f"{type(error).__name__}: {error}", "place": _place(error)}
        return json.dumps(said)
    held: Held = {member.member_id: {} for member in members}
    for member_id, topics in given.items():
        held[member_id] = {t: list(numbers) for t, numbers in topics.items() if numbers}
    answer = {
        "format": "assignment/1",
        "group": rebalance["group"],
        "assignor": name,
        "members": held,
    }
    return json.dumps(answer)
