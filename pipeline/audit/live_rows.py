"""Rows of a running cluster's log of groups: one task and one connection per range."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.live import LiveSource, rows_of_range
from pipeline.sources.rows import ROWS, batches_of

Batches = Iterator[pa.RecordBatch]


def live_rows(spark: SparkSession, live: LiveSource) -> DataFrame:
    """Read all ranges; rows as in `ROWS`.

    Spark's Kafka connector is not used: it exists for some versions of Spark only, and
    it would have to be fetched (``docs/live.md``).
    """
    log, ranges = live.log, live.ranges
    numbers = spark.range(0, len(ranges), 1, numPartitions=max(1, len(ranges)))

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from batches_of(rows_of_range(log, ranges[number]))

    return numbers.mapInArrow(read, from_arrow_schema(ROWS))
