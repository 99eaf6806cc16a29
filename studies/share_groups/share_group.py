"""A rebalance of a share group: topics, members, and the target assignment before.

A share group (KIP-932) is another kind than a consumer group: a partition can be
assigned to several members, whose records the broker distributes among them. Its parts
are written as a ``rebalance/1`` document, ``owned`` being the target assignment before,
so that programs that read such lines can answer it. The judge of consumer groups does
not read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SharePartition = tuple[str, int]
Held = Mapping[str, Mapping[str, Sequence[int]]]
"""Partitions by member and topic; a partition can be that of several members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroup:
    """A share group before its coordinator computes a target assignment.

    Attributes
    ----------
    topics : mapping of str to int
        Number of partitions of each topic that exists.
    subscriptions : mapping of str to frozenset of str
        Topics by member; they need not exist.
    before : mapping of str to mapping
        The target assignment before; members without one are left out.
    """

    topics: Mapping[str, int]
    subscriptions: Mapping[str, frozenset[str]]
    before: Held

    def wanted(self, member: str) -> frozenset[SharePartition]:
        """Return the partitions of the topics that a member subscribes to."""
        topics = self.subscriptions[member] & self.topics.keys()
        return frozenset((t, n) for t in topics for n in range(self.topics[t]))

    def to_line(self) -> bytes:
        """Write it as one line for an adapter."""
        topics = {name: {"partitions": count} for name, count in self.topics.items()}
        members = {
            name: {
                "subscription": sorted(subscription),
                "owned": {t: sorted(ns) for t, ns in self.before.get(name, {}).items()},
            }
            for name, subscription in self.subscriptions.items()
        }
        document: dict[str, Any] = {"format": "rebalance/1", "group": "share"}
        return json.dumps(document | {"topics": topics, "members": members}).encode()


def share_group_of(document: Mapping[str, Any]) -> ShareGroup:
    """Read a line of `ShareGroup.to_line`, or a rebalance/1 document of that form."""
    members = document["members"]
    return ShareGroup(
        topics={
            name: topic["partitions"] for name, topic in document["topics"].items()
        },
        subscriptions={
            name: frozenset(member["subscription"]) for name, member in members.items()
        },
        before={name: member.get("owned", {}) for name, member in members.items()},
    )
