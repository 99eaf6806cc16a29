"""Offset commits decoded by columns agree with the decoder of single records."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.records import (
    OffsetCommit,
    OffsetTombstone,
    commit_key,
    commit_values,
    decode_record,
)
from rebalance import WireError
from tests.records.strategies import UNKNOWN_TAGS, offset_commits
from tests.records.writers import offset_key, offset_value
from tests.wire import java, recorded_records
from tests.wire_strategies import damaged

KEY = bytes.fromhex("000100016700017400000007")  # g, t, 7
JAVA = tuple(vector.data for vector in java("offset-commit-value"))
PLAIN = tuple(
    offset_value(
        OffsetCommit(
            group_id="g",
            topic="t",
            partition=7,
            version=version,
            offset=2**40 + version,
            metadata=metadata,
            commit_timestamp=1,
            topic_id=topic_id if version == 4 else None,
        )
    )
    for version in range(5)
    for metadata in ("", "some metadata", "ü")
    for topic_id in (None, bytes(range(16)), bytes(16))
)
LONG = offset_value(
    OffsetCommit(
        group_id="g",
        topic="t",
        partition=7,
        version=4,
        offset=1,
        metadata="x" * 127,
        commit_timestamp=1,
    )
)
"""Its metadata has a length of two bytes."""

VALUES = st.one_of(
    st.none(),
    st.builds(offset_value, offset_commits(), UNKNOWN_TAGS | st.just({})),
    st.binary(max_size=60),
    damaged(PLAIN + JAVA),
)


def agree(values: list[bytes | None], *, skipped: int = 0) -> list[bool]:
    """Compare all values but the first with single records; return which are sound."""
    column = pa.array(values, pa.binary()).slice(skipped)
    found = commit_values(column)
    ids = found.topic_id or [None] * len(column)
    for row, value in enumerate(values[skipped:]):
        if not found.sound[row]:
            continue
        assert value is not None
        record = decode_record(KEY, value)
        assert isinstance(record, OffsetCommit)
        assert record.offset == found.offset[row]
        assert record.topic_id == ids[row]
    return [bool(sound) for sound in found.sound]


@pytest.mark.heavy
@given(st.lists(VALUES, max_size=12), st.integers(0, 3))
@example([None, b"", LONG], 0)
@example([bytes(20), b"\x00\x04" + bytes(22)], 1)
@example([b"\x00\x04" + bytes(12) + b"\x80" + bytes(127 + 9)], 0)
def test_columns_agree_with_single_records(
    values: list[bytes | None], skipped: int
) -> None:
    agree(values, skipped=min(skipped, len(values)))


def test_every_version_is_decoded_by_columns() -> None:
    assert agree([*PLAIN]) == [True] * len(PLAIN)
    assert agree([None, *JAVA, *PLAIN], skipped=1)[-1]


def test_other_forms_are_left_to_the_decoder() -> None:
    assert agree([None, b"", LONG, PLAIN[0][:-1], PLAIN[0] + b"x"]) == [False] * 5
    assert agree([]) == []


def test_recorded_commits_are_decoded_by_columns() -> None:
    values = []
    for key, value in recorded_records():
        commit = decode_record(key, value)
        is_commit = isinstance(commit, OffsetCommit | OffsetTombstone)
        assert (commit_key(key) is not None) == is_commit
        if isinstance(commit, OffsetCommit):
            values.append(value)
            assert commit_key(key) == (commit.topic, commit.partition)
    assert values
    assert all(agree(values))


@pytest.mark.heavy
@given(
    st.one_of(
        st.builds(offset_key, offset_commits(), record_type=st.integers(0, 1)),
        st.binary(max_size=40),
        damaged((KEY,)),
    )
)
@example(KEY[:2] + b"\x00\x01g" + b"\x04\x01" + b"t" * 1025 + bytes(4))
def test_keys_agree_with_single_records(key: bytes) -> None:
    try:
        record = decode_record(key, None)
    except WireError:
        assert commit_key(key) is None
        return
    found = commit_key(key)
    assert (found is None) != isinstance(record, OffsetTombstone)
    if isinstance(record, OffsetTombstone):
        assert found == (record.topic, record.partition)


@pytest.mark.parametrize("size", [2**15, 2**16 - 1])
def test_negative_length_before_enough_bytes(size: int) -> None:
    """A length beyond 15 bits is negative, however many bytes follow."""
    key = KEY[:2] + size.to_bytes(2, "big") + b"g" * size + KEY[5:]
    assert commit_key(key) is None
    with pytest.raises(WireError):
        decode_record(key, None)
