"""Rows of all sources by Spark, whose tasks read pieces of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext
from pyspark.errors import PySparkException

from pipeline.files import is_local
from pipeline.rows import UNREADABLE, Row, batches_of, gathered, quarantine_row
from pipeline.sources.parcels import (
    Parcel,
    parcels_of,
    parcels_of_shares,
    together,
)
from pipeline.sources.read import batches_of_pieces
from pipeline.sources.remote_files import remote_parcels
from pipeline.sources.source_file import SourceFile
from pipeline.sources.source_pieces import BLOCK_BYTES, Pieces, pieces_of
from rebalance import SourceError

Select: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Selects some of the rows of a task."""

SPARK_ERRORS: Final = (PySparkException, Py4JError)
"""Exceptions of a failed job: PySpark converts some of Java's exceptions, not all."""

PART_BYTES: Final = 2 << 20
"""Bytes of small sources per task that reads."""
_OPEN_BYTES: Final = 64 << 10
"""To open a file takes as long as to read so many bytes."""


def source_parcels(
    spark: SparkContext,
    files: Sequence[SourceFile],
    *,
    tasks: int,
    max_partitions: int,
    select: Select = iter,
) -> RDD[Parcel]:
    """Return the rows of files as parcels; nothing is read yet.

    Parameters
    ----------
    spark
        As it runs.
    files
        Files to read, one at least.
    tasks
        Number of tasks that the rows are for, and the largest number of parts by which
        small sources are divided.
    max_partitions
        Largest instance.
    select
        Applied to the rows of each task before they are packed.
    """

    def read(pieces: list[Pieces]) -> Iterator[pa.RecordBatch]:
        return select(batches_of_pieces(pieces, max_partitions))

    length = sum(file.length for file in files)
    shares = max(1, min(tasks, length // PART_BYTES))
    most = min(BLOCK_BYTES, (length + len(files) * _OPEN_BYTES) // shares)
    local, remote = _local_and_remote(pieces_of(files, most))
    parcels: list[RDD[Parcel]] = []
    if local:
        divided = list(gathered(local, _length, most))
        parcels.append(parcels_of_shares(spark, divided, tasks, read))
    if remote:
        parcels.append(remote_parcels(spark, remote, tasks, read))
    return together(parcels)


def _local_and_remote(
    divided: Iterable[Pieces],
) -> tuple[list[Pieces], list[Pieces]]:
    """Separate the pieces of files that the tasks open themselves from others."""
    local: list[Pieces] = []
    remote: list[Pieces] = []
    for pieces in divided:
        is_here = all(is_local(piece.file.uri) for piece in pieces)
        (local if is_here else remote).append(pieces)
    return local, remote


def _length(pieces: Pieces) -> int:
    return sum(piece.length + _OPEN_BYTES for piece in pieces)


def parcels_of_rows(spark: SparkContext, rows: list[Row], tasks: int) -> RDD[Parcel]:
    """Return a few rows as parcels."""
    return spark.parallelize([*parcels_of(batches_of(rows), tasks)], 1)


def unknown_rows(errors: Sequence[SourceError]) -> list[Row]:
    """Return one row of quarantine per file that is not a source."""
    return [
        quarantine_row(UNREADABLE, error.reason, source=error.source, record="file")
        for error in errors
    ]
