"""What is unusual about a rebalance; shrinking adds nothing of it.

An assignor can fail in a group of a usual kind and, with the same exception or signal,
in one that no real group can become. Without this rule, the first would shrink to the
second, and the finding would look like one that cannot happen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]


def oddities(rebalance: Document) -> frozenset[str]:
    """Return the names of what is unusual about a rebalance/1 document."""
    return frozenset(
        (*_of_group(rebalance), *_of_claims(rebalance), *_of_rivals(rebalance))
    )


def _of_group(rebalance: Document) -> Iterator[str]:
    topics, members = rebalance["topics"], rebalance["members"].values()
    if not members:
        yield "group without members"
    if any(not topic["partitions"] for topic in topics.values()):
        yield "topic without partitions"
    for member in members:
        if not member["subscription"]:
            yield "member without a subscription"
        if not topics.keys() >= set(member["subscription"]):
            yield "subscription to a missing topic"


def _of_claims(rebalance: Document) -> Iterator[str]:
    topics = rebalance["topics"]
    for member in rebalance["members"].values():
        for topic, numbers in member.get("owned", {}).items():
            end = topics[topic]["partitions"] if topic in topics else 0
            if numbers and topic not in member["subscription"]:
                yield "claim on a topic that was left"
            if any(number >= end for number in numbers):
                yield "claim on a missing partition"


def _of_rivals(rebalance: Document) -> Iterator[str]:
    claims = [
        (topic, number, member.get("generation", -1))
        for member in rebalance["members"].values()
        for topic, numbers in member.get("owned", {}).items()
        for number in numbers
    ]
    if len({(topic, number) for topic, number, _ in claims}) < len(claims):
        yield "two claims on a partition"
    if len(set(claims)) < len(claims):
        yield "two claims at one generation"
