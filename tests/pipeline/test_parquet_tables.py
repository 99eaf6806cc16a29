"""Tables of records in columns of all types, and tables of which a part is damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.rows import RECORD, UNREADABLE, Row
from pipeline.sources.find import find_sources
from pipeline.sources.parquet_tables import with_our_columns
from pipeline.sources.record_format import AS_SPARK, record_format
from pipeline.sources.source_pieces import pieces_of
from rebalance import rebalance_of
from rebalance.arrow import to_table
from tests.pipeline.local_reading import damage, read_found, read_path
from tests.pipeline.recorded import CHURN
from tests.pipeline.test_sources import LOG, parquet
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

LATE = 1_795_221_872_888
US = [1_500, 999, 1_000, 0, LATE * 1_000 + 999, None]
TIMES = {
    "int64": pa.array([1, 0, 1, 0, LATE, None], pa.int64()),
    "uint32": pa.array([1, 0, 1, 0, 7, None], pa.uint32()),
    "us": pa.array(US, pa.timestamp("us")),
    "zone": pa.array(US, pa.timestamp("us", tz="Asia/Kathmandu")),
    "ms": pa.array(US, pa.timestamp("us")).cast(pa.timestamp("ms"), safe=False),
    "ns": pa.array(US, pa.timestamp("us")).cast(pa.timestamp("ns")),
    "text": pa.array(["1", "0", "", "1970-01-01", f"{LATE}", None]),
    "large text": pa.array(["1", "0", "", "0", f"{LATE}", None], pa.large_string()),
}
"""Times in all types, rounded down to milliseconds where they are finer."""
MILLISECONDS = {
    "uint32": [1, 0, 1, 0, 7, None],
    "text": [1, 0, None, 0, LATE, None],
    "large text": [1, 0, None, 0, LATE, None],
}


def recorded(**more: Any) -> pa.Table:
    """Return six records."""
    table = pq.read_table(CHURN / "consumer_offsets.parquet").slice(40, 6)
    columns = {name: table[name] for name in ("key", "value", "partition", "offset")}
    return pa.table(columns | more)


def read(path: Path, table: pa.Table, **options: Any) -> list[Row]:
    """Write a table in row groups of three rows, and read it; records in order."""
    pq.write_table(table, path, row_group_size=3, **options)
    return sorted(read_path(path), key=lambda row: row["source_offset"])


@pytest.mark.parametrize("is_int96", [False, True])
@pytest.mark.parametrize("kind", TIMES)
def test_times_of_all_types(tmp_path: Path, kind: str, is_int96: bool) -> None:
    rows = read(
        tmp_path / "50% ü.parquet",
        recorded(timestamp=TIMES[kind]),
        use_deprecated_int96_timestamps=is_int96,
    )
    expected = MILLISECONDS.get(kind, [1, 0, 1, 0, LATE, None])
    assert [row["at"] for row in rows] == expected


def test_times_before_1970_are_rounded_down() -> None:
    times = pa.array([-1, -1_000, -1_001, None], pa.timestamp("us"))
    batch = pa.RecordBatch.from_arrays([times], ["timestamp"])
    columns = with_our_columns(batch, AS_SPARK)
    assert columns["timestamp"].to_pylist() == ["-1", "-1", "-2", None]


@pytest.mark.parametrize(
    "kind", [pa.int32(), pa.uint64(), pa.string(), pa.large_string(), pa.binary()]
)
def test_columns_of_other_types(tmp_path: Path, kind: pa.DataType) -> None:
    topics = ["__consumer_offsets", None, "other", "", "__consumer_offsets", None]
    if pa.types.is_integer(kind):
        numbers = pa.array(range(6)).cast(kind)
        rows = read(tmp_path / "r", recorded(partition=numbers, offset=numbers))
        assert [row["source_offset"] for row in rows] == [*range(6)]
    else:
        topic = pa.array(topics).cast(kind)
        rows = read(tmp_path / "r", recorded(topic=topic))
        assert damage(rows) == [
            (3, "a record of topic 'other', not __consumer_offsets", 1),
            (4, "a record of topic '', not __consumer_offsets", 1),
        ]


def test_a_topic_that_is_not_text(tmp_path: Path) -> None:
    rows = read(tmp_path / "r", recorded(topic=[[1]] * 6))
    assert damage(rows)[0] == (1, "a record of topic '[1]', not __consumer_offsets", 1)


def test_an_offset_that_is_too_large(tmp_path: Path) -> None:
    offsets = pa.array([2**63, 2**64 - 1, 5, 5, None, 0], pa.uint64())
    rows = read(tmp_path / "r", recorded(offset=offsets))
    assert [(at, reason) for at, reason, _ in damage(rows)] == [
        (number, "partition or offset missing or out of range") for number in (1, 2, 5)
    ]


def test_columns_of_other_programs(tmp_path: Path) -> None:
    columns = {
        "Key": [row["key"] for row in LOG.records],
        "key": [1.5] * 3,  # names differ by case only
        "the `value`.x": pa.array([r["value"] for r in LOG.records], pa.large_string()),
        "p": pa.array([row["partition"] for row in LOG.records], pa.int8()),
        "o": [row["offset"] for row in LOG.records],
        "at": [str(row["timestamp"]) for row in LOG.records],
    }
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    names = "key=Key, value=the `value`.x,partition=p,offset=o,timestamp=at"
    rows = read_path(tmp_path / "r.parquet", written=record_format(names, "hex"))
    parquet(tmp_path / "ours.parquet", LOG.records)
    ours = read_path(tmp_path / "ours.parquet")
    assert [row | {"source": "r.parquet"} for row in ours] == rows
    assert [row["what"] for row in rows] == [RECORD] * 3


def test_documents_are_numbered_over_all_row_groups(tmp_path: Path) -> None:
    table = to_table([rebalance_of(document) for document in (CHAIN, DOUBLE_CLAIM) * 3])
    rows = read(tmp_path / "d", table)
    assert [row["source_offset"] for row in rows] == [1, 2, 3, 4, 5, 6]


def damaged(path: Path) -> None:
    """Write three row groups of 2,000 records, of which the first is damaged."""
    records = [row | {"offset": i} for i, row in enumerate(LOG.records * 2_000)]
    parquet(path, records)
    pq.write_table(pq.read_table(path), path, row_group_size=2_000)
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xa5" * 196
    path.write_bytes(data)


def test_a_damaged_row_group_costs_no_other(tmp_path: Path) -> None:
    damaged(tmp_path / "bad.parquet")
    parquet(tmp_path / "good.parquet", LOG.records)
    rows = read_path(tmp_path)
    found = [row["source"].rsplit("/")[-1] for row in rows if row["what"] == RECORD]
    assert found.count("good.parquet") == 3
    assert found.count("bad.parquet") == 4_000
    (row,) = (row for row in rows if row["what"] == UNREADABLE)
    assert row["reason"] == "breaks off here: 2,000 of 6,000 rows cannot be read"
    assert row["source"].endswith("/bad.parquet")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_table_that_is_gone_is_named(tmp_path: Path, is_replaced: bool) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(recorded(), path, row_group_size=3)
    found = find_sources([tmp_path])
    assert len(pieces_of(found.files)) == 2
    path.unlink()
    if is_replaced:
        pq.write_table(recorded().slice(3), path)
    gone = (None, "the file cannot be read", 1)
    assert damage(read_found(found)) == [gone] * (1 if is_replaced else 2)
