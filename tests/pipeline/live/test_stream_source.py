"""The stream's reader, with a stand-in for librdkafka and without Spark."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql.datasource import InputPartition

from pipeline import rows
from pipeline.following.stream_source import LogStreamReader, stream_source
from pipeline.live import (
    RECORDS,
    ClientSettings,
    LogRange,
    LogRecord,
    OffsetsLog,
    ReplacedLogError,
    batches_of_records,
    records_of_batch,
)
from tests.pipeline.live.consumers import Consumer, Message, end

PASSWORD = "s3cret"  # noqa: S105
LOG = OffsetsLog(server="b:9092", settings=ClientSettings(password=PASSWORD))
MARKS = {3: (2, 6), 4: (0, 0)}


def reader_of(consumer: Consumer) -> LogStreamReader:
    return LogStreamReader(replace(LOG, make=consumer))


def test_offsets_are_those_of_all_partitions() -> None:
    reader = reader_of(Consumer(marks=MARKS))
    assert reader.initialOffset() == {"3": 2, "4": 0}
    assert reader.latestOffset({"3": 4, "4": 0}) == {"3": 6, "4": 0}


def test_spark_passes_the_start_if_it_can() -> None:
    """Spark 4.1 calls without arguments, later versions with the start and a limit."""
    reader = reader_of(Consumer(marks=MARKS))
    assert len(inspect.signature(reader.latestOffset).parameters) == 2
    assert reader.latestOffset() == {"3": 6, "4": 0}


def test_a_batch_is_read_as_it_was_planned() -> None:
    reader = reader_of(Consumer(marks=MARKS))
    (task,) = reader.partitions(reader.initialOffset(), reader.latestOffset())
    assert task.value == (LogRange(partition=3, start=2, end=6),)
    consumer = Consumer([Message(2), Message(4)], [Message(5), end()])
    batches = list(reader_of(consumer).read(task))
    assert all(batch.schema == RECORDS for batch in batches)
    assert pa.Table.from_batches(batches).column("offset").to_pylist() == [2, 4, 5]
    found = [record for batch in batches for record in records_of_batch(batch)]
    assert found[0] == (3, 2, 1002, b"k", b"v")
    assert found[1] == (3, 4, None, b"k", None)


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "ROWS_PER_BATCH", 3)
    monkeypatch.setattr(rows, "BYTES_PER_BATCH", 10)
    sizes = [1, 1, 1, 1, 12, 9, 1]
    records = [LogRecord(0, n, None, None, b"v" * size) for n, size in enumerate(sizes)]
    batches = list(batches_of_records(records))
    assert [batch.num_rows for batch in batches] == [3, 2, 2]
    assert [
        record for batch in batches for record in records_of_batch(batch)
    ] == records


def test_a_task_without_ranges_reads_nothing() -> None:
    assert list(LogStreamReader(LOG).read(InputPartition(()))) == []


def test_a_replaced_log_is_not_read() -> None:
    reader = reader_of(Consumer(marks=MARKS))
    with pytest.raises(ReplacedLogError, match="partition 3"):
        reader.latestOffset({"3": 7, "4": 0})


def test_bug_the_reader_can_be_sent_to_workers() -> None:
    """A reader with librdkafka's class in a field could not be unpickled."""
    reader = pickle.loads(pickle.dumps(LogStreamReader(LOG)))  # noqa: S301
    assert isinstance(reader, LogStreamReader)


def test_passwords_are_no_options_of_the_source() -> None:
    source = stream_source(LOG)({})
    assert not source.options
    assert PASSWORD not in repr(vars(source))
    assert source.schema().fieldNames() == RECORDS.names  # type: ignore[union-attr]
