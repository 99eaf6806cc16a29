"""Spark's tasks yield the rows of the files, on this machine and on others.

Reaches into ``pipeline.sources`` to divide small files as if they were large.
"""

from __future__ import annotations

import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pipeline.files import HadoopStore, LocalStore, Stores
from pipeline.rows import CASE, ROWS, Row
from pipeline.side_files.sidecars import read_topics
from pipeline.sources import remote_files, source_file, spark_rows
from pipeline.sources.find import find_sources
from pipeline.sources.parcels import unpacked
from pipeline.sources.spark_rows import source_parcels
from rebalance import MAX_PARTITIONS, rebalance_of
from rebalance.arrow import to_table
from tests.pipeline.describe.describe_text import members, state
from tests.pipeline.describe.test_describe_files import GOOD
from tests.pipeline.local_reading import read_paths
from tests.pipeline.logged_groups import BROKER, DATA
from tests.pipeline.logged_states import message
from tests.pipeline.sink_files import LOGGED, write_sink
from tests.pipeline.test_log_segments import batch, segment
from tests.pipeline.test_sources import LOG, jsonl, parquet
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

DOCUMENTS = [CHAIN, DOUBLE_CLAIM]

pytestmark = pytest.mark.heavy


def by_spark(
    spark: SparkSession,
    *given: Path | str,
    tasks: int = 4,
) -> list[Row]:
    """Read sources as an audit does."""
    stores = Stores(LocalStore(), lambda: HadoopStore(spark.sparkContext))
    files = find_sources(given, stores).files
    context, most = spark.sparkContext, MAX_PARTITIONS
    parcels = source_parcels(context, files, tasks=tasks, max_partitions=most)
    return [row for rows in unpacked(parcels.collect()) for row in rows.to_pylist()]


def comparable(rows: list[Row], source: str | None = None) -> list[str]:
    """Return rows without order, each with all columns."""
    empty: Row = dict.fromkeys(ROWS.names)
    one = {} if source is None else {"source": source}
    return sorted(
        repr({name: _plain(value) for name, value in (empty | row | one).items()})
        for row in rows
    )


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def good_sources(folder: Path) -> Path:
    """Write every kind of source in every form, with some bad lines."""
    folder.mkdir(parents=True)
    text = jsonl(LOG.records).encode()
    (folder / "r.jsonl").write_bytes(b"noise \xff\r\n\r\n" + text + b'{"cut": ')
    (folder / "r.gz").write_bytes(gzip.compress(text))
    (folder / "packed").write_bytes(gzip.compress(text))
    parquet(folder / "r.parquet", LOG.records)
    lines = [orjson.dumps(document) for document in DOCUMENTS]
    (folder / "d.jsonl").write_bytes(b"\n".join([*lines, b"{}"]))
    (folder / "d.json").write_bytes(orjson.dumps(CHAIN, option=orjson.OPT_INDENT_2))
    table = to_table([rebalance_of(document) for document in DOCUMENTS])
    pq.write_table(table, folder / "d.parquet", row_group_size=1)
    (folder / "g.members.txt").write_text(GOOD)
    (folder / "sub").mkdir()
    (folder / "sub" / "g.txt").write_text("what?\n" + GOOD.replace("good", "other"))
    return folder


def all_sources(folder: Path) -> Path:
    """Write sources with odd names, and texts that are read together."""
    good_sources(folder / "a b#%20[x]{y,z}*?é\\w" / "date=2026-01-01")
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "state.txt").write_text(state("Stable", 2, group=name))
        members_of = members(("x", 1, "t:0"), ("y", 1, "t:1"), group=name)
        (folder / name / "members.txt").write_text(members_of)
        logs = [message(number, x={"t": [0]}) for number in (3, 4)]
        (folder / name / "app.log").write_text("\n".join([*logs, name]))
    write_sink(folder, LOGGED, keys_form="avro")
    segment(folder, batch(LOG.records))
    shutil.copytree(DATA / BROKER, folder / BROKER)
    (folder / "topics.json").write_text('{"t": 5}')
    parquet(folder / "_r.parquet", LOG.records)
    return folder


@pytest.mark.parametrize("tasks", [1, 7])
def test_spark_reads_what_is_in_the_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    """Whole files, and large texts in pieces."""
    folder = all_sources(tmp_path / "real")
    (folder / "2026-01-01T10:00:00+01:00.txt").write_text(GOOD)
    given = (folder, folder / "_r.parquet")
    whole = comparable(read_paths(given))
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(spark_rows, "BLOCK_BYTES", 300)
    assert comparable(by_spark(spark, *given, tasks=tasks)) == whole


@pytest.mark.parametrize("tasks", [1, 7])
def test_a_scheme_of_hadoop(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    """``viewfs:`` mounts a folder under a name that is no path of this machine."""
    folder = all_sources(tmp_path / "real")
    size = "spark.sql.files.maxPartitionBytes"
    monkeypatch.setitem(remote_files._SETTINGS, size, "300")
    conf = spark._jsc.hadoopConfiguration()
    conf.set("fs.viewfs.mounttable.cluster.link./data", f"file://{folder}")
    store = HadoopStore(spark.sparkContext)
    stores = Stores(LocalStore(), lambda: store)
    assert store.is_folder("viewfs://cluster/data/absent") is None
    given = ("viewfs://cluster/data", "viewfs://cluster/data/_r.parquet")
    rows = by_spark(spark, *given, tasks=tasks)
    named = [
        row | {"source": (row["source"] or "").replace("real/", "data/")}
        for row in read_paths([folder, folder / "_r.parquet"])
    ]
    for row in [*rows, *named]:
        row["source"] = row["source"] or ""
        if row["what"] == CASE:
            row["value"] = b""  # contains the name
    assert comparable(rows) == comparable(named)
    topics = read_topics("viewfs://cluster/data/topics.json", 9, stores)
    assert topics.at_end == {"t": 5}
    with pytest.raises(OSError, match="absent"):
        store.open("viewfs://cluster/data/absent")


def test_many_small_files_are_few_jobs(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.jsonl").write_text(jsonl(LOG.records[:1]))
        if number % 3 == 0:
            parquet(tmp_path / f"{number}.parquet", LOG.records[:1])
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("small", "files")
    assert len(by_spark(spark, tmp_path)) == 400
    assert len(tracker.getJobIdsForGroup("small")) < 10


def test_what_spark_writes_of_its_kafka_source(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark's columns, a timestamp with a zone, and binary as base64 in JSON."""
    rows = [
        (
            bytearray.fromhex(row["key"]),
            None if at == 0 else bytearray.fromhex(row["value"]),
            "__consumer_offsets",
            row["partition"],
            row["offset"],
            datetime.fromtimestamp(row["timestamp"] / 1000, UTC),
            0,
        )
        for at, row in enumerate(LOG.records)
    ]
    schema = (
        "key binary, value binary, topic string, partition int, offset bigint, "
        "timestamp timestamp, timestampType int"
    )
    table = spark.createDataFrame(rows, schema)
    table.write.json(f"file:{tmp_path}/json")
    table.write.parquet(f"file:{tmp_path}/parquet")
    ours = [{**row} for row in LOG.records]
    ours[0]["value"] = None
    (tmp_path / "ours.jsonl").write_text(jsonl(ours))
    expected = comparable(read_paths([tmp_path / "ours.jsonl"]), "s")
    for form in ("json", "parquet"):
        assert comparable(by_spark(spark, tmp_path / form), "s") == expected
