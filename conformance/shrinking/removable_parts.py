"""The parts of a rebalance that can be removed, largest first.

A kind of part is a list of them and a function that keeps some: removing a member
removes its claims; removing a partition renumbers those that follow it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Document = dict[str, Any]
Piece = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKind:
    """One kind of part: ``listed`` lists them, ``only`` keeps some of them."""

    name: str
    listed: Callable[[Document], list[Piece]]
    only: Callable[[Document, Collection[Piece]], Document]


def _members(rebalance: Document) -> list[Piece]:
    return [(name,) for name in sorted(rebalance["members"])]


def _only_members(rebalance: Document, kept: Collection[Piece]) -> Document:
    members = rebalance["members"].items()
    return rebalance | {"members": {m: member for m, member in members if (m,) in kept}}


def _topics(rebalance: Document) -> list[Piece]:
    """List all topics that occur: also claimed or subscribed ones that are deleted."""
    named = set(rebalance["topics"])
    for member in rebalance["members"].values():
        named |= {*member["subscription"], *member.get("owned", {})}
    return [(name,) for name in sorted(named)]


def _only_topics(rebalance: Document, kept: Collection[Piece]) -> Document:
    topics = {t: topic for t, topic in rebalance["topics"].items() if (t,) in kept}
    members = {}
    for name, member in rebalance["members"].items():
        wanted = [t for t in member["subscription"] if (t,) in kept]
        members[name] = member | {"subscription": wanted}
        if "owned" in member:
            owned = member["owned"].items()
            members[name]["owned"] = {t: ns for t, ns in owned if (t,) in kept}
    return rebalance | {"topics": topics, "members": members}


def _partitions(rebalance: Document) -> list[Piece]:
    topics = sorted(rebalance["topics"].items())
    return [
        (topic, n)
        for topic, described in topics
        for n in range(described["partitions"])
    ]


def only_partitions(rebalance: Document, kept: Collection[Piece]) -> Document:
    """Keep some partitions, which are renumbered, and the claims on them.

    A claim beyond the former end of a topic stays as far beyond the new one.
    """
    numbers: dict[str, list[int]] = {topic: [] for topic in rebalance["topics"]}
    for topic, number in sorted(kept):
        numbers[str(topic)].append(int(number))
    topics = {}
    for topic, described in rebalance["topics"].items():
        topics[topic] = described | {"partitions": len(numbers[topic])}
        for field in ("lag", "racks"):
            if field in described:
                topics[topic][field] = [described[field][n] for n in numbers[topic]]
    members = {}
    for name, member in rebalance["members"].items():
        members[name] = dict(member)
        if "owned" in member:
            owned = {
                topic: _renumbered(claimed, topic, numbers, rebalance["topics"])
                for topic, claimed in member["owned"].items()
            }
            members[name]["owned"] = {topic: ns for topic, ns in owned.items() if ns}
    return rebalance | {"topics": topics, "members": members}


def _renumbered(
    claimed: Sequence[int],
    topic: str,
    numbers: Mapping[str, Sequence[int]],
    topics: Mapping[str, Mapping[str, int]],
) -> list[int]:
    """Renumber the rest."""
    if topic not in topics:
        return list(claimed)
    kept, end = numbers[topic], topics[topic]["partitions"]
    known = set(kept)
    return [
        bisect_left(kept, n) if n < end else n - end + len(kept)
        for n in claimed
        if n in known or n >= end
    ]


def _subscriptions(rebalance: Document) -> list[Piece]:
    members = sorted(rebalance["members"].items())
    return [
        (name, t) for name, member in members for t in sorted(member["subscription"])
    ]


def _only_subscriptions(rebalance: Document, kept: Collection[Piece]) -> Document:
    members = {
        name: member
        | {"subscription": [t for t in member["subscription"] if (name, t) in kept]}
        for name, member in rebalance["members"].items()
    }
    return rebalance | {"members": members}


def _claims(rebalance: Document) -> list[Piece]:
    return [
        (name, topic, number)
        for name, member in sorted(rebalance["members"].items())
        for topic, numbers in sorted(member.get("owned", {}).items())
        for number in sorted(numbers)
    ]


def _only_claims(rebalance: Document, kept: Collection[Piece]) -> Document:
    members = {}
    for name, member in rebalance["members"].items():
        members[name] = dict(member)
        if "owned" in member:
            left = {
                topic: [n for n in numbers if (name, topic, n) in kept]
                for topic, numbers in member["owned"].items()
            }
            members[name]["owned"] = {topic: ns for topic, ns in left.items() if ns}
    return rebalance | {"members": members}


PART_KINDS: Final[Sequence[PartKind]] = (
    PartKind(name="members", listed=_members, only=_only_members),
    PartKind(name="topics", listed=_topics, only=_only_topics),
    PartKind(name="partitions", listed=_partitions, only=only_partitions),
    PartKind(name="claims", listed=_claims, only=_only_claims),
    PartKind(name="subscriptions", listed=_subscriptions, only=_only_subscriptions),
)
