"""State of a group of the new protocol (KIP-848), replayed record by record.

Follows ``GroupMetadataManager.replay`` and ``removeMember`` of Kafka's group
coordinator. A static member that returns takes over the target assignment of its former
member id, whose records are deleted before (KIP-345).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.cases import Held
from pipeline.history.generations import Seat
from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTombstone,
    TopicIdPartitions,
    TopicMetadata,
)
from pipeline.topic_ids import text_of_id
from rebalance import WireError


class Present(NamedTuple):
    """Partitions of a member, including those that it must still revoke."""

    epoch: int
    held: Held
    settled: bool  # no partition is left to be revoked


class Roster(NamedTuple):
    """Members and the topics of their regular expressions, at a group epoch."""

    members: dict[str, ConsumerGroupMemberMetadata]
    regexes: dict[str, tuple[str, ...]]
    sizes: dict[str, TopicMetadata]


@dataclass(slots=True, kw_only=True)
class ConsumerState:
    """Members, targets, and present assignments; topics of assignments are ids.

    ``replaced`` has the former target of each member whose target was written since the
    last group or target epoch, None if it had none.
    """

    members: dict[str, ConsumerGroupMemberMetadata] = field(default_factory=dict)
    targets: dict[str, Held] = field(default_factory=dict)
    present: dict[str, Present] = field(default_factory=dict)
    regexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[str, TopicMetadata] = field(default_factory=dict)
    replaced: dict[str, Held | None] = field(default_factory=dict)
    _left: dict[str, Held] = field(default_factory=dict)

    def roster(self) -> Roster:
        """Return a copy of the members and subscriptions."""
        return Roster(
            members=dict(self.members),
            regexes=dict(self.regexes),
            sizes=dict(self.sizes),
        )

    def target_before(self, member_id: str) -> Held | None:
        """Return a member's target before those written since the last epoch."""
        if member_id in self.replaced:
            return self.replaced[member_id]
        return self.targets.get(member_id)

    def has_holes(self) -> bool:
        """Return whether a topic has partitions that the targets leave out.

        Kafka's server assignors assign every partition of a topic, so a member that is
        not in the source has those that are left out.
        """
        numbers: dict[str, set[int]] = {}
        for held in self.targets.values():
            for topic, assigned in held.items():
                numbers.setdefault(topic, set()).update(assigned)
        return any(len(found) <= max(found) for found in numbers.values())

    def member(self, record: ConsumerGroupMemberMetadata) -> None:
        """Apply a member's subscription."""
        self.members[record.member_id] = record

    def topics(self, record: ConsumerGroupPartitionMetadata) -> None:
        """Apply the subscribed topics, which Kafka 4.0 records."""
        self.sizes = {topic.name: topic for topic in record.topics}

    def regex(self, record: ConsumerGroupRegularExpression) -> None:
        """Apply the topics that a regular expression matches."""
        self.regexes[record.regex] = record.topics

    def target(self, record: ConsumerGroupTargetAssignmentMember) -> None:
        """Apply a member's part of a target assignment.

        Raises
        ------
        WireError
            If a partition number is negative or occurs twice.
        """
        member_id, held = record.member_id, held_of(record.assigned)
        if member_id not in self.replaced:
            self.replaced[member_id] = self.targets.get(member_id)
        member = self.members.get(member_id)
        if member is not None and member.instance_id in self._left:
            self.replaced[member_id] = self._left.pop(member.instance_id)
        self.targets[member_id] = held

    def current(self, record: ConsumerGroupCurrentMemberAssignment) -> None:
        """Apply a member's present assignment.

        Raises
        ------
        WireError
            If a partition number is negative or occurs twice.
        """
        self.present[record.member_id] = Present(
            epoch=record.epoch,
            held=held_of(record.assigned + record.revoking),
            settled=not any(entry.partitions for entry in record.revoking),
        )

    def forget(self, tombstone: ConsumerGroupTombstone) -> None:
        """Apply a tombstone, or drop the record that an unreadable one has replaced."""
        subject = tombstone.subject or ""
        if tombstone.kind == ConsumerGroupTargetAssignmentMember.__name__:
            held = self.targets.pop(subject, None)
            self.replaced.pop(subject, None)
            member = self.members.get(subject)
            if held is not None and member is not None and member.instance_id:
                self._left[member.instance_id] = held
        elif tombstone.kind == ConsumerGroupMemberMetadata.__name__:
            self.members.pop(subject, None)
        elif tombstone.kind == ConsumerGroupCurrentMemberAssignment.__name__:
            self.present.pop(subject, None)
        elif tombstone.kind == ConsumerGroupRegularExpression.__name__:
            self.regexes.pop(subject, None)
        elif tombstone.kind == ConsumerGroupPartitionMetadata.__name__:
            self.sizes = {}

    def new_epoch(self) -> None:
        """Begin the next assignment: earlier records do not belong to it."""
        self.replaced.clear()
        self._left.clear()


def held_of(assigned: tuple[TopicIdPartitions, ...]) -> Held:
    """Return partitions by topic id, as text; both ascending.

    Raises
    ------
    WireError
        If a partition number is negative or occurs twice.
    """
    merged: dict[str, list[int]] = {}
    for entry in assigned:
        topic = text_of_id(entry.topic_id)
        if min(entry.partitions, default=0) < 0:
            raise WireError(f"value: partition {min(entry.partitions)}", offset=0)
        merged.setdefault(topic, []).extend(entry.partitions)
    for topic, numbers in merged.items():
        if len(set(numbers)) < len(numbers):
            reason = f"value: a partition of topic {topic} twice"
            raise WireError(reason, offset=0)
    return {topic: sorted(merged[topic]) for topic in sorted(merged) if merged[topic]}


def seat_of(member: ConsumerGroupMemberMetadata) -> Seat:
    """Return the instance id of a static member, else the member id (KIP-345)."""
    if member.instance_id:
        return True, member.instance_id
    return False, member.member_id


def subscription_of(
    member: ConsumerGroupMemberMetadata, roster: Roster
) -> tuple[str, ...]:
    """Return the topics of a member, with those that its regular expression matches."""
    matched = roster.regexes.get(member.regex, ()) if member.regex else ()
    return tuple(sorted({*member.topics, *matched}))
