"""Shapes of instances: properties of a ``rebalance/1`` document.

Selectors of findings require or exclude them: on a shrunk instance, from which nothing
can be removed, the shapes name the mechanism. Shrinking adds none that is unusual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

Document = Mapping[str, Any]


def is_mixed(document: Document) -> bool:
    """Return whether subscriptions differ between members."""
    wanted = {
        frozenset(member["subscription"]) for member in document["members"].values()
    }
    return len(wanted) > 1


def misses_topic(document: Document) -> bool:
    """Return whether a member subscribes to a topic without partitions, or none."""
    there = {t for t, about in document["topics"].items() if about["partitions"]}
    members = document["members"].values()
    return any(not there.issuperset(member["subscription"]) for member in members)


def has_no_members(document: Document) -> bool:
    """Return whether the group has no members."""
    return not document["members"]


def has_empty_topic(document: Document) -> bool:
    """Return whether a topic has no partitions."""
    return not all(about["partitions"] for about in document["topics"].values())


def has_double_claims(document: Document) -> bool:
    """Return whether two members claim one partition."""
    claims = Counter((topic, number) for _, topic, number in _claims(document))
    return any(count > 1 for count in claims.values())


def has_tied_claims(document: Document) -> bool:
    """Return whether two members claim one partition at one generation."""
    dates = {
        n: member.get("generation", -1) for n, member in document["members"].items()
    }
    claims = Counter((t, number, dates[name]) for name, t, number in _claims(document))
    return any(count > 1 for count in claims.values())


def has_older_claims(document: Document) -> bool:
    """Return whether a claim is older than the newest generation of a member.

    A member without claims that has taken part in a later generation makes the claims
    of others old.
    """
    members = document["members"].values()
    newest = max((member.get("generation", -1) for member in members), default=-1)
    return any(
        member.get("generation", -1) < newest
        for member in members
        if member.get("owned")
    )


def has_left_claims(document: Document) -> bool:
    """Return whether a member claims a partition of a topic that it has left."""
    members = document["members"]
    return any(
        topic not in members[name]["subscription"]
        for name, topic, _ in _claims(document)
    )


def has_lost_claims(document: Document) -> bool:
    """Return whether a member claims a partition that does not exist."""
    counts = {t: about["partitions"] for t, about in document["topics"].items()}
    return any(number >= counts.get(t, 0) for _, t, number in _claims(document))


def has_idle_member(document: Document) -> bool:
    """Return whether a member subscribes to nothing."""
    return not all(member["subscription"] for member in document["members"].values())


def is_idle(document: Document) -> bool:
    """Return whether no member subscribes to a topic that exists."""
    there = {t for t, about in document["topics"].items() if about["partitions"]}
    members = document["members"].values()
    return not any(there & set(member["subscription"]) for member in members)


def has_racks(document: Document) -> bool:
    """Return whether a member or a partition has a rack."""
    is_member = any(member.get("rack") for member in document["members"].values())
    return is_member or any(topic.get("racks") for topic in document["topics"].values())


SHAPES: Final[Mapping[str, Callable[[Document], bool]]] = MappingProxyType(
    {
        "mixed": is_mixed,
        "missing-topic": misses_topic,
        "no-members": has_no_members,
        "empty-topic": has_empty_topic,
        "double-claims": has_double_claims,
        "tied-claims": has_tied_claims,
        "older-claims": has_older_claims,
        "left-claims": has_left_claims,
        "lost-claims": has_lost_claims,
        "idle-member": has_idle_member,
        "idle": is_idle,
        "racks": has_racks,
    }
)
"""Shapes by the name that definitions use."""

UNUSUAL: Final = (
    "no-members",
    "empty-topic",
    "missing-topic",
    "idle-member",
    "left-claims",
    "lost-claims",
    "double-claims",
    "tied-claims",
)
"""Shapes of groups of an unusual kind, some of which no real group can become."""


def unusual_shapes(document: Document) -> frozenset[str]:
    """Return the names of the unusual shapes of a document."""
    return frozenset(name for name in UNUSUAL if SHAPES[name](document))


def _claims(document: Document) -> Iterator[tuple[str, str, int]]:
    for name, member in document["members"].items():
        for topic, numbers in (member.get("owned") or {}).items():
            for number in numbers:
                yield name, topic, number
