"""Records of ``__consumer_offsets``: Java's bytes, random, damaged, and by hand."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTombstone,
    GroupMember,
    GroupMetadata,
    GroupTombstone,
    OffsetTombstone,
    OtherGroupRecord,
    Record,
    decode_record,
)
from rebalance import WireError
from tests.pipeline.records.consumer_writers import (
    TYPES,
    AnyRecord,
    consumer_key,
    consumer_value,
    written,
)
from tests.pipeline.records.strategies import (
    NEWER_TAGS,
    UNKNOWN_TAGS,
    consumer_records,
    groups,
    offset_commits,
)
from tests.pipeline.records.writers import Tags
from tests.support.wire import attempt, java, recorded_records
from tests.support.wire_strategies import damaged

OFFSET_KEY = bytes.fromhex("000100016700017400000007")  # g, t, 7
GROUP_KEY = bytes.fromhex("0002000167")  # g
WITH_SUBJECT = {5: "member", 7: "member", 8: "member", 16: "regular expression"}
VALUES = dict.fromkeys((0, 1), "offset-commit-value") | {2: "group-metadata-value"}
VALUES |= {record_type: kind for kind, record_type in TYPES.items()}
"""Java's values by the type in the key."""
IN_THE_KEY = {"group_id": "g", "topic": "t", "partition": 7, "member_id": "m"}
IN_THE_KEY |= {"regex": "m"}


def key_of(record_type: int) -> bytes:
    more = OFFSET_KEY[5:] if record_type <= 1 else b""
    if record_type in WITH_SUBJECT:
        more = b"\0\1m"
    return bytes([0, record_type, 0, 1]) + b"g" + more


def plain(value: Any) -> Any:
    """Return fields as they are in Java's vectors."""
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "_fields"):
        return {name: plain(part) for name, part in value._asdict().items()}
    return [plain(part) for part in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("record_type", VALUES)
def test_java_values(record_type: int) -> None:
    vectors = java(VALUES[record_type])
    assert {v.version for v in vectors} == {*range(5 if record_type <= 2 else 1)}
    for vector in vectors:
        record: Any = decode_record(key_of(record_type), vector.data)
        given_fields = {"version": vector.version} | vector.fields
        fields = plain(record)
        assert fields == {
            name: (record._field_defaults | IN_THE_KEY | given_fields)[name]
            for name in fields
        }
        key, value = written(record)
        assert key == key_of(record_type or 1)
        if record_type > 2:  # to the others, tags were added that no reader knows
            assert type(record).__name__ == VALUES[record_type]
            assert value == vector.data


def test_java_keys() -> None:
    """Every record type of Kafka 4.3.1 is named as Kafka names it."""
    vectors = java("key")
    assert len(vectors) == 22
    for vector in vectors:
        record_type, name = vector.fields["record_type"], vector.fields["name"]
        record = decode_record(vector.data, None)
        assert record.group_id == "grüppe"
        if record_type <= 1:
            assert record == OffsetTombstone(
                group_id="grüppe", topic="the Topic", partition=7
            )
        elif record_type == 2:
            assert record == GroupTombstone(group_id="grüppe")
        else:
            assert isinstance(record, OtherGroupRecord | ConsumerGroupTombstone)
            assert record.kind == name.title().replace("_", "")


DRAWN = (
    (offset_commits(), UNKNOWN_TAGS),
    (groups(), UNKNOWN_TAGS),
    (consumer_records(), NEWER_TAGS),
)


@pytest.mark.heavy
@pytest.mark.parametrize(("records", "tags"), DRAWN)
@given(data=st.data())
def test_round_trip(
    records: st.SearchStrategy[AnyRecord],
    tags: st.SearchStrategy[Tags],
    data: st.DataObject,
) -> None:
    record = data.draw(records)
    assert decode_record(*written(record, data.draw(tags))) == record


def shortest(version: int) -> GroupMetadata:
    """Nine members of which nothing is known: no record can be shorter."""
    nobody = GroupMember(
        member_id="",
        group_instance_id=None,
        client_id="",
        client_host="",
        session_timeout=0,
        subscription=b"",
        assignment=b"",
    )
    return GroupMetadata(
        group_id="",
        version=version,
        protocol_type="",
        generation=0,
        protocol=None,
        leader=None,
        members=(nobody,) * 9,
    )


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


@pytest.mark.parametrize("unknown", [{}, {5: b"x"}])
@pytest.mark.parametrize("record", [shortest(0), shortest(4), EMPTY])
def test_the_shortest(record: AnyRecord, unknown: Tags) -> None:
    assert decode_record(*written(record, unknown)) == record


@pytest.mark.heavy
@given(consumer_records())
def test_tombstones(record: ConsumerGroupRecord) -> None:
    kind = type(record).__name__
    subject = getattr(record, "member_id", getattr(record, "regex", None))
    assert decode_record(consumer_key(record), None) == ConsumerGroupTombstone(
        kind=kind, group_id=record.group_id, subject=subject
    )


@pytest.mark.parametrize(
    ("record_type", "kind", "reason"),
    [
        (9, "ShareGroupPartitionMetadata", "share group (KIP-932)"),
        (14, "ShareGroupCurrentMemberAssignment", "share group (KIP-932)"),
        (18, "StreamsGroupPartitionMetadata", "streams group (KIP-1071)"),
        (23, "StreamsGroupTopology", "streams group (KIP-1071)"),
    ],
)
def test_other_groups_are_quarantined(record_type: int, kind: str, reason: str) -> None:
    key = bytes([0, record_type]) + bytes.fromhex("00016700016d")
    for value in (b"\x00\x00whatever", None):
        assert decode_record(key, value) == OtherGroupRecord(
            kind=kind, group_id="g", reason=reason, tombstone=value is None
        )


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
    (None, b"", 0, "key: a record without one"),
    (b"", None, 0, "key: record type: 2 bytes wanted, 0 left"),
    (b"\xff\xff\x00\x01g", None, 0, "key: unknown record type -1"),
    (b"\x00\x19\x00\x01g", None, 0, "key: unknown record type 25"),
    (b"\x00\x02\xff\xff", None, 2, "key: group: null"),
    (b"\x00\x03\x00\x09g", None, 2, "key: group: length 9, but 1 bytes left"),
    (b"\x00\x0b\x00\x09g", None, 2, "key: group: length 9, but 1 bytes left"),
    (GROUP_KEY + b"x", None, 5, "key: 1 bytes too many"),
    (OFFSET_KEY + b"x", None, 12, "key: 1 bytes too many"),
    (OFFSET_KEY[:-1], None, 8, "key: partition: 4 bytes wanted, 3 left"),
    (OFFSET_KEY, b"", 0, "value: version: 2 bytes wanted, 0 left"),
    (OFFSET_KEY, b"\x00\x05", 0, "value: version 5, not 0 to 4"),
    (OFFSET_KEY, b"\xff\xff", 0, "value: version -1, not 0 to 4"),
    (OFFSET_KEY, b"\0\2" + bytes(18) + b"x", 20, "value: 1 bytes too many"),
    (OFFSET_KEY, b"\0\4" + bytes(12) + b"\1" + bytes(9) + b"x", 24, "value: 1 bytes"),
    (GROUP_KEY, b"\0\0" + bytes(14) + b"x", 16, "value: 1 bytes too many"),
    (GROUP_KEY, b"\0\4\1" + bytes(14) + b"\1\0x", 19, "value: 1 bytes too many"),
    (GROUP_KEY, b"\x00\x05", 0, "value: version 5, not 0 to 4"),
    (GROUP_KEY, bytes.fromhex("0000ffff"), 2, "value: protocol type: null"),
    (
        GROUP_KEY,
        bytes.fromhex("0000000000000001ffffffff7fffffff"),
        12,
        "value: members: 2147483647 items, but 0 bytes left",
    ),
    (
        GROUP_KEY,
        bytes.fromhex("0004010000000100000000000000000000ffffffff0f"),
        17,
        "value: members: 4294967294 items, but 0 bytes left",
    ),
]
REFUSED_OF_NEW_GROUPS = [
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


@pytest.mark.parametrize(
    ("key", "value", "offset", "reason"),
    [
        *REFUSED,
        *(
            (key_of(record_type), bytes.fromhex(value), *rest)
            for record_type, value, *rest in REFUSED_OF_NEW_GROUPS
        ),
    ],
)
def test_refused_with_the_byte_at_fault(
    key: bytes | None, value: bytes | None, offset: int, reason: str
) -> None:
    with pytest.raises(WireError) as caught:
        decode_record(key, value)
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


def test_a_false_number_of_members_costs_no_memory() -> None:
    value = bytes.fromhex("0003000000000001ffffffff" + "00" * 8 + "7fffffff")
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            decode_record(GROUP_KEY, value + bytes(40))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_cut_anywhere_is_refused() -> None:
    for key, value in recorded_records():
        whole = read(key, value)
        assert not isinstance(whole, WireError)
        cuts = [(key[:end], value) for end in range(len(key))]
        cuts += [(key, value[:end]) for end in range(len(value or b"")) if value]
        for cut in cuts:
            assert isinstance(read(*cut), WireError)


KEYS = tuple(key for key, _ in recorded_records())
SOUND = tuple(value for _, value in recorded_records() if value is not None)
JAVA_VALUES = {
    of: tuple(vector.data for vector in java(name)) for of, name in VALUES.items()
}
ANY_BYTES = (
    (
        st.none() | st.binary(max_size=30) | st.sampled_from(KEYS) | damaged(KEYS),
        st.none()
        | st.binary(max_size=60)
        | damaged(SOUND + JAVA_VALUES[1] + JAVA_VALUES[2]),
    ),
    *((st.just(key_of(of)), damaged(JAVA_VALUES[of])) for of in TYPES.values()),
)


@pytest.mark.heavy
@pytest.mark.parametrize(("keys", "values"), ANY_BYTES)
@given(data=st.data())
def test_any_bytes_are_a_record_or_refused(
    keys: st.SearchStrategy[bytes | None],
    values: st.SearchStrategy[bytes | None],
    data: st.DataObject,
) -> None:
    key, value = data.draw(keys), data.draw(values)
    record = read(key, value)
    if isinstance(record, WireError):
        assert 0 <= record.offset <= max(len(key or b""), len(value or b""))
    else:
        assert isinstance(record.group_id, str)


def read(key: bytes | None, value: bytes | None) -> Record | WireError:
    return attempt(lambda data: decode_record(key, data), value)


def test_the_creation_time_is_a_tag_of_newer_brokers() -> None:
    value = bytes.fromhex("0000 00000003 01 01 08 000001a1fb8fa6b8")
    assert decode_record(key_of(3), value) == ConsumerGroupMetadata(
        group_id="g", epoch=3, creation_time=1_795_221_857_976
    )
