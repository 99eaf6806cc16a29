"""Judged rows become files: the same bytes, however the work is divided.

Reaches into ``pipeline.audit`` to compare the sort in bounded memory with the sort of
Python, with ranges of a few rows.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import table_files
from pipeline.audit import sorting
from pipeline.audit.judged import JUDGED, JudgedRuns, judged_batches
from pipeline.audit.sorting import in_order
from pipeline.table_files import sizes_of, write_files
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS, read_table
from pipeline.tables.shared_columns import PARTITIONS
from tests.pipeline import recorded
from tests.pipeline.audit_files import CLUSTER, files_of

Row = dict[str, Any]

TEXTS = st.sampled_from([None, "", "a", "é", "😀", "b" * 50])
NUMBERS = st.sampled_from([None, -1, 0, 7])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "cluster": st.sampled_from([CLUSTER, "x"]),
            "date": st.sampled_from(["2026-01-02", "2026-01-10", "undated"]),
            "kind": st.sampled_from(["failed", "missing"]),
            "reason": st.sampled_from(["one", "two"]),
            "group_id": TEXTS,
            "record": TEXTS,
            "records": st.integers(1, 3),
            "at": st.sampled_from([None, datetime(2026, 1, 2, tzinfo=UTC)]),
            "source": TEXTS,
            "source_partition": NUMBERS,
            "source_offset": NUMBERS,
        }
    ),
    max_size=40,
)
NAME = "quarantine"
SCHEMA = SCHEMAS[NAME]
KEYS = (*PARTITION_COLUMNS, *ORDER[NAME])


def judged_into(path: Path, rows: list[Row], parts: int, *, as_batches: bool) -> None:
    """Write judged rows of all parts, as dictionaries or as batches of a few."""
    with pq.ParquetWriter(path, JUDGED) as file:
        for part in range(parts):
            items: list[Any] = rows[part::parts]
            if as_batches:
                items = pa.Table.from_pylist(items, SCHEMA).to_batches(3)
            for batch in judged_batches(part, ((NAME, item) for item in items)):
                file.write_batch(batch)


@given(
    rows=ROWS,
    parts=st.integers(1, 5),
    as_batches=st.booleans(),
    range_bytes=st.sampled_from([1 << 20, 1000, 100]),
    most=st.sampled_from([(3, 1 << 20), (1000, 200), (1000, 1 << 20)]),
)
def test_rows_are_merged_in_order_however_they_are_divided(
    rows: list[Row],
    parts: int,
    as_batches: bool,
    range_bytes: int,
    most: tuple[int, int],
) -> None:
    expected = pa.Table.from_pylist(recorded.in_order(rows, KEYS), SCHEMA)
    counts = Counter[str]()
    for row in rows:
        counts[f"{row['kind']}: {row['reason']}"] += row["records"]
    with TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "RANGE_BYTES", range_bytes)
        patch.setattr(table_files, "MOST_ROWS", most[0])
        patch.setattr(table_files, "MOST_BYTES", most[1])
        once, twice = Path(scratch, "once"), Path(scratch, "twice")
        once.mkdir()
        twice.mkdir()
        path = Path(scratch, "judged.parquet")
        judged_into(path, rows, parts, as_batches=as_batches)
        judged = JudgedRuns([path])
        assert judged.count_rows() == dict.fromkeys(SCHEMAS, 0) | {NAME: len(rows)}
        assert judged.count_quarantine() == counts
        size = judged.bytes_of(NAME)
        tables = in_order(lambda: judged.of(NAME), SCHEMA, KEYS, size)
        write_files(once / NAME, tables)
        write_files(twice / NAME, [expected])
        assert read_table(once, NAME).equals(expected)
        assert files_of(once) == files_of(twice)
        for file in once.rglob("*.parquet"):
            found = pq.ParquetFile(file).metadata
            assert (found.num_row_groups, found.num_rows <= most[0]) == (1, True)


def test_folders_have_the_names_that_spark_gives_them(tmp_path: Path) -> None:
    row = {"cluster": CLUSTER, "date": "2026-01-02"}
    write_files(tmp_path / NAME, [pa.Table.from_pylist([row], SCHEMA)])
    (name,) = files_of(tmp_path)
    assert name == f"{NAME}/cluster=a%2Fb c%3Dé/date=2026-01-02/part-00000.parquet"


def test_the_bytes_of_a_row_are_those_of_its_values() -> None:
    """One more per column; a slice counts as its rows alone."""
    people = [{"topic": "abc", "partitions": [1, 2]}, {"topic": "d", "partitions": []}]
    table = pa.table(
        {
            "text": ["é", None, "abc"],
            "number": pa.array([1, None, 3], pa.int64()),
            "held": pa.array([None, people, []], PARTITIONS),
        }
    )
    expected = [2 + 8 + 0 + 3, 0 + 8 + (3 + 8 + 1) + 3, 3 + 8 + 0 + 3]
    assert sizes_of(table).tolist() == expected
    assert sizes_of(table.slice(1)).tolist() == expected[1:]


def test_a_day_with_many_rows_has_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "MOST_ROWS", 3)
    row = {"cluster": CLUSTER, "date": "2026-01-02"}
    write_files(tmp_path / NAME, [pa.Table.from_pylist([row] * 8, SCHEMA)])
    files = sorted(tmp_path.rglob("*.parquet"))
    assert [file.name for file in files] == [f"part-0000{n}.parquet" for n in range(3)]
    assert [pq.ParquetFile(file).metadata.num_rows for file in files] == [3, 3, 2]
