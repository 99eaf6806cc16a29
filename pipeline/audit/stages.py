"""Spark stages of the audit: pure functions from tables to tables.

Records are grouped and sorted by offset, and cases are judged in batches. The result of
a stage does not depend on how Spark divides the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.describe.record_states import with_record_states
from pipeline.history.batches import histories_of_batches
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.judging.judge_rows import Settings, judge_rows
from pipeline.judging.repeats import Repeats
from pipeline.judging.topic_names import names_of_ids
from pipeline.sources.rows import ROWS, TOPIC, TOPIC_ID, Row, batches_of
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS

Batches = Iterator[pa.RecordBatch]

RESULTS: Final = pa.schema(
    [(name, pa.struct(list(schema))) for name, schema in SCHEMAS.items()]
)
"""One row of any table, in the column with the table's name; the others are null."""

_RESULTS_PER_BATCH: Final = 500

_REPEATS: Final = Repeats()
"""Of this process: Spark gives many tasks to one Python worker."""


def reconstruct(rows: DataFrame, tasks: int) -> DataFrame:
    """Gather the records of each group in order, and reconstruct its cases."""
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)

    def histories(batches: Batches) -> Batches:
        return batches_of(histories_of_batches(batches))

    return ordered.mapInArrow(histories, _spark(ROWS))


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


def judge(rows: DataFrame, settings: Settings, tasks: int) -> DataFrame:
    """Judge all cases; rows as in `RESULTS`."""

    def results(batches: Batches) -> Batches:
        for batch in batches:
            found = judge_rows(batch.to_pylist(), settings, _REPEATS)
            yield from result_batches(found)

    others = ~f.col("what").isin(TOPIC, TOPIC_ID)
    cases = rows.where(others).repartition(tasks)
    return cases.mapInArrow(results, _spark(RESULTS))


def count_rows(results: DataFrame) -> dict[str, int]:
    """Count the rows of each table."""
    counted = results.agg(*(f.count(name).alias(name) for name in SCHEMAS)).first()
    return {} if counted is None else counted.asDict()


def count_quarantine(results: DataFrame) -> dict[str, int]:
    """Count the records per reason, most frequent first."""
    rows = results.where(f.col("quarantine").isNotNull()).select("quarantine.*")
    counted = rows.groupBy("kind", "reason").agg(f.sum("records").alias("records"))
    counts = {f"{r['kind']}: {r['reason']}": r["records"] for r in counted.collect()}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def table_of(results: DataFrame, name: str, *, parts: int) -> DataFrame:
    """Extract one table from the results, sorted by cluster, day, and `ORDER`.

    A table of one part is written by one task, and a larger one is divided by ranges of
    its order, so that a day with many rows has several files. The rows of a day, read
    file after file, are the same in the same order.
    """
    rows = results.where(f.col(name).isNotNull()).select(f"{name}.*")
    order = (*PARTITION_COLUMNS, *ORDER[name])
    whole = rows.coalesce(1) if parts <= 1 else rows.repartitionByRange(parts, *order)
    return whole.sortWithinPartitions(*order)


def _on_rows(
    function: Callable[[Iterable[Row]], Iterable[Row]],
) -> Callable[[Batches], Batches]:
    def on_batches(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in batch.to_pylist())
        return batches_of(function(rows))

    return on_batches


def result_batches(found: Iterable[tuple[str, Row]]) -> Batches:
    """Yield rows of the tables as batches of `RESULTS`."""
    gathered: list[dict[str, Row]] = []
    for name, row in found:
        gathered.append({name: row})
        if len(gathered) >= _RESULTS_PER_BATCH:
            yield pa.RecordBatch.from_pylist(gathered, schema=RESULTS)
            gathered = []
    if gathered:
        yield pa.RecordBatch.from_pylist(gathered, schema=RESULTS)


def _spark(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)
