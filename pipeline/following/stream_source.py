"""The log of groups as a streaming source: a Python data source of Spark.

An offset of the stream is the next offset of every partition of the topic. Spark writes
the offsets of a batch to its checkpoint before it reads the batch, so that a batch that
was interrupted is read again with the same offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.live import (
    RECORDS,
    LogRange,
    LogRecord,
    NextOffsets,
    OffsetsLog,
    batches_of_records,
    first_offsets,
    latest_offsets,
    packed,
    ranges_between,
)

NAME: Final = "groups-log"


def stream_source(log: OffsetsLog) -> type[DataSource]:
    """Return a data source that reads this log.

    The class contains the client's settings. As options of the source, passwords would
    be part of Spark's plans, which it logs.
    """

    class GroupsLog(DataSource):
        @classmethod
        def name(cls) -> str:
            return NAME

        def schema(self) -> StructType:
            return from_arrow_schema(RECORDS)

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
            del schema
            return LogStreamReader(log)

    return GroupsLog


class LogStreamReader(DataSourceStreamReader):
    """Plans and reads the batches of a stream; the names are Spark's."""

    def __init__(self, log: OffsetsLog) -> None:
        self._log = log

    def initialOffset(self) -> NextOffsets:  # noqa: N802
        """Return the beginning of the log."""
        return first_offsets(self._log.bounds())

    def latestOffset(  # noqa: N802
        self, start: NextOffsets | None = None, limit: object = None
    ) -> NextOffsets:
        """Return the end of the log; a batch has no limit.

        Spark 4.1 does not pass ``start`` and ``limit``.

        Raises
        ------
        ReplacedLogError
            If the log ends before ``start``.
        """
        del limit
        return latest_offsets(start, self._log.bounds())

    def partitions(
        self, start: NextOffsets, end: NextOffsets
    ) -> Sequence[InputPartition]:
        """Divide a batch among tasks.

        Raises
        ------
        ReplacedLogError
            If a partition has lost offsets.
        """
        ranges = ranges_between(start, end, self._log.bounds())
        return [InputPartition(task) for task in packed(ranges)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the ranges of one task."""
        return batches_of_records(self._records(partition.value))

    def _records(self, ranges: Iterable[LogRange]) -> Iterator[LogRecord]:
        for within in ranges:
            yield from self._log.records(within)
