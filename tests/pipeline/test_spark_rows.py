"""Spark's readers yield the rows of the files, whatever their size and damage."""

from __future__ import annotations

import gzip
import random
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pipeline.files import HadoopStore, LocalStore, Stores
from pipeline.sources import source_file, spark_tables
from pipeline.sources.find import find_sources
from pipeline.sources.parcels import unpacked
from pipeline.sources.record_format import AS_SPARK, RecordFormat, record_format
from pipeline.sources.rows import CASE, RECORD, ROWS, UNREADABLE, Row
from pipeline.sources.sidecars import read_topics
from pipeline.sources.spark_rows import SPARK_ERRORS, SourceReader
from rebalance import MAX_PARTITIONS, rebalance_of
from rebalance.arrow import to_table
from tests.pipeline.describe.describe_text import members, state
from tests.pipeline.describe.test_describe_files import GOOD
from tests.pipeline.local_reading import read_path, read_paths
from tests.pipeline.logged_states import message
from tests.pipeline.sink_files import LOGGED, write_sink
from tests.pipeline.test_log_segments import BROKER, DATA, batch, segment
from tests.pipeline.test_sources import LOG, jsonl, parquet
from tests.support.shapes import CHAIN, DOUBLE_CLAIM

DOCUMENTS = [CHAIN, DOUBLE_CLAIM]

pytestmark = pytest.mark.heavy


def by_spark(
    spark: SparkSession,
    *given: Path | str,
    tasks: int = 4,
    written: RecordFormat = AS_SPARK,
) -> list[Row]:
    """Read sources as an audit does."""
    stores = Stores(LocalStore(), lambda: HadoopStore(spark))
    files = find_sources(given, stores, written=written).files
    reader = SourceReader(spark, files, tasks=tasks, max_partitions=MAX_PARTITIONS)
    while True:
        try:
            packed = reader.parcels().toArrow().to_batches()
            return [row for rows in unpacked(packed) for row in rows.to_pylist()]
        except SPARK_ERRORS as error:
            if not reader.finds_damage(error):
                raise


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
    times = [row["timestamp"] * 1_000_000 for row in LOG.records]
    for name, kind in (("ns", pa.timestamp("ns")), ("us", pa.timestamp("us", "UTC"))):
        stamps = pa.array(times, pa.int64()).cast(pa.timestamp("ns", kind.tz))
        counts = pa.array([row["partition"] for row in LOG.records], pa.uint64())
        one = {"timestamp": stamps.cast(kind), "partition": counts}
        parquet(folder / f"{name}.parquet", LOG.records, **one)
    lines = [orjson.dumps(document) for document in DOCUMENTS]
    (folder / "d.jsonl").write_bytes(b"\n".join([*lines, b"{}"]))
    (folder / "d.json").write_bytes(orjson.dumps(CHAIN, option=orjson.OPT_INDENT_2))
    table = to_table([rebalance_of(document) for document in DOCUMENTS])
    pq.write_table(table, folder / "d.parquet")
    (folder / "g.members.txt").write_text(GOOD)
    (folder / "sub").mkdir()
    (folder / "sub" / "g.txt").write_text("what?\n" + GOOD.replace("good", "other"))
    return folder


@pytest.mark.parametrize("tasks", [1, 7])
def test_spark_reads_what_is_in_the_files(
    spark: SparkSession, tmp_path: Path, tasks: int
) -> None:
    folder = good_sources(tmp_path / "s")
    rows = by_spark(spark, folder, tasks=tasks)
    assert comparable(rows) == comparable(read_paths([folder]))
    assert sum(row["what"] == CASE for row in rows) == 2 + 1 + 2 + 2


def test_names_are_no_patterns_and_no_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    odd = good_sources(tmp_path / "a b#%20[x]{y,z}*?é\\w" / "date=2026-01-01")
    (odd / "2026-01-01T10:00:00+01:00.txt").write_text(GOOD)
    (tmp_path / "other" / "date=x").mkdir(parents=True)
    plain = tmp_path / "other" / "date=x" / "r.parquet"
    parquet(plain, LOG.records)
    rows = by_spark(spark, odd, plain)
    assert comparable(rows) == comparable(read_paths([odd, plain]))


def test_large_texts_are_read_in_blocks_with_line_numbers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)  # noqa: S311
    records = [
        row | {"offset": 3 * i + n, "value": row["value"] + "00" * rng.randrange(90)}
        for i in range(40)
        for n, row in enumerate(LOG.records)
    ]
    lines = jsonl(records).splitlines(keepends=True)
    for at in range(0, len(lines), 20):
        lines[at] = "noise" * rng.randrange(1, 400) + "\n"
    text = "".join(lines).removesuffix("\n")
    (tmp_path / "r.jsonl").write_text(text)
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / f"{encoding}.jsonl").write_bytes(text.encode(encoding))
    names = [f"g{number:04}" for number in range(30)]
    described = "".join(GOOD.replace("good", name) for name in names)
    (tmp_path / "g.txt").write_text(described)
    whole = comparable(read_paths([tmp_path]))
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(spark_tables, "BLOCK_BYTES", 6_000)
    assert comparable(by_spark(spark, tmp_path)) == whole


def test_a_line_above_the_limit_is_cut_off_and_numbered(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = jsonl(LOG.records).encode()
    path = tmp_path / "r.jsonl"
    path.write_bytes(text * 3 + b"x" * 30_000 + b"\n" + b"bad\n" + text)
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(spark_tables, "BLOCK_BYTES", 5_000)
    monkeypatch.setattr(spark_tables, "LINE_LIMIT", 20_000)
    rows = by_spark(spark, path)
    bad = {r["source_offset"]: r["raw_bytes"] for r in rows if r["what"] == UNREADABLE}
    assert bad == {10: 20_000, 11: 3}  # cut off by Spark, and not kept in memory
    assert sum(row["what"] == RECORD for row in rows) == 12


def test_a_damaged_row_group_costs_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    records = [row | {"offset": i} for i, row in enumerate(LOG.records * 2_000)]
    parquet(tmp_path / "bad.parquet", records)
    parquet(tmp_path / "good.parquet", LOG.records)
    table = pq.read_table(tmp_path / "bad.parquet")
    pq.write_table(table, tmp_path / "bad.parquet", row_group_size=2_000)
    data = bytearray((tmp_path / "bad.parquet").read_bytes())
    data[4:200] = b"\xa5" * 196
    (tmp_path / "bad.parquet").write_bytes(data)
    rows = by_spark(spark, tmp_path)
    found = [row["source"].rsplit("/")[-1] for row in rows if row["what"] == RECORD]
    assert found.count("good.parquet") == 3
    assert found.count("bad.parquet") == 4_000
    (row,) = (row for row in rows if row["what"] == UNREADABLE)
    assert row["reason"] == "breaks off here: 2,000 of 6,000 rows cannot be read"
    assert row["source"].endswith("/bad.parquet")


def test_a_large_truncated_gzip_costs_no_other_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [row | {"offset": i} for i, row in enumerate(LOG.records * 2_000)]
    packed = gzip.compress(jsonl(records).encode(), compresslevel=1)
    (tmp_path / "bad.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "good.jsonl").write_text(jsonl(LOG.records))
    monkeypatch.setattr(source_file, "LARGE", 5_000)
    rows = by_spark(spark, tmp_path)
    found = [row["source"].rsplit("/")[-1] for row in rows if row["what"] == RECORD]
    assert found.count("good.jsonl") == 3
    assert found.count("bad.jsonl.gz") > 500
    reasons = {row["reason"] for row in rows if row["what"] == UNREADABLE}
    assert "breaks off here: damaged gzip" in reasons


def test_a_scheme_of_hadoop(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``viewfs:`` mounts a folder under a name that is no path of this machine."""
    folder = good_sources(tmp_path / "real")
    (folder / "topics.json").write_text('{"t": 5}')
    conf = spark._jsc.hadoopConfiguration()
    conf.set("fs.viewfs.mounttable.cluster.link./data", f"file://{folder}")
    store = HadoopStore(spark)
    stores = Stores(LocalStore(), lambda: store)
    assert store.is_folder("viewfs://cluster/data/absent") is None
    rows = by_spark(spark, "viewfs://cluster/data")
    named = [
        row | {"source": row["source"].replace("real/", "data/")}
        for row in read_paths([folder])
    ]
    for row in [*rows, *named]:
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


def test_columns_of_other_programs(spark: SparkSession, tmp_path: Path) -> None:
    columns = {
        "Key": [row["key"] for row in LOG.records],
        "key": [1.5] * 3,  # names differ by case only
        "the `value`.x": [row["value"] for row in LOG.records],
        "p": pa.array([row["partition"] for row in LOG.records], pa.int8()),
        "o": [row["offset"] for row in LOG.records],
        "at": [str(row["timestamp"]) for row in LOG.records],
    }
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    (tmp_path / "ours.jsonl").write_text(jsonl(LOG.records))
    names = "key=Key, value=the `value`.x,partition=p,offset=o,timestamp=at"
    written = record_format(names, "hex")
    rows = by_spark(spark, tmp_path / "r.parquet", written=written)
    assert [row["what"] for row in rows] == [RECORD] * 3
    ours = read_paths([tmp_path / "ours.jsonl"])
    assert comparable(rows, "s") == comparable(ours, "s")


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


def test_a_file_that_spark_cannot_read_is_named(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hadoop decompresses by the name, which here says so of a plain text."""
    (tmp_path / "plain.deflate").write_text(jsonl(LOG.records))
    (tmp_path / "good.jsonl").write_text(jsonl(LOG.records))
    assert len(by_spark(spark, tmp_path)) == 6
    monkeypatch.setattr(source_file, "LARGE", 1)
    assert len(by_spark(spark, tmp_path)) == 6
    monkeypatch.setattr(source_file, "_OTHER_CODECS", (".none",))
    rows = by_spark(spark, tmp_path)
    found = [(row["what"], row["source"].rsplit("/")[-1]) for row in rows]
    assert sorted(found) == [
        *[(RECORD, "good.jsonl")] * 3,
        (UNREADABLE, "plain.deflate"),
    ]


# Log segments, and texts that are read together.


def test_spark_reads_segments(spark: SparkSession, tmp_path: Path) -> None:
    """Spark skips hidden files; the folder's name begins as theirs do."""
    real = DATA / BROKER
    segment(tmp_path / "data", batch(LOG.records))
    shutil.copytree(real, tmp_path / "data" / real.name)
    rows = by_spark(spark, tmp_path / "data")
    assert comparable(rows) == comparable(read_path(tmp_path / "data"))
    assert len(rows) > 30


@pytest.mark.parametrize("tasks", [1, 7])
def test_both_readers_bring_the_same_texts_together(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    """Sets of all kinds, and texts of none, in one task and in several."""
    good_sources(tmp_path / "good")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "state.txt").write_text(state("Stable", 2, group=folder))
        members_of = members(("x", 1, "t:0"), ("y", 1, "t:1"), group=folder)
        (tmp_path / folder / "members.txt").write_text(members_of)
        logs = [message(number, x={"t": [0]}) for number in (3, 4)]
        (tmp_path / folder / "app.log").write_text("\n".join([*logs, folder]))
    write_sink(tmp_path, LOGGED, keys_form="avro")
    whole = comparable(read_path(tmp_path))
    assert comparable(by_spark(spark, tmp_path, tasks=tasks)) == whole
    monkeypatch.setattr(source_file, "LARGE", 1)
    monkeypatch.setattr(spark_tables, "BLOCK_BYTES", 2_000)
    assert comparable(by_spark(spark, tmp_path, tasks=tasks)) == whole
