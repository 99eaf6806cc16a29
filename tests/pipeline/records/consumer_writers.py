"""Write records of the new protocol from their fields, and of any kind, for tests only.

Shares no code with the reader: ``struct`` and the tables of Kafka's message files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TypeAlias

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    TopicIdPartitions,
    TopicMetadata,
)
from tests.pipeline.records.writers import (
    Tags,
    blob,
    group_key,
    group_value,
    offset_key,
    offset_value,
    tagged,
    text,
    uvarint,
)
from tests.support.wire import RecordBytes

AnyRecord: TypeAlias = (
    ConsumerGroupRecord
    | GroupMetadata
    | GroupTombstone
    | OffsetCommit
    | OffsetTombstone
)

TYPES = {
    "ConsumerGroupMetadata": 3,
    "ConsumerGroupPartitionMetadata": 4,
    "ConsumerGroupMemberMetadata": 5,
    "ConsumerGroupTargetAssignmentMetadata": 6,
    "ConsumerGroupTargetAssignmentMember": 7,
    "ConsumerGroupCurrentMemberAssignment": 8,
    "ConsumerGroupRegularExpression": 16,
}


def written(record: AnyRecord, unknown: Tags | None = None) -> RecordBytes:
    """Return key and value of a record, with tags in the flexible encoding."""
    match record:
        case GroupMetadata():
            return group_key(record.group_id), group_value(record, unknown)
        case GroupTombstone():
            return group_key(record.group_id), None
        case OffsetCommit():
            return offset_key(record), offset_value(record, unknown)
        case OffsetTombstone():
            return offset_key(record), None
        case _:
            return consumer_key(record), consumer_value(record, unknown)


def consumer_key(record: ConsumerGroupRecord) -> bytes:
    if isinstance(record, ConsumerGroupTombstone):
        kind, subject = record.kind, record.subject
    else:
        kind = type(record).__name__
        subject = getattr(record, "member_id", getattr(record, "regex", None))
    key = struct.pack(">h", TYPES[kind]) + text(record.group_id)
    return key if subject is None else key + text(subject)


def consumer_value(
    record: ConsumerGroupRecord, unknown: Tags | None = None, *, version: int = 0
) -> bytes | None:
    more = unknown or {}
    match record:
        case ConsumerGroupTombstone():
            return None
        case ConsumerGroupMetadata():
            known = _int64(0, record.metadata_hash, 0)
            known |= _int64(1, record.creation_time, -1)
            body = struct.pack(">i", record.epoch) + tagged(more | known)
        case ConsumerGroupPartitionMetadata():
            body = _array(_topic(topic, more) for topic in record.topics) + tagged(more)
        case ConsumerGroupMemberMetadata():
            body = _member(record, more)
        case ConsumerGroupTargetAssignmentMetadata():
            known = _int64(0, record.computed_at, 0)
            body = struct.pack(">i", record.epoch) + tagged(more | known)
        case ConsumerGroupTargetAssignmentMember():
            body = _assigned(record.assigned, more) + tagged(more)
        case ConsumerGroupCurrentMemberAssignment():
            numbers = record.epoch, record.previous_epoch, record.state
            both = _assigned(record.assigned, more) + _assigned(record.revoking, more)
            body = struct.pack(">iib", *numbers) + both + tagged(more)
        case ConsumerGroupRegularExpression():
            topics = _array(text(topic, compact=True) for topic in record.topics)
            times = struct.pack(">qq", record.version, record.resolved_at)
            body = topics + times + tagged(more)
    return struct.pack(">h", version) + body


def _int64(tag: int, value: int, default: int) -> Tags:
    return {} if value == default else {tag: struct.pack(">q", value)}


def _array(items: Iterable[bytes]) -> bytes:
    written = list(items)
    return uvarint(len(written) + 1) + b"".join(written)


def _int32s(values: tuple[int, ...]) -> bytes:
    return uvarint(len(values) + 1) + struct.pack(f">{len(values)}i", *values)


def _topic(topic: TopicMetadata, more: Tags) -> bytes:
    racks = _array(
        struct.pack(">i", number)
        + _array(text(name, compact=True) for name in names)
        + tagged(more)
        for number, names in topic.racks
    )
    name = text(topic.name, compact=True) + struct.pack(">i", topic.partitions)
    return topic.topic_id + name + racks + tagged(more)


def _assigned(assigned: tuple[TopicIdPartitions, ...], more: Tags) -> bytes:
    return _array(
        topic.topic_id
        + _int32s(topic.partitions)
        + tagged(more | ({} if topic.epochs is None else {0: _int32s(topic.epochs)}))
        for topic in assigned
    )


def _member(member: ConsumerGroupMemberMetadata, more: Tags) -> bytes:
    out = b"".join(
        text(value, compact=True)
        for value in (
            member.instance_id,
            member.rack,
            member.client_id,
            member.client_host,
        )
    )
    out += _array(text(topic, compact=True) for topic in member.topics)
    out += text(member.regex, compact=True)
    out += struct.pack(">i", member.rebalance_timeout)
    out += text(member.server_assignor, compact=True)
    known = {}
    if member.classic is not None:
        protocols = _array(
            text(name, compact=True) + blob(metadata, compact=True) + tagged(more)
            for name, metadata in member.classic.protocols
        )
        timeout = struct.pack(">i", member.classic.session_timeout)
        known = {0: b"\x01" + timeout + protocols + tagged(more)}
    return out + tagged(more | known)
