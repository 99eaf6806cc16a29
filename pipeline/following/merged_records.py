"""Records of several folders as one file."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from pipeline.audit.live_rows import kept_table


def write_merged(spark: SparkSession, folders: Sequence[str], target: str) -> None:
    """Write all records of some folders to another one, in the order of offsets.

    All locations are URIs. One task reads and writes everything; records that do not
    fit into its memory are sorted on the disk.
    """
    records = kept_table(spark, *folders).coalesce(1)
    records.sortWithinPartitions("partition", "offset").write.parquet(target)
