"""Records of the recording, merged by Spark: the same records, and the same audit."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from pipeline.audit import AuditRequest, audit
from pipeline.files import HadoopStore, LocalStore, Stores
from pipeline.following.batch_ranges import FAN_IN
from pipeline.following.follower import write_merged
from pipeline.following.kept_batches import KeptBatches
from pipeline.live import RECORDS
from pipeline.tables import SCHEMAS, read_table
from tests.pipeline.live.kept_recording import keep_recording, live_source, recorded

BATCHES = 2 * FAN_IN + 3
FIRST = 1_000
"""Records that are audited twice."""

pytestmark = pytest.mark.heavy


def parquet_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.parquet") if path.parent != folder]


def in_order(table: pa.Table) -> list[dict[str, Any]]:
    places = [("partition", "ascending"), ("offset", "ascending")]
    rows: list[dict[str, Any]] = table.sort_by(places).to_pylist()
    return rows


@pytest.mark.parametrize("place", ["this machine", "viewfs"])
def test_merged_records_are_those_that_were_kept(
    spark: SparkSession, tmp_path: Path, place: str
) -> None:
    """``viewfs:`` mounts folders under names that are no paths of this machine."""
    records = f"file:{tmp_path}/records"
    if place == "viewfs":
        conf: Any = spark._jsc.hadoopConfiguration()
        conf.set("fs.viewfs.mounttable.kept.link./data", tmp_path.as_uri())
        records = "viewfs://kept/data/records"
    store = Stores(LocalStore(), lambda: HadoopStore(spark.sparkContext)).of(records)
    kept = KeptBatches(records, store)
    keep_recording(kept, tmp_path / "records", BATCHES)
    assert len(parquet_in(tmp_path / "records")) == BATCHES
    assert kept.merge(BATCHES, partial(write_merged, spark)) == 2
    assert len(parquet_in(tmp_path / "records")) == 2 + 3
    found = ds.dataset(tmp_path / "records", format="parquet").to_table()
    assert found.schema.names == RECORDS.names
    assert in_order(found) == in_order(recorded())
    (whole,) = (tmp_path / "records" / f"batches=0-{FAN_IN - 1}").glob("*.parquet")
    places = ds.dataset(whole).to_table().select(["partition", "offset"]).to_pylist()
    assert places == sorted(places, key=lambda row: (row["partition"], row["offset"]))
    assert kept.merge(BATCHES, partial(write_merged, spark)) == 0


def test_an_audit_is_the_same_before_and_after(
    spark: SparkSession, tmp_path: Path
) -> None:
    kept = KeptBatches(f"file:{tmp_path}/records", LocalStore())
    keep_recording(kept, tmp_path / "records", BATCHES, FIRST)
    tables = []
    for out in ("before", "after"):
        live = live_source(kept.folders())
        options: dict[str, Any] = {"assignors": ["optimum"], "tasks": 2}
        audit(AuditRequest(sources=[], out=tmp_path / out, **options), live=live)
        tables.append({name: read_table(tmp_path / out, name) for name in SCHEMAS})
        kept.merge(BATCHES, partial(write_merged, spark))
    before, after = tables
    assert before["rebalances"].num_rows > 50
    for name in SCHEMAS:
        assert before[name].equals(after[name]), name
