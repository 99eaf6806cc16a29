"""Records of the new protocol (KIP-848): ``ConsumerGroup*Key.json``, ``*Value.json``.

Follows the message files of Apache Kafka's group coordinator, 4.0 to 4.4. All values
have version 0 in the flexible encoding; additions since 4.0 are tagged fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from pipeline.records.consumer_model import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
    TopicIdPartitions,
    TopicMetadata,
)
from pipeline.records.model import UNKNOWN
from pipeline.records.version import value_version
from rebalance import WireError
from rebalance.protocol import Cursor

_T = TypeVar("_T")
_NEWEST: Final = 0
_INT64: Final = 8  # bytes
_NO_TAGS: Final[dict[int, int]] = {}
_LEAST_TOPIC: Final = 16 + 1 + 4 + 1 + 1  # bytes, everything empty
_LEAST_RACKS: Final = 4 + 1 + 1
_LEAST_PARTITIONS: Final = 16 + 1 + 1
_LEAST_PROTOCOL: Final = 1 + 1 + 1


def decode_consumer_group(
    record_type: int, key: bytes, value: bytes | None
) -> ConsumerGroupRecord:
    """Decode a record of a type in `KINDS`, which ``key`` begins with.

    Raises
    ------
    WireError
        If key or value is not such a message.
    """
    kind, subject, read = KINDS[record_type]
    group_id, named = _decoded_names(key, subject)
    if value is None:
        return ConsumerGroupTombstone(kind=kind, group_id=group_id, subject=named)
    cursor = Cursor(value)
    value_version(cursor, newest=_NEWEST)
    record = read(group_id, named or "", cursor)
    cursor.end("value")
    return record


def _decoded_names(key: bytes, subject: str | None) -> tuple[str, str | None]:
    """Decode the group, and the subject if the key has one."""
    cursor = Cursor(key)
    cursor.int16("key: record type")
    group_id = cursor.string("key: group")
    named = None if subject is None else cursor.string(f"key: {subject}")
    cursor.end("key")
    return group_id, named


def _group(group_id: str, _subject: str, value: Cursor) -> ConsumerGroupMetadata:
    epoch = value.int32("value: group epoch")
    tags = value.tagged("value", {0: _INT64, 1: _INT64})
    return ConsumerGroupMetadata(
        group_id=group_id,
        epoch=epoch,
        metadata_hash=_int64(tags.get(0), 0),
        creation_time=_int64(tags.get(1), UNKNOWN),
    )


def _topics(
    group_id: str, _subject: str, value: Cursor
) -> ConsumerGroupPartitionMetadata:
    topics = _array(value, "value: topics", _LEAST_TOPIC, _topic)
    value.tagged("value", _NO_TAGS)
    return ConsumerGroupPartitionMetadata(group_id=group_id, topics=topics)


def _topic(value: Cursor) -> TopicMetadata:
    topic = TopicMetadata(
        topic_id=value.uuid("value: topic id"),
        name=value.compact_string("value: topic"),
        partitions=value.int32("value: partitions of a topic"),
        racks=_array(value, "value: racks of partitions", _LEAST_RACKS, _racks),
    )
    value.tagged("value: topic", _NO_TAGS)
    return topic


def _racks(value: Cursor) -> tuple[int, tuple[str, ...]]:
    number = value.int32("value: partition")
    racks = _strings(value, "value: racks")
    value.tagged("value: racks", _NO_TAGS)
    return number, racks


def _member(
    group_id: str, member_id: str, value: Cursor
) -> ConsumerGroupMemberMetadata:
    return ConsumerGroupMemberMetadata(
        group_id=group_id,
        member_id=member_id,
        instance_id=value.nullable_compact_string("value: group instance"),
        rack=value.nullable_compact_string("value: rack"),
        client_id=value.compact_string("value: client"),
        client_host=value.compact_string("value: client host"),
        topics=_strings(value, "value: subscribed topics"),
        regex=value.nullable_compact_string("value: regular expression"),
        rebalance_timeout=value.int32("value: rebalance timeout"),
        server_assignor=value.nullable_compact_string("value: server assignor"),
        classic=_classic(value.tags("value").get(0)),
    )


def _classic(value: Cursor | None) -> ClassicMemberMetadata | None:
    """Decode a nullable struct of a tag: a varint, 0 for null and 1 for its fields."""
    if value is None:
        return None
    start = value.at
    present = value.uvarint("value: classic member")
    if present > 1:
        reason = f"value: classic member: {present}, not 0 or 1"
        raise WireError(reason, offset=start)
    if not present:
        value.end("value: classic member")
        return None
    classic = ClassicMemberMetadata(
        session_timeout=value.int32("value: session timeout"),
        protocols=_array(value, "value: protocols", _LEAST_PROTOCOL, _protocol),
    )
    value.tagged("value: classic member", _NO_TAGS)
    value.end("value: classic member")
    return classic


def _protocol(value: Cursor) -> tuple[str, bytes]:
    name = value.compact_string("value: protocol")
    metadata = value.compact_blob("value: protocol metadata")
    value.tagged("value: protocol", _NO_TAGS)
    return name, metadata


def _target_epoch(
    group_id: str, _subject: str, value: Cursor
) -> ConsumerGroupTargetAssignmentMetadata:
    epoch = value.int32("value: assignment epoch")
    tags = value.tagged("value", {0: _INT64})
    return ConsumerGroupTargetAssignmentMetadata(
        group_id=group_id, epoch=epoch, computed_at=_int64(tags.get(0), 0)
    )


def _target(
    group_id: str, member_id: str, value: Cursor
) -> ConsumerGroupTargetAssignmentMember:
    assigned = _array(value, "value: assignment", _LEAST_PARTITIONS, _partitions)
    value.tagged("value", _NO_TAGS)
    return ConsumerGroupTargetAssignmentMember(
        group_id=group_id, member_id=member_id, assigned=assigned
    )


def _current(
    group_id: str, member_id: str, value: Cursor
) -> ConsumerGroupCurrentMemberAssignment:
    epoch = value.int32("value: member epoch")
    previous_epoch = value.int32("value: previous member epoch")
    state = value.int8("value: state")
    assigned = _array(value, "value: assignment", _LEAST_PARTITIONS, _partitions)
    revoking = _array(value, "value: revocation", _LEAST_PARTITIONS, _partitions)
    value.tagged("value", _NO_TAGS)
    return ConsumerGroupCurrentMemberAssignment(
        group_id=group_id,
        member_id=member_id,
        epoch=epoch,
        previous_epoch=previous_epoch,
        state=state,
        assigned=assigned,
        revoking=revoking,
    )


def _partitions(value: Cursor) -> TopicIdPartitions:
    topic_id = value.uuid("value: topic id")
    partitions = value.compact_int32s("value: partitions")
    epochs = value.tags("value: partitions").get(0)
    return TopicIdPartitions(
        topic_id=topic_id,
        partitions=partitions,
        epochs=None if epochs is None else _epochs(epochs),
    )


def _epochs(value: Cursor) -> tuple[int, ...]:
    epochs = value.compact_int32s("value: assignment epochs")
    value.end("value: assignment epochs")
    return epochs


def _regex(group_id: str, regex: str, value: Cursor) -> ConsumerGroupRegularExpression:
    expression = ConsumerGroupRegularExpression(
        group_id=group_id,
        regex=regex,
        topics=_strings(value, "value: topics"),
        version=value.int64("value: version of the metadata"),
        resolved_at=value.int64("value: timestamp"),
    )
    value.tagged("value", _NO_TAGS)
    return expression


def _array(
    value: Cursor, what: str, least: int, read: Callable[[Cursor], _T]
) -> tuple[_T, ...]:
    return tuple(read(value) for _ in range(value.compact_count(what, least=least)))


def _strings(value: Cursor, what: str) -> tuple[str, ...]:
    return _array(value, what, 1, lambda cursor: cursor.compact_string(what))


def _int64(tag: bytes | None, default: int) -> int:
    return default if tag is None else int.from_bytes(tag, "big", signed=True)


_Read: TypeAlias = Callable[[str, str, Cursor], ConsumerGroupRecord]
KINDS: Final[dict[int, tuple[str, str | None, _Read]]] = {
    3: (ConsumerGroupMetadata.__name__, None, _group),
    4: (ConsumerGroupPartitionMetadata.__name__, None, _topics),
    5: (ConsumerGroupMemberMetadata.__name__, "member", _member),
    6: (ConsumerGroupTargetAssignmentMetadata.__name__, None, _target_epoch),
    7: (ConsumerGroupTargetAssignmentMember.__name__, "member", _target),
    8: (ConsumerGroupCurrentMemberAssignment.__name__, "member", _current),
    16: (ConsumerGroupRegularExpression.__name__, "regular expression", _regex),
}
"""Record type to Kafka's name, the other names in the key, and the reader."""
