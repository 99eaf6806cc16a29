"""Segments of a broker's log of groups as a source, sound and damaged."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c

from conformance.broker import Broker
from pipeline.records import GroupMetadata, OffsetCommit, decode_record
from pipeline.rows import RECORD, UNREADABLE, Row
from pipeline.sources import source_file
from pipeline.sources.find import find_sources
from pipeline.sources.log_segments import rows_of_segment
from rebalance import SourceError
from tests.oracle.plugins.real import Place, log_of_groups
from tests.pipeline.local_reading import read_path
from tests.pipeline.logged_groups import BROKER, DATA, NAME, joined
from tests.pipeline.test_sources import LOG, jsonl

FOLDER = "__consumer_offsets-7"
NO_PRODUCER = -1
CONTROL = 0x20
COMMIT, ABORT = b"\0\0\0\1", b"\0\0\0\0"


def batch(
    records: Sequence[dict[str, Any]],
    *,
    producer: int = NO_PRODUCER,
    compression: int = DefaultRecordBatch.CODEC_NONE,
    attributes: int = 0,
) -> bytes:
    """Encode records as a broker stores them; a producer makes it transactional."""
    is_transactional = producer != NO_PRODUCER
    builder = DefaultRecordBatchBuilder(
        *(2, compression, is_transactional, producer, 0, 0, 1 << 20)
    )
    for number, record in enumerate(records):
        value = record["value"]
        builder.append(
            number,
            record["timestamp"],
            bytes.fromhex(record["key"]),
            None if value is None else bytes.fromhex(value),
            [],
        )
    built = bytearray(builder.build())
    struct.pack_into(">q", built, 0, records[0]["offset"])
    built[22] |= attributes
    struct.pack_into(">I", built, 17, calc_crc32c(bytes(built[21:])))
    return bytes(built)


def marker(producer: int, offset: int, key: bytes) -> bytes:
    """Encode the end of a transaction."""
    record = {"key": key.hex(), "value": "00" * 6, "timestamp": 1, "offset": offset}
    return batch([record], producer=producer, attributes=CONTROL)


def segment(folder: Path, data: bytes) -> Path:
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    path = folder / FOLDER / NAME
    path.write_bytes(data)
    return path


def offsets(rows: Sequence[Row]) -> list[int]:
    return [row["source_offset"] for row in rows if row["what"] == RECORD]


def without_source(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [row | {"source": "", "source_partition": 7} for row in rows]


@pytest.mark.parametrize(
    "compression", [DefaultRecordBatch.CODEC_NONE, DefaultRecordBatch.CODEC_GZIP]
)
def test_a_segment_has_the_rows_of_its_records(
    tmp_path: Path, compression: int
) -> None:
    first, rest = LOG.records[:1], LOG.records[1:]
    data = batch(first, compression=compression) + batch(rest, compression=compression)
    path = segment(tmp_path, data)
    (tmp_path / "r.jsonl").write_text(jsonl(LOG.records))
    rows = read_path(path)
    assert without_source(rows) == without_source(read_path(tmp_path / "r.jsonl"))
    assert {row["source_partition"] for row in rows} == {7}
    assert {row["source"] for row in rows} == {NAME}


def test_a_folder_of_partitions_is_read_and_files_beside_segments_are_not(
    tmp_path: Path,
) -> None:
    data = batch(LOG.records)
    folder = tmp_path / "data"
    segment(folder, data)
    beside = (
        *(f"{0:020}.index", f"{0:020}.timeindex", f"{0:020}.txnindex"),
        *(f"{9:020}.snapshot", "leader-epoch-checkpoint", "partition.metadata"),
    )
    (folder / "orders-0").mkdir()
    for path in (
        *(folder / FOLDER / name for name in beside),
        folder / "orders-0" / NAME,
        folder / "meta.properties",
        folder / "replication-offset-checkpoint",
    ):
        path.write_bytes(b"\0\1\2")
    found = find_sources([folder])
    assert [file.name for file in found.files] == [f"data/{FOLDER}/{NAME}"]
    assert found.unknown == []
    assert find_sources([folder / FOLDER]).files[0].partition == 7
    with pytest.raises(SourceError, match="no file in it"):
        find_sources([folder / "orders-0"])


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("orders-7", "a log segment of topic orders, not __consumer_offsets"),
        ("copied", "not in its folder, __consumer_offsets-PARTITION"),
        ("__consumer_offsets-07", "not in its folder, __consumer_offsets-PARTITION"),
    ],
)
def test_a_segment_of_another_topic_or_no_partition_is_refused(
    tmp_path: Path, folder: str, reason: str
) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / NAME).write_bytes(batch(LOG.records))
    with pytest.raises(SourceError, match=reason):
        find_sources([tmp_path / folder / NAME])


def test_records_of_a_transaction_count_once_it_is_committed() -> None:
    one, two, three, four = (
        {**LOG.records[0], "offset": offset} for offset in (0, 1, 2, 5)
    )
    data = b"".join(
        (
            batch([one], producer=1),
            batch([two], producer=2),
            batch([three]),
            marker(1, 3, ABORT),
            marker(2, 4, COMMIT),
            batch([four], producer=1),  # its end is in the next segment
        )
    )
    assert offsets(list(rows_of_segment(data, "s", 0))) == [2, 1, 5]


def test_a_recorded_segment_has_groups_of_both_protocols_and_transactions() -> None:
    rows = read_path(DATA / BROKER)
    assert {row["what"] for row in rows} == {RECORD}
    decoded = [decode_record(row["key"], row["value"]) for row in rows]
    assert {type(record).__name__ for record in decoded} >= {
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupTombstone",
        "GroupMetadata",
        "GroupTombstone",
        "OffsetCommit",
        "OffsetTombstone",
    }
    commits = {record.offset for record in decoded if isinstance(record, OffsetCommit)}
    assert 7 in commits  # of the transaction that is committed
    assert 999 not in commits  # of the one that is aborted
    names = {record.group_id for record in decoded if isinstance(record, GroupMetadata)}
    assert names >= {"klassisch-ü", "java"}


def test_a_key_is_required() -> None:
    builder = DefaultRecordBatchBuilder(2, 0, False, NO_PRODUCER, 0, 0, 1 << 20)
    builder.append(0, 5, None, b"v", [])
    (row,) = rows_of_segment(bytes(builder.build()), "s", 3)
    assert row["what"] == UNREADABLE
    assert row["reason"] == "key: a record without one"
    assert (row["source_partition"], row["source_offset"]) == (3, 0)


# Damage.


def test_a_damaged_batch_costs_no_other() -> None:
    first, second, third = (batch([record]) for record in LOG.records[:3])
    broken = bytearray(second)
    broken[-1] ^= 1
    rows = list(rows_of_segment(first + bytes(broken) + third, "s", 0))
    assert [row["what"] for row in rows] == [RECORD, UNREADABLE, RECORD]
    assert rows[1]["reason"] == (
        f"unreadable batch at byte {len(first)}: its checksum is wrong"
    )
    assert rows[1]["source_offset"] == LOG.records[1]["offset"]
    assert rows[1]["value"] == bytes(broken)


def test_an_old_format_is_named() -> None:
    old = bytearray(batch(LOG.records))
    old[16] = 1
    (row,) = rows_of_segment(bytes(old), "s", 0)
    assert row["reason"].endswith("message format 1, of Kafka before 0.11")


@pytest.mark.parametrize("length", [12, 16, 40])
def test_a_segment_that_breaks_off_is_used_up_to_there(length: int) -> None:
    data = batch(LOG.records[:1])
    rows = list(rows_of_segment(data + data[:length], "s", 0))
    assert [row["what"] for row in rows] == [RECORD, UNREADABLE]
    assert rows[1]["reason"] == (
        f"breaks off at byte {len(data)}: {length} bytes are not a batch"
    )


def test_zeros_after_the_last_batch_are_preallocated_space(tmp_path: Path) -> None:
    data = batch(LOG.records[:1])
    rows = list(rows_of_segment(data + bytes(1000), "s", 0))
    assert [row["what"] for row in rows] == [RECORD]
    assert read_path(segment(tmp_path, bytes(1000))) == []
    assert read_path(segment(tmp_path, b"")) == []


def test_too_large_a_segment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = segment(tmp_path, batch(LOG.records))
    monkeypatch.setattr(source_file, "WHOLE_LIMIT", 10)
    with pytest.raises(SourceError, match="a log segment, larger than"):
        find_sources([path])


@given(st.data())
def test_whatever_is_changed_is_quarantined_and_nothing_else_is_lost(
    data: st.DataObject,
) -> None:
    """Of changes in one batch, all others are read; and no error leaves the reader."""
    batches = [batch([record]) for record in LOG.records]
    at = data.draw(st.integers(0, len(batches) - 1))
    changed = bytearray(batches[at])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(12, len(changed) - 1))  # the length stays
        changed[place] = data.draw(st.integers(0, 255))
    parts = [*batches[:at], bytes(changed), *batches[at + 1 :]]
    rows = list(rows_of_segment(b"".join(parts), "s", 0))
    read = offsets(rows)
    sound = [r["offset"] for r in LOG.records if r is not LOG.records[at]]
    is_magic_known = 0 <= changed[16] <= 2
    if is_magic_known:
        assert [offset for offset in read if offset in sound] == sound
    else:
        assert read == sound[:at]
        assert rows[-1]["what"] == UNREADABLE


@given(st.binary(max_size=200))
def test_arbitrary_bytes_end_in_quarantine(noise: bytes) -> None:
    rows = list(rows_of_segment(noise, "s", 0))
    assert all(row["what"] == UNREADABLE for row in rows)
    assert rows or not any(noise)


# A real broker; `tests.pipeline.test_spark_rows` has what Spark reads.


@pytest.mark.heavy
def test_a_segment_of_a_real_broker_has_what_a_consumer_reads(
    broker: Broker, tmp_path: Path
) -> None:
    """The log has the records of other tests' groups, too."""
    place = Place(broker=broker, group="in-segments", topics={"in-segments": 2})
    place.make_topics()
    with joined(place.kafka_python("range")) as members:
        place.settled(*members)
    place.wait_until_empty()
    expected = list(log_of_groups(broker))
    written = broker.log.parent / "data" / "__consumer_offsets-0" / NAME
    rows = read_path(segment(tmp_path, written.read_bytes()))
    read = [
        (row["source_offset"], row["key"], row["value"])
        for row in rows
        if row["what"] == RECORD
    ]
    assert of_group(read, place.group) == of_group(expected, place.group)
    assert len(of_group(expected, place.group)) >= 2  # one member, and then none


def of_group(
    records: Sequence[tuple[int, bytes, bytes | None]], name: str
) -> list[tuple[int, bytes, bytes | None]]:
    return [
        record for record in records if decode_record(record[1], None).group_id == name
    ]
