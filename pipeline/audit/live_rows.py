"""Rows of a running cluster's log of groups."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark import RDD, SparkContext

from pipeline.live import LiveSource, LogRange, row_of_record
from pipeline.rows import batches_of
from pipeline.sources.parcels import Parcel, parcels_of_shares


def live_parcels(spark: SparkContext, live: LiveSource, tasks: int) -> RDD[Parcel]:
    """Read all ranges.

    Spark's Kafka connector is not used: it exists for some versions of Spark only, and
    it would have to be fetched (``docs/live.md``).
    """
    log = live.log

    def read(within: LogRange) -> Iterator[pa.RecordBatch]:
        return batches_of(map(row_of_record, log.records(within)))

    return parcels_of_shares(spark, live.ranges, tasks, read)
