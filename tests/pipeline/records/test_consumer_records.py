"""Records of the new protocol (KIP-848): Java's bytes, random, damaged, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given

from pipeline.records import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTombstone,
    TopicIdPartitions,
    TopicMetadata,
    decode_record,
)
from rebalance import WireError
from tests.pipeline.records.consumer_writers import TYPES, consumer_key, consumer_value
from tests.pipeline.records.strategies import NEWER_TAGS, consumer_records
from tests.pipeline.records.writers import Tags
from tests.support.wire import Vector, attempt, java
from tests.support.wire_strategies import damaged

WITH_SUBJECT = {5: "member", 7: "member", 8: "member", 16: "regular expression"}
EMPTY = ConsumerGroupMemberMetadata(
    group_id="",
    member_id="",
    instance_id="",
    rack="",
    client_id="",
    client_host="",
    topics=("",) * 9,
    regex="",
    rebalance_timeout=-1,
    server_assignor="",
    classic=ClassicMemberMetadata(session_timeout=0, protocols=(("", b""),) * 9),
)


def key_of(record_type: int, *, subject: str = "m") -> bytes:
    named = WITH_SUBJECT.get(record_type)
    more = b"" if named is None else bytes([0, len(subject)]) + subject.encode()
    return bytes([0, record_type, 0, 1]) + b"g" + more


@pytest.mark.heavy
@given(consumer_records(), NEWER_TAGS)
@example(EMPTY, {})
@example(EMPTY, {5: b"x"})
def test_round_trip(record: ConsumerGroupRecord, unknown: Tags) -> None:
    value = consumer_value(record, unknown)
    assert decode_record(consumer_key(record), value) == record


@pytest.mark.heavy
@given(consumer_records())
def test_tombstones(record: ConsumerGroupRecord) -> None:
    kind = type(record).__name__
    subject = getattr(record, "member_id", getattr(record, "regex", None))
    assert decode_record(consumer_key(record), None) == ConsumerGroupTombstone(
        kind=kind, group_id=record.group_id, subject=subject
    )


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_java(kind: str) -> None:
    vectors = java(kind)
    assert len(vectors) >= 1
    for vector in vectors:
        record = decode_record(key_of(TYPES[kind]), vector.data)
        assert type(record).__name__ == kind
        assert record == _record(type(record), vector)
        assert consumer_value(record) == vector.data  # type: ignore[arg-type]


def test_a_null_that_is_written() -> None:
    """Kafka 4.3.1 writes the tag of a member that is not classic, with a zero."""
    (plain,) = (v for v in java("ConsumerGroupMemberMetadata") if v.data[2] == 0)
    written = plain.data[:-1] + bytes.fromhex("01 00 01 00")
    key = key_of(5)
    assert decode_record(key, written) == decode_record(key, plain.data)


@pytest.mark.heavy
@pytest.mark.parametrize("version", [1, 4, -1])
@given(record=consumer_records())
def test_other_versions_are_refused(version: int, record: ConsumerGroupRecord) -> None:
    value = consumer_value(record, version=version)
    with pytest.raises(WireError) as caught:
        decode_record(consumer_key(record), value)
    assert caught.value.reason == f"value: version {version}, not 0"
    assert caught.value.offset == 0


REFUSED = [
    (3, "0000", 2, "value: group epoch: 4 bytes wanted, 0 left"),
    (3, "0000000000010100021122", 7, "value: tag 0 twice, or not of 8 bytes"),
    (3, "000000000001 00 ff", 7, "value: 1 bytes too many"),
    (4, "0000 ffffffff0f", 2, "value: topics: 4294967294 items, but 0 bytes left"),
    (5, "0000 00", 3, "value: rack: 1 bytes wanted, 0 left"),
    (5, "0000 00 00 00", 4, "value: client: null"),
    (5, "0000000001010101ffffffff00 01 00 01 02", 16, "value: classic member: 2"),
    (5, "0000000001010101ffffffff00 01 00 02 00 00", 17, "value: classic member: 1 by"),
    (5, "0000000001010101ffffffff00 01 00 01 01", 17, "value: session timeout: 4"),
    (5, "0000000001010101ffffffff00 02 00 01 00 00 01 00", 17, "value: tag 0 twice"),
    (7, "0000 02" + "00" * 15, 2, "value: assignment: 1 items, but 15 bytes left"),
    (8, "0000 00000001 00000001", 10, "value: state: 1 bytes wanted, 0 left"),
    (16, "0000 01 0000000000000000", 11, "value: timestamp: 8 bytes wanted, 0 left"),
]


@pytest.mark.parametrize(("record_type", "value", "offset", "reason"), REFUSED)
def test_refused_with_the_byte_at_fault(
    record_type: int, value: str, offset: int, reason: str
) -> None:
    with pytest.raises(WireError) as caught:
        decode_record(key_of(record_type), bytes.fromhex(value))
    assert caught.value.reason.startswith(reason)
    assert caught.value.offset == offset


@pytest.mark.parametrize(("record_type", "subject"), WITH_SUBJECT.items())
def test_keys_name_a_member_or_an_expression(record_type: int, subject: str) -> None:
    whole = key_of(record_type)
    for key, reason in (
        (whole[:5], f"key: {subject}: 2 bytes wanted, 0 left"),
        (whole + b"x", "key: 1 bytes too many"),
    ):
        with pytest.raises(WireError) as caught:
            decode_record(key, None)
        assert caught.value.reason == reason


SOUND = tuple(vector.data for kind in sorted(TYPES) for vector in java(kind))


@pytest.mark.heavy
@pytest.mark.parametrize("record_type", sorted(TYPES.values()))
@given(value=damaged(SOUND))
def test_any_bytes_are_a_record_or_refused(record_type: int, value: bytes) -> None:
    found = attempt(lambda data: decode_record(key_of(record_type), data), value)
    if isinstance(found, WireError):
        assert 0 <= found.offset <= len(value)
    else:
        assert found.group_id == "g"


def _record(kind: type[Any], vector: Vector) -> Any:
    known: dict[str, Any] = {"group_id": "g", "member_id": "m", "regex": "m"}
    values = known | dict(vector.fields)
    for name in ("assigned", "revoking"):
        if name in values:
            values[name] = tuple(_partitions(value) for value in values[name])
    if "topics" in values:
        values["topics"] = tuple(_topic(topic) for topic in values["topics"])
    if values.get("classic") is not None:
        rows = values["classic"]["protocols"]
        values["classic"] = ClassicMemberMetadata(
            session_timeout=values["classic"]["session_timeout"],
            protocols=tuple((name, bytes.fromhex(data)) for name, data in rows),
        )
    names = set(kind._fields)
    return kind(**{name: value for name, value in values.items() if name in names})


def _partitions(row: dict[str, Any]) -> TopicIdPartitions:
    epochs = row["epochs"]
    return TopicIdPartitions(
        topic_id=bytes.fromhex(row["topic_id"]),
        partitions=tuple(row["partitions"]),
        epochs=None if epochs is None else tuple(epochs),
    )


def _topic(row: Any) -> str | TopicMetadata:
    if isinstance(row, str):
        return row
    return TopicMetadata(
        topic_id=bytes.fromhex(row["topic_id"]),
        name=row["name"],
        partitions=row["partitions"],
        racks=tuple((number, tuple(names)) for number, names in row["racks"]),
    )


def test_the_creation_time_is_a_tag_of_newer_brokers() -> None:
    value = bytes.fromhex("0000 00000003 01 01 08 000001a1fb8fa6b8")
    assert decode_record(key_of(3), value) == ConsumerGroupMetadata(
        group_id="g", epoch=3, creation_time=1_795_221_857_976
    )
