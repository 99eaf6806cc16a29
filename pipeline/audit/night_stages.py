"""Records that a night has left, read and written by Spark."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.audit.night import Night
from pipeline.nights.continued import carried_rows
from pipeline.sources.parcels import parcels_table
from pipeline.sources.rows import CARRIED, OPENED, ROWS, SPAN, Row
from pipeline.sources.spark_rows import parcels_of_rows

_FILES: Final = 8
"""Files of the records that a night leaves, at most."""
_COLLECTED: Final = [name for name in ROWS.names if name not in ("key", "value")]
_READING: Final = {
    "__globPaths__": "false",  # a folder's name can contain the characters of patterns
    "recursiveFileLookup": "true",
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}


def carried_parcels(spark: SparkSession, night: Night, tasks: int) -> list[DataFrame]:
    """Return the records and topics of earlier nights, packed."""
    found = [parcels_of_rows(spark, night.topics(), tasks)]
    carry = night.carry()
    if carry is not None:
        reader = spark.read.format("parquet").options(**_READING)
        rows = reader.schema(from_arrow_schema(ROWS)).load(carry)
        found.append(parcels_table(rows, tasks, carried_rows))
    return found


def rows_of_night(cases: DataFrame) -> list[Row]:
    """Collect the offsets that were read, and the names of the open cases."""
    rows = cases.where(f.col("what").isin(SPAN, OPENED)).select(*_COLLECTED)
    return [row.asDict() for row in rows.collect()]


def write_carried(cases: DataFrame, target: str) -> None:
    """Write the records for the next night into a new folder."""
    left = cases.where(f.col("what").isin(CARRIED, OPENED))
    left.select(*ROWS.names).coalesce(_FILES).write.parquet(target)
