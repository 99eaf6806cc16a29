"""Work in progress on a file system of Hadoop, as Spark's SQL writes and reads it.

With version 2 of Hadoop's ``FileOutputCommitter``, the file of a task is moved into the
target when the task is complete. A task judges whole parts, because Spark gives it one
file of cases. Committers that move files at the end of a job, as some object stores
have, leave nothing to continue of a killed job, and change nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark import RDD, SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.audit.judged import JUDGED, PART
from pipeline.audit.stages import COUNTS, OF_NIGHTS, SEEN, Seen, seen_by_tasks
from pipeline.rows import ROWS
from pipeline.session import sql_session
from pipeline.unfinished import Unfinished

Batches: TypeAlias = Iterator[pa.RecordBatch]
Judge: TypeAlias = Callable[[Batches], Batches]

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


def save_remote_cases(
    spark: SparkContext, target: str, rows: RDD[pa.RecordBatch], parts: int
) -> None:
    """Divide cases into numbered parts and write them."""
    listed = rows.flatMap(_tuples)
    table: DataFrame = sql_session(spark).createDataFrame(
        listed, from_arrow_schema(ROWS), verifySchema=False
    )
    divided = table.repartition(parts).withColumn(PART, f.spark_partition_id())
    divided.write.options(**_WRITTEN).parquet(target)


def _tuples(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


class RemoteCases:
    """Cases that Spark has written; see `pipeline.audit.stored_work.StoredCases`."""

    def __init__(self, spark: SparkContext, work: Unfinished, location: str) -> None:
        session = sql_session(spark)
        for name, value in _READ.items():
            session.conf.set(name, value)
        cases = ROWS.append(pa.field(PART, pa.int32()))
        reader = session.read.schema(from_arrow_schema(cases))
        # The folder's name can contain the characters of patterns, and of partitions.
        reader = reader.option("__globPaths__", "false")
        reader = reader.option("recursiveFileLookup", "true")
        self._rows, self._work = reader.parquet(location), work

    def seen(self) -> Seen:
        """Return the facts and counts of the tasks that wrote them."""
        return seen_by_tasks([self._rows.select(*SEEN).toArrow()])

    def parts(self) -> frozenset[int]:
        """Return the numbers of the parts that have anything to judge."""
        parts = self._to_judge().select(PART).distinct().collect()
        return frozenset(row[PART] for row in parts)

    def judge(self, judge: Judge, parts: frozenset[int]) -> list[str]:
        """Judge some parts, as `pipeline.audit.judged.JUDGED`; return their files."""
        left = self._to_judge().where(f.col(PART).isin(*parts))
        target = self._work.new_judged()
        judged = left.mapInArrow(judge, from_arrow_schema(JUDGED))
        judged.write.options(**_WRITTEN_AS_TASKS_END).parquet(target)
        return self._work.files(target)

    def _to_judge(self) -> DataFrame:
        return self._rows.where(~f.col("what").isin(*COUNTS, *OF_NIGHTS))
