"""Spark stages of the audit: pure functions from tables to tables.

Splits are read, records are grouped and sorted by offset, and cases are judged in
batches. The result of a stage does not depend on how Spark divides the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.describe.record_states import with_record_states
from pipeline.history.stream import ORDER as HISTORY_ORDER
from pipeline.history.stream import histories
from pipeline.judging.judge_rows import Settings, judge_rows
from pipeline.judging.repeats import Repeats
from pipeline.sources.find import Split
from pipeline.sources.read import rows_of
from pipeline.sources.rows import ROWS, TOPIC, TOPIC_ID, Row, batches_of
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS
from pipeline.topic_ids import text_of_id

Batches = Iterator[pa.RecordBatch]

RESULTS: Final = pa.schema(
    [(name, pa.struct(list(schema))) for name, schema in SCHEMAS.items()]
)
"""One row of any table, in the column with the table's name; the others are null."""

_RESULTS_PER_BATCH: Final = 500

_REPEATS: Final = Repeats()
"""Of this process: Spark gives many tasks to one Python worker."""


def read_splits(
    spark: SparkSession, splits: list[Split], tasks: int, max_partitions: int
) -> DataFrame:
    """Read each split completely; rows as in `ROWS`."""
    numbers = spark.range(0, len(splits), 1, numPartitions=min(tasks, len(splits)))

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from batches_of(rows_of(splits[number], max_partitions))

    return numbers.mapInArrow(read, _spark(ROWS))


def reconstruct(rows: DataFrame, tasks: int) -> DataFrame:
    """Gather the records of each group in order, and reconstruct its cases."""
    ordered = rows.repartition(tasks, "group_id").sortWithinPartitions(*HISTORY_ORDER)
    return ordered.mapInArrow(_on_rows(_cases), _spark(ROWS))


def _cases(rows: Iterable[Row]) -> Iterator[Row]:
    return with_record_states(histories(rows))


def topics_seen(rows: DataFrame) -> dict[str, int]:
    """Collect the largest partition count of each topic, over all tasks."""
    topics = rows.where(f.col("what") == TOPIC).coalesce(1)  # few rows: no shuffle
    counts = topics.groupBy("record").agg(f.max("records").alias("partitions"))
    return {row["record"]: row["partitions"] for row in counts.collect()}


def topic_names(rows: DataFrame) -> dict[str, str]:
    """Collect the names of topic ids, over all tasks."""
    stated = rows.where(f.col("what") == TOPIC_ID).select("key", "record").distinct()
    return names_of_ids((bytes(row["key"]), row["record"]) for row in stated.collect())


def names_of_ids(stated: Iterable[tuple[bytes, str]]) -> dict[str, str]:
    """Return the name of each id; an id with several names has none."""
    names: dict[str, set[str]] = {}
    for topic_id, name in stated:
        names.setdefault(text_of_id(topic_id), set()).add(name)
    return {topic_id: min(one) for topic_id, one in names.items() if len(one) == 1}


def judge(rows: DataFrame, settings: Settings, tasks: int) -> DataFrame:
    """Judge all cases; rows as in `RESULTS`."""

    def results(batches: Batches) -> Batches:
        for batch in batches:
            found = judge_rows(batch.to_pylist(), settings, _REPEATS)
            yield from result_batches(found)

    others = ~f.col("what").isin(TOPIC, TOPIC_ID)
    cases = rows.where(others).repartition(tasks)
    return cases.mapInArrow(results, _spark(RESULTS))


def table_of(results: DataFrame, name: str, *, is_small: bool) -> DataFrame:
    """Extract one table from the results: each cluster and day whole, and sorted.

    Small results use one task; otherwise each day has one. The rows of a day and their
    order are the same.
    """
    rows = results.where(f.col(name).isNotNull()).select(f"{name}.*")
    whole = rows.coalesce(1) if is_small else rows.repartition(*PARTITION_COLUMNS)
    return whole.sortWithinPartitions(*PARTITION_COLUMNS, *ORDER[name])


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
