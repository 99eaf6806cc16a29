"""Rows of a running cluster's log of groups: read from it, or kept from before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from pyspark import RDD, SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.live import (
    RECORDS,
    LiveSource,
    LogRange,
    records_of_batch,
    row_of_record,
)
from pipeline.rows import batches_of
from pipeline.session import sql_session
from pipeline.sources.parcels import Parcel, parcels_of_shares, parcels_of_table

Batches = Iterator[pa.RecordBatch]

_READING: Final = {
    "__globPaths__": "false",  # a folder's name can contain the characters of patterns
    "recursiveFileLookup": "true",  # batch=0 is not a column
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}


def live_parcels(spark: SparkContext, live: LiveSource, tasks: int) -> RDD[Parcel]:
    """Read all ranges.

    Spark's Kafka connector is not used: it exists for some versions of Spark only, and
    it would have to be fetched (``docs/live.md``).
    """
    if live.kept is not None:
        kept = kept_table(sql_session(spark), *live.kept)
        return parcels_of_table(kept, tasks, _rows_of_kept)
    log = live.log

    def read(within: LogRange) -> Batches:
        return batches_of(map(row_of_record, log.records(within)))

    return parcels_of_shares(spark, live.ranges, tasks, read)


def kept_table(spark: SparkSession, *folders: str) -> DataFrame:
    """Read folders of kept records, given as URIs; columns as in `RECORDS`."""
    reader = spark.read.format("parquet").options(**_READING)
    return reader.schema(from_arrow_schema(RECORDS)).load(list(folders))


def _rows_of_kept(batches: Batches) -> Batches:
    found = (record for batch in batches for record in records_of_batch(batch))
    return batches_of(map(row_of_record, found))
