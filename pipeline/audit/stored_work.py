"""Work in progress as Spark writes and reads it, part by part.

With version 2 of Hadoop's ``FileOutputCommitter``, the file of a task is moved into the
target when the task is complete. A task judges whole parts, because Spark gives it one
file of cases. Committers that move files at the end of a job, as some object stores
have, leave nothing to continue of a killed job, and change nothing else.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.audit.judged import PART
from pipeline.files import name_of
from pipeline.sources.rows import ROWS
from pipeline.unfinished import Unfinished

CASES: Final = ROWS.append(pa.field(PART, pa.int32()))
"""Rows of the sources, each with the part that it belongs to."""

_READ: Final = {
    # Bytes: Spark neither divides a file nor reads several of them in one task.
    "spark.sql.files.maxPartitionBytes": str(1 << 40),
    "spark.sql.files.openCostInBytes": str(1 << 40),
    # A case can be megabytes.
    "spark.sql.parquet.columnarReaderBatchSize": "32",
}
_WRITTEN: Final = {
    "compression": "lz4_raw",
    "parquet.enable.dictionary": "false",
    # A row can be megabytes: look at the size of a page after each.
    "parquet.page.size.row.check.min": "1",
    "parquet.block.size.row.check.min": "1",
}
_WRITTEN_AS_TASKS_END: Final = _WRITTEN | {
    "compression": "uncompressed",  # the runs are compressed
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
}


def save_cases(
    spark: SparkSession, work: Unfinished, rows: DataFrame, parts: int
) -> DataFrame:
    """Divide cases into numbered parts and write them; return the written work."""
    divided = rows.repartition(parts).withColumn(PART, f.spark_partition_id())
    target = work.new_cases()
    divided.write.options(**_WRITTEN).parquet(target)
    work.finish(name_of(target))
    return _read_cases(spark, target)


def saved_cases(spark: SparkSession, work: Unfinished) -> DataFrame | None:
    """Return the complete cases of an earlier run, if there are any."""
    location = work.cases()
    return None if location is None else _read_cases(spark, location)


def save_judged(work: Unfinished, judged: DataFrame) -> list[str]:
    """Write judged parts, as in `pipeline.audit.judged.JUDGED`; return their files."""
    target = work.new_judged()
    judged.write.options(**_WRITTEN_AS_TASKS_END).parquet(target)
    return work.files(target)


def _read_cases(spark: SparkSession, location: str) -> DataFrame:
    for name, value in _READ.items():
        spark.conf.set(name, value)
    reader = spark.read.schema(from_arrow_schema(CASES))
    # The folder's name can contain the characters of patterns, and of partitions.
    reader = reader.option("__globPaths__", "false")
    return reader.option("recursiveFileLookup", "true").parquet(location)
