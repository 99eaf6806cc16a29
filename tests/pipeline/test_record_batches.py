"""Rows by columns are those of single records: reading, and histories of groups."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import OFFSETS_TOPIC
from pipeline.rows import ROWS, UNREADABLE, Row, topic_row
from pipeline.sightings import Sighting
from pipeline.sources.parquet_tables import with_our_columns
from pipeline.sources.record_batches import batches_of_records, rows_of_records
from pipeline.sources.record_format import AS_SPARK, Encoding, RecordFormat
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from tests.pipeline.drawn_logs import delivered
from tests.pipeline.recorded import CHURN, churn_records, in_order
from tests.pipeline.same_histories import check
from tests.support.wire_strategies import damaged

READ = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int64()),
        ("offset", pa.int64()),
        ("timestamp", pa.string()),
        ("topic", pa.string()),
    ]
)
"""Columns of `with_our_columns`."""

KEYS = tuple(sorted({row["key"] for row in churn_records()})[::40])
TIMES = (None, "", "0", "-1", "1700000000000", "253402300799999", "253402300800000",
         "2026-01-01", "soon", "99999999999999999999", "\u0661")  # fmt: skip

SOUND: Row = {
    "key": KEYS[0],
    "value": b"v",
    "partition": 3,
    "offset": 5,
    "timestamp": "7",
    "topic": None,
}


def file(written: RecordFormat = AS_SPARK) -> SourceFile:
    """Return a file."""
    return SourceFile(
        name="a b",
        uri="file:/a b",
        kind=SourceKind.RECORDS,
        layout=FileLayout.PARQUET,
        length=1,
        modified_ms=0,
        written=written,
    )


def records() -> st.SearchStrategy[Row]:
    """Draw what a reader can find in a row, sound or not."""
    return st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS) | st.none() | damaged(KEYS),
            "value": st.none() | st.binary(max_size=9) | st.just(b"00"),
            "partition": st.sampled_from([0, 7, 2**31 - 1, 2**31, -1, None]),
            "offset": st.sampled_from([0, 2**63 - 1, -1, None]),
            "timestamp": st.sampled_from(TIMES),
            "topic": st.sampled_from([None, OFFSETS_TOPIC, "other"]),
        }
    )


def sorted_rows(batches: Iterable[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


def check_columns(batch: pa.RecordBatch, written: RecordFormat = AS_SPARK) -> None:
    """Compare the rows of a batch, whose first record has number 7, in both ways."""
    found = file(written)
    numbers = range(7, 7 + len(batch))
    expected = list(rows_of_records(batch, found, numbers))
    by_columns = list(batches_of_records(batch, found, 7))
    assert all(by_column.schema == ROWS for by_column in by_columns)
    alone = pa.RecordBatch.from_pylist(expected, schema=ROWS)
    assert sorted_rows(by_columns) == sorted_rows([alone])


@pytest.mark.heavy
@given(
    st.lists(records(), min_size=1, max_size=8),
    st.sampled_from([None, Encoding.BYTES, Encoding.HEX]),
)
def test_reading_by_columns(found: list[Row], encoding: Encoding | None) -> None:
    batch = pa.RecordBatch.from_pylist(found, schema=READ)
    check_columns(batch, RecordFormat(encoding=encoding))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("timestamp", TIMES),
        ("partition", (None, -1, 2**31 - 1, 2**31)),
        ("offset", (None, -1, 2**63 - 1)),
        ("topic", (None, "", OFFSETS_TOPIC, "other")),
        ("key", (None, b"", KEYS[0][:-1], KEYS[0])),
        ("value", (None, b"")),
    ],
)
def test_one_unusual_column(column: str, values: tuple[object, ...]) -> None:
    rows = [SOUND | {column: value} for value in values]
    check_columns(pa.RecordBatch.from_pylist([SOUND, *rows], schema=READ))


def test_recording_by_columns() -> None:
    table = pq.read_table(CHURN / "consumer_offsets.parquet")
    batch = with_our_columns(table.to_batches()[0], AS_SPARK)
    assert batch.schema == READ
    (found,) = batches_of_records(batch, file(), 1)
    expected = list(rows_of_records(batch, file(), range(1, 1 + len(batch))))
    assert found.equals(pa.RecordBatch.from_pylist(expected, schema=ROWS))


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(6))
def test_histories_by_columns(seed: int) -> None:
    """Recorded records, of which the later seeds damage some."""
    rng = random.Random(seed)  # noqa: S311
    rows = [row for row in churn_records() if seed < 4 or rng.random() < 0.3]
    if seed:
        kept = [row for row in rows if rng.random() < 0.97]
        rows = [copy for row in kept for copy in delivered(rng, row, 0.1, 0.05)]
    rows = in_order(rows)
    passed_on = {"what": UNREADABLE, "reason": "a line", "source": "x", "records": 1}
    rows = [topic_row("only here", Sighting(5, 3)), passed_on, *rows]
    counts = check(rows, rng)
    assert (counts[UNREADABLE] > 1) == bool(seed)
    assert bool(counts["whole"]) == (not seed)  # each group has damage
