"""Records that workers read by Arrow are those that Spark reads of the same files.

Reaches into ``pipeline.sources`` to read a file in both ways.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pipeline.files import LOCAL_STORES
from pipeline.sources import spark_rows
from pipeline.sources.arrow_records import arrow_parcels, is_for_arrow
from pipeline.sources.find import find_sources
from pipeline.sources.source_file import SourceFile
from tests.pipeline.recorded import CHURN
from tests.pipeline.test_spark_rows import by_spark, comparable

pytestmark = pytest.mark.heavy

US = [-1_500, -1, 0, 999, 1_000, 1_795_221_872_888_123, None]
"""Times around which rounding down and towards 0 differ, in microseconds."""
TIMES = {
    "int64": pa.array([-1, 0, 5, 7, 8, 1_795_221_872_888, None], pa.int64()),
    "int32": pa.array([0, 1, 2, 3, 4, 5, None], pa.int32()),
    "us": pa.array(US, pa.timestamp("us")),
    "zone": pa.array(US, pa.timestamp("us", tz="Asia/Kathmandu")),
    "ms": pa.array(US, pa.timestamp("us")).cast(pa.timestamp("ms"), safe=False),
    "ns": pa.array(US, pa.timestamp("us")).cast(pa.timestamp("ns")),
}


def records(**more: pa.Array) -> pa.Table:
    """Return seven records, of which some are not sound."""
    recorded = pq.read_table(CHURN / "consumer_offsets.parquet").slice(40, 7)
    columns: dict[str, Any] = {
        name: recorded[name] for name in ("key", "value", "partition", "offset")
    }
    columns["partition"] = pa.array([0, 1, 49, -1, None, 2, 3], pa.int64())
    return pa.table(columns | more)


def only(path: Path) -> SourceFile:
    """Return the file as it is found."""
    (file,) = find_sources([path], LOCAL_STORES).files
    return file


@pytest.mark.parametrize("kind", TIMES)
def test_times_of_all_types(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    topic = pa.array(["__consumer_offsets", "other", None, *["__consumer_offsets"] * 4])
    table = records(timestamp=TIMES[kind], topic=topic)
    path = tmp_path / "50% ü.parquet"
    pq.write_table(table, path, row_group_size=3)
    assert is_for_arrow(spark, only(path))
    by_arrow = by_spark(spark, path)
    assert len(by_arrow) == table.num_rows
    monkeypatch.setattr(spark_rows, "is_for_arrow", lambda *_: False)
    assert comparable(by_arrow) == comparable(by_spark(spark, path))


@pytest.mark.parametrize(
    "column",
    [
        {"timestamp": pa.array(["2026-11-28T00:00:00Z"] * 7)},
        {"offset": pa.array(range(7), pa.uint64())},
        {"topic": pa.array(["__consumer_offsets"] * 7, pa.large_string())},
    ],
)
def test_other_types_are_left_to_spark(
    spark: SparkSession, tmp_path: Path, column: dict[str, pa.Array]
) -> None:
    pq.write_table(records(**column), tmp_path / "a.parquet")
    assert not is_for_arrow(spark, only(tmp_path / "a.parquet"))
    assert len(by_spark(spark, tmp_path / "a.parquet")) == 7


def test_what_arrow_cannot_read_is_read_by_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, moved = tmp_path / "a.parquet", tmp_path / "b"
    pq.write_table(records(), path)
    expected = comparable(by_spark(spark, path))
    read: list[bool] = []

    def parcels(*given: Any) -> Any:
        read.append(True)
        path.rename(moved)
        found = arrow_parcels(*given)
        found.cache()
        try:
            found.count()
        finally:
            moved.rename(path)
        return found

    monkeypatch.setattr(spark_rows, "arrow_parcels", parcels)
    assert comparable(by_spark(spark, path)) == expected
    assert read == [True]
