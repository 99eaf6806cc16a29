"""Records of ``__consumer_offsets``: recorded, random, damaged, and by hand."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.records import (
    ConsumerGroupTombstone,
    GroupMember,
    GroupMetadata,
    GroupTombstone,
    OffsetCommit,
    OffsetTombstone,
    OtherGroupRecord,
    Record,
    decode_record,
)
from rebalance import WireError
from tests.pipeline.records.strategies import UNKNOWN_TAGS, groups, offset_commits
from tests.pipeline.records.writers import (
    Tags,
    group_key,
    group_value,
    offset_key,
    offset_value,
)
from tests.support.wire import Vector, attempt, java, recorded_records
from tests.support.wire_strategies import damaged

OFFSET_KEY = bytes.fromhex("000100016700017400000007")  # g, t, 7
GROUP_KEY = bytes.fromhex("0002000167")  # g


@pytest.mark.parametrize("record_type", [0, 1])
def test_java_offset_commits(record_type: int) -> None:
    vectors = java("offset-commit-value")
    assert {v.version for v in vectors} == {0, 1, 2, 3, 4}
    key = bytes([0, record_type]) + OFFSET_KEY[2:]
    for vector in vectors:
        commit = _commit(vector)
        assert decode_record(key, vector.data) == commit
        assert offset_key(commit, record_type=record_type) == key


def test_java_groups() -> None:
    vectors = java("group-metadata-value")
    assert {v.version for v in vectors} == {0, 1, 2, 3, 4}
    for vector in vectors:
        assert decode_record(GROUP_KEY, vector.data) == _group(vector)


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


@pytest.mark.heavy
@given(offset_commits(), UNKNOWN_TAGS)
def test_offset_commit_round_trip(commit: OffsetCommit, unknown: Tags) -> None:
    value = offset_value(commit, unknown)
    assert decode_record(offset_key(commit), value) == commit


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


@pytest.mark.heavy
@given(groups(), UNKNOWN_TAGS)
@example(shortest(0), {})
@example(shortest(4), {})
def test_group_round_trip(group: GroupMetadata, unknown: Tags) -> None:
    value = group_value(group, unknown)
    assert decode_record(group_key(group.group_id), value) == group


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


@pytest.mark.parametrize(("key", "value", "offset", "reason"), REFUSED)
def test_refused_with_the_byte_at_fault(
    key: bytes | None, value: bytes | None, offset: int, reason: str
) -> None:
    with pytest.raises(WireError) as caught:
        decode_record(key, value)
    assert caught.value.reason.startswith(reason)
    assert caught.value.offset == offset


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
VALUES = tuple(value for _, value in recorded_records() if value is not None)
JAVA_VALUES = tuple(
    v.data
    for name in ("offset-commit-value", "group-metadata-value")
    for v in java(name)
)


@pytest.mark.heavy
@given(
    st.none() | st.binary(max_size=30) | st.sampled_from(KEYS) | damaged(KEYS),
    st.none() | st.binary(max_size=60) | damaged(VALUES + JAVA_VALUES),
)
@example(OFFSET_KEY, b"")
def test_any_bytes_are_a_record_or_refused(
    key: bytes | None, value: bytes | None
) -> None:
    record = read(key, value)
    if isinstance(record, WireError):
        assert 0 <= record.offset <= max(len(key or b""), len(value or b""))
    else:
        assert isinstance(record.group_id, str)


def read(key: bytes | None, value: bytes | None) -> Record | WireError:
    return attempt(lambda data: decode_record(key, data), value)


def _commit(vector: Vector) -> OffsetCommit:
    fields: dict[str, Any] = dict(vector.fields)
    topic_id = fields.pop("topic_id")
    return OffsetCommit(
        group_id="g",
        topic="t",
        partition=7,
        version=vector.version,
        topic_id=None if topic_id is None else bytes.fromhex(topic_id),
        **fields,
    )


def _group(vector: Vector) -> GroupMetadata:
    fields: dict[str, Any] = dict(vector.fields)
    members = tuple(
        GroupMember(
            **row | {n: bytes.fromhex(row[n]) for n in ("subscription", "assignment")}
        )
        for row in fields.pop("members")
    )
    return GroupMetadata(
        group_id="g", version=vector.version, members=members, **fields
    )
