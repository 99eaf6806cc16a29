"""Content of records: as read from a tape, and as decoded one by one, to compare them.

Reaches into `pipeline.records.record_tape` and `tape_layout` to compare a kernel with
its slow reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
    GroupMember,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    TopicIdPartitions,
    decode_record,
)
from pipeline.records import tape_layout as layout
from pipeline.records.record_tape import RecordTape, record_tape
from rebalance import ABSENT, WireError
from rebalance.protocol import (
    STICKY,
    ClaimSource,
    decode_assignment,
    decode_subscription,
    listed_claim,
)
from tests.support.wire import RecordBytes

Content: TypeAlias = tuple[Any, ...] | None
"""Kind and fields of a record; None if it is not read."""

TOMBSTONES = {
    "ConsumerGroupMetadata": layout.EPOCH,
    "ConsumerGroupMemberMetadata": layout.MEMBER,
    "ConsumerGroupTargetAssignmentMetadata": layout.TARGET_EPOCH,
    "ConsumerGroupTargetAssignmentMember": layout.TARGET,
    "ConsumerGroupCurrentMemberAssignment": layout.CURRENT,
    "ConsumerGroupRegularExpression": layout.REGEX,
}


def contents_on_tape(records: Iterable[RecordBytes]) -> list[Content]:
    """Return what a tape has of the records, which are read as one batch."""
    keys, values = zip(*records, strict=True)
    tape = record_tape(pa.array(keys, pa.binary()), pa.array(values, pa.binary()))
    reader = _Reader(tape, tape.tape[: tape.used].tolist())
    return [
        reader.record(kind, at)
        for kind, at in zip(tape.kind.tolist(), tape.at.tolist(), strict=True)
    ]


def content_of(key: bytes, value: bytes | None) -> Content:
    """Return the same of a record that is decoded; None if it is refused.

    None also for records that the tape leaves to others: subscribed topics (type 4),
    and groups that do not consist of consumers.
    """
    try:
        return _content(decode_record(key, value))
    except WireError:
        return None


def _content(record: object) -> Content:
    fields = FIELDS.get(type(record))
    return None if fields is None else fields(record)


def _tombstone(record: ConsumerGroupTombstone) -> Content:
    if record.kind not in TOMBSTONES:
        return None
    subject = () if record.subject is None else (record.subject,)
    return -TOMBSTONES[record.kind], *subject


def _member(member: ConsumerGroupMemberMetadata) -> Content:
    names = member.member_id, member.instance_id, member.rack, member.client_id
    more = member.regex, member.server_assignor, member.classic is not None
    return layout.MEMBER, *names, member.client_host, member.topics, *more


def _by_id(
    assigned: tuple[TopicIdPartitions, ...],
) -> tuple[tuple[bytes, tuple[int, ...]], ...]:
    return tuple((topic.topic_id, topic.partitions) for topic in assigned)


def _generation(group: GroupMetadata) -> Content:
    kind, members = group.protocol_type, group.members
    if kind != "consumer" and (kind or members):
        return None
    if members and group.protocol == "stream":
        return None
    sent = tuple(_sent(member, group.protocol or "") for member in members)
    head = kind, group.generation, group.protocol, group.leader
    return layout.GENERATION, *head, sent


def _sent(member: GroupMember, assignor: str) -> tuple[Any, ...]:
    names = member.member_id, member.group_instance_id
    client = member.client_id, member.client_host
    subscription = decode_subscription(member.subscription)
    claim = listed_claim(subscription, assignor)
    is_report = claim.source is not ClaimSource.UNREADABLE
    if claim.source is ClaimSource.NOWHERE:
        is_report = assignor == STICKY
    assigned = None
    if member.assignment:
        assigned = decode_assignment(member.assignment).partitions
    claimed = claim.partitions, claim.generation, is_report
    return *names, *client, subscription.topics, *claimed, subscription.rack, assigned


FIELDS: Final[dict[type, Callable[[Any], Content]]] = {
    OffsetCommit: lambda it: (
        layout.COMMITTED,
        it.topic,
        it.partition,
        it.offset,
        it.topic_id,
    ),
    OffsetTombstone: lambda it: (layout.FORGOTTEN, it.topic, it.partition),
    GroupMetadata: _generation,
    GroupTombstone: lambda _: (layout.DELETED,),
    ConsumerGroupTombstone: _tombstone,
    ConsumerGroupMetadata: lambda it: (
        layout.EPOCH,
        it.epoch,
        it.metadata_hash,
        it.creation_time,
    ),
    ConsumerGroupMemberMetadata: _member,
    ConsumerGroupTargetAssignmentMetadata: lambda it: (
        layout.TARGET_EPOCH,
        it.epoch,
        it.computed_at,
    ),
    ConsumerGroupTargetAssignmentMember: lambda it: (
        layout.TARGET,
        it.member_id,
        _by_id(it.assigned),
    ),
    ConsumerGroupCurrentMemberAssignment: lambda it: (
        layout.CURRENT,
        it.member_id,
        it.epoch,
        _by_id(it.assigned),
        _by_id(it.revoking),
    ),
    ConsumerGroupRegularExpression: lambda it: (layout.REGEX, it.regex, it.topics),
}


@dataclass(frozen=True, slots=True)
class _Reader:
    """A tape as lists; methods with a place return the end of what is there, too."""

    records: RecordTape
    tape: list[int]

    def record(self, kind: int, at: int) -> Content:
        if kind in {layout.OTHER, layout.DELETED, -layout.EPOCH, -layout.TARGET_EPOCH}:
            return (kind,) if kind else None
        head = self.tape[at : at + 4]
        match kind:
            case layout.COMMITTED:
                topic_id = self.topic_id(head[layout.TOPIC_ID])
                rest = head[layout.PARTITION], head[layout.OFFSET], topic_id
                return kind, self.name(head[layout.TOPIC]), *rest
            case layout.FORGOTTEN:
                return kind, self.name(head[layout.TOPIC]), head[layout.PARTITION]
            case layout.GENERATION:
                return kind, *self.generation(at)
            case layout.EPOCH | layout.TARGET_EPOCH:
                count = 3 if kind == layout.EPOCH else layout.COMPUTED_AT + 1
                return kind, *head[layout.EPOCH_NUMBER : count]
        subject = self.name(head[layout.SUBJECT])
        return kind, subject, *self.of_subject(kind, at)

    def of_subject(self, kind: int, at: int) -> tuple[Any, ...]:
        match kind:
            case layout.MEMBER:
                return self.member(at)
            case layout.REGEX:
                return (self.names(at + layout.REGEX_TOPICS)[0],)
            case layout.TARGET:
                return (self.assigned(at + layout.TARGET_PARTITIONS)[0],)
            case layout.CURRENT:
                assigned, end = self.assigned(at + layout.CURRENT_PARTITIONS)
                epoch = self.tape[at + layout.CURRENT_EPOCH]
                return epoch, assigned, self.assigned(end)[0]
        return ()  # its tombstone

    def member(self, at: int) -> tuple[Any, ...]:
        head = (
            layout.MEMBER_INSTANCE,
            layout.MEMBER_RACK,
            layout.MEMBER_CLIENT,
            layout.MEMBER_HOST,
        )
        topics, end = self.names(at + layout.MEMBER_TOPICS)
        regex = self.name(self.tape[end - 1 + layout.MEMBER_REGEX])
        assignor = self.name(self.tape[end - 1 + layout.MEMBER_ASSIGNOR])
        is_classic = bool(self.tape[end - 1 + layout.MEMBER_CLASSIC])
        names = (self.name(self.tape[at + place]) for place in head)
        return *names, topics, regex, assignor, is_classic

    def generation(self, at: int) -> tuple[Any, ...]:
        head = self.tape[at : at + layout.HEAD]
        members = tuple(
            self.sent(at + layout.HEAD + number * layout.PER_MEMBER)
            for number in range(head[layout.MEMBERS])
        )
        return (
            self.name(head[layout.KIND_OF_GROUP]),
            head[layout.NUMBER],
            self.name(head[layout.ASSIGNOR]),
            self.name(head[layout.LEADER]),
            members,
        )

    def sent(self, at: int) -> tuple[Any, ...]:
        member = self.tape[at : at + layout.PER_MEMBER]
        begin = member[layout.SENT]
        sent = self.tape[begin : begin + layout.PER_SENT]
        assigned = sent[layout.ASSIGNED]
        claimed = sent[layout.CLAIMED]
        return (
            self.name(member[layout.MEMBER_ID]),
            self.name(member[layout.INSTANCE_ID]),
            self.name(member[layout.CLIENT_ID]),
            self.name(member[layout.CLIENT_HOST]),
            self.names(sent[layout.TOPICS])[0],
            () if claimed == ABSENT else self.partitions(claimed),
            sent[layout.CLAIM_GENERATION],
            bool(sent[layout.REPORTS]),
            self.name(sent[layout.RACK]),
            None if assigned == ABSENT else self.partitions(assigned),
        )

    def name(self, number: int) -> str | None:
        found = _numbered(self.records.names, number)
        return None if found is None else found.decode()

    def topic_id(self, number: int) -> bytes | None:
        return _numbered(self.records.ids, number)

    def names(self, at: int) -> tuple[tuple[str | None, ...], int]:
        numbers, end = self.numbers(at)
        return tuple(map(self.name, numbers)), end

    def numbers(self, at: int) -> tuple[tuple[int, ...], int]:
        end = at + 1 + self.tape[at]
        return tuple(self.tape[at + 1 : end]), end

    def partitions(self, at: int) -> tuple[tuple[str | None, tuple[int, ...]], ...]:
        found, _ = self.by_topic(at)
        return tuple((self.name(topic), numbers) for topic, numbers in found)

    def assigned(
        self, at: int
    ) -> tuple[tuple[tuple[bytes | None, tuple[int, ...]], ...], int]:
        found, end = self.by_topic(at)
        return tuple((self.topic_id(topic), numbers) for topic, numbers in found), end

    def by_topic(self, at: int) -> tuple[list[tuple[int, tuple[int, ...]]], int]:
        count, end = self.tape[at], at + 1
        found = []
        for _ in range(count):
            topic = self.tape[end]
            numbers, end = self.numbers(end + 1)
            found.append((topic, numbers))
        return found, end


def _numbered(names: Any, number: int) -> bytes | None:
    """Return a text or an id by its number; None if it is null."""
    if number == ABSENT:
        return None
    assert 0 <= number < names.used[0]
    begin, end = names.at[number : number + 2]
    text: bytes = names.text[begin:end].tobytes()
    return text
