"""Spark stages of the audit: pure functions from tables to tables.

Records are grouped and sorted by offset, and cases are judged in batches. The result of
a stage does not depend on how Spark divides the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.audit.judged import JUDGED, PART, judged_batches
from pipeline.describe.record_states import with_record_states
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.history.stream import histories
from pipeline.judging.judge_rows import Settings, judge_rows
from pipeline.judging.repeats import Repeats
from pipeline.judging.topic_names import names_of_ids
from pipeline.sources.rows import ROWS, TOPIC, TOPIC_ID, Row, batches_of

Batches = Iterator[pa.RecordBatch]

_REPEATS: Final = Repeats()
"""Of this process: Spark gives many tasks to one Python worker."""


def reconstruct(rows: DataFrame, tasks: int) -> DataFrame:
    """Gather the records of each group in order, and reconstruct its cases."""
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)
    return ordered.mapInArrow(_on_rows(histories), _spark(ROWS))


def match_snapshots(rows: DataFrame, names: dict[str, str], tasks: int) -> DataFrame:
    """Match the snapshots of each group with its rebalances (`with_record_states`).

    This takes a stage of its own: the names of topic ids come from all groups.
    """
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)

    def match(found: Iterable[Row]) -> Iterator[Row]:
        return with_record_states(found, names)

    return ordered.mapInArrow(_on_rows(match), _spark(ROWS))


def topics_seen(rows: DataFrame) -> dict[str, int]:
    """Collect the largest partition count of each topic, over all tasks."""
    topics = rows.where(f.col("what") == TOPIC).coalesce(1)  # few rows: no shuffle
    counts = topics.groupBy("record").agg(f.max("records").alias("partitions"))
    return {row["record"]: row["partitions"] for row in counts.collect()}


def topic_names(rows: DataFrame) -> dict[str, str]:
    """Collect the names of topic ids, over all tasks."""
    stated = rows.where(f.col("what") == TOPIC_ID).select("key", "record").distinct()
    return names_of_ids((bytes(row["key"]), row["record"]) for row in stated.collect())


def judge(cases: DataFrame, settings: Settings) -> DataFrame:
    """Judge all cases, each in the part that it is in; rows as in `JUDGED`."""

    def results(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in batch.to_pylist())
        for part, group in groupby(rows, key=itemgetter(PART)):
            yield from judged_batches(part, judge_rows(group, settings, _REPEATS))

    return cases.mapInArrow(results, _spark(JUDGED))


def to_judge(rows: DataFrame) -> DataFrame:
    """Select the rows that are judged: all but topics and their ids."""
    return rows.where(~f.col("what").isin(TOPIC, TOPIC_ID))


def _on_rows(
    function: Callable[[Iterable[Row]], Iterable[Row]],
) -> Callable[[Batches], Batches]:
    def on_batches(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in batch.to_pylist())
        return batches_of(function(rows))

    return on_batches


def _spark(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)
