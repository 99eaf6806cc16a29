"""Spark stages of the audit: pure functions from tables to tables.

Records are grouped and sorted by offset, and cases are judged in batches. The result of
a stage does not depend on how Spark divides the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.audit.judged import JUDGED, PART, judged_batches
from pipeline.describe.record_states import with_record_states
from pipeline.history.batches import histories_of_batches
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.judging.judge_rows import Settings, judge_rows
from pipeline.judging.repeats import repeats_of_process
from pipeline.judging.topic_names import names_of_ids
from pipeline.sources.rows import (
    READ,
    REPEATED,
    ROWS,
    TOPIC,
    TOPIC_ID,
    Row,
    batches_of,
    read_row,
)

Batches = Iterator[pa.RecordBatch]

_COUNTS: Final = (TOPIC, TOPIC_ID, READ, REPEATED)


def reconstruct(rows: DataFrame, tasks: int) -> DataFrame:
    """Gather the records of each group in order, and reconstruct its cases.

    Each task adds a row with the number of rows that it has read. They are part of the
    result, so a task that Spark repeats is not counted twice.
    """
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)

    def histories(batches: Batches) -> Batches:
        return batches_of(histories_of_batches(batches))

    return ordered.mapInArrow(_counting(histories), _spark(ROWS))


def match_snapshots(rows: DataFrame, names: dict[str, str], tasks: int) -> DataFrame:
    """Match the snapshots of each group with its rebalances (`with_record_states`).

    This takes a stage of its own: the names of topic ids come from all groups.
    """
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)

    def match(found: Iterable[Row]) -> Iterator[Row]:
        return with_record_states(found, names)

    return ordered.mapInArrow(_on_rows(match), _spark(ROWS))


class Seen(NamedTuple):
    """What the tasks of the reconstruction have seen, over all of them."""

    topics: dict[str, int]  # the largest partition count of each topic
    rows_read: int
    rows_repeated: int


def rows_and_topics_seen(rows: DataFrame) -> Seen:
    """Collect what the tasks of `reconstruct` have counted."""
    counted = rows.where(f.col("what").isin(TOPIC, READ, REPEATED))
    counted = counted.coalesce(1)  # few rows: no shuffle
    counts = counted.groupBy("what", "record").agg(
        f.max("records").alias("most"), f.sum("records").alias("all")
    )
    found = counts.collect()
    return Seen(
        topics={row["record"]: row["most"] for row in found if row["what"] == TOPIC},
        rows_read=sum(row["all"] for row in found if row["what"] == READ),
        rows_repeated=sum(row["all"] for row in found if row["what"] == REPEATED),
    )


def topic_names(rows: DataFrame) -> dict[str, str]:
    """Collect the names of topic ids, over all tasks."""
    stated = rows.where(f.col("what") == TOPIC_ID).select("key", "record").distinct()
    return names_of_ids((bytes(row["key"]), row["record"]) for row in stated.collect())


def judge(cases: DataFrame, settings: Settings) -> DataFrame:
    """Judge all cases, each in the part that it is in; rows as in `JUDGED`."""

    def results(batches: Batches) -> Batches:
        repeats = repeats_of_process()
        rows = (row for batch in batches for row in batch.to_pylist())
        for part, group in groupby(rows, key=itemgetter(PART)):
            yield from judged_batches(part, judge_rows(group, settings, repeats))

    return cases.mapInArrow(results, _spark(JUDGED))


def to_judge(rows: DataFrame) -> DataFrame:
    """Select the rows that are judged: not topics, their ids, and counts of rows."""
    return rows.where(~f.col("what").isin(*_COUNTS))


def _on_rows(
    function: Callable[[Iterable[Row]], Iterable[Row]],
) -> Callable[[Batches], Batches]:
    def on_batches(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in batch.to_pylist())
        return batches_of(function(rows))

    return on_batches


def _counting(
    function: Callable[[Batches], Batches],
) -> Callable[[Batches], Batches]:
    """Add a row with the number of rows that the function has taken."""

    def on_batches(batches: Batches) -> Batches:
        count = 0

        def counted() -> Batches:
            nonlocal count
            for batch in batches:
                count += _rows_read(batch)
                yield batch

        yield from function(counted())
        yield from batches_of([read_row(count)])

    return on_batches


def _rows_read(batch: pa.RecordBatch) -> int:
    """Count records, cases, and what rows of quarantine represent; topics are none."""
    table = pa.table({name: batch.column(name) for name in ("what", "records")})
    read = table.filter(pc.field("what") != TOPIC)
    return int(pc.sum(pc.fill_null(read["records"], 1)).as_py() or 0)


def _spark(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)
