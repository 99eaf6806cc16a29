"""Rows on their way to the task of their group: many in one value, for Spark's shuffle.

As rows of Spark, records would be copied and sorted one by one by Java, which takes
longer than all of Python's reading. Which task a row goes to depends on its group
alone, on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import RDD, SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.rows import ROWS, gathered
from pipeline.table_bytes import as_bytes, from_bytes
from pipeline.table_files import sizes_of

Batches = Iterator[pa.RecordBatch]
Integers = npt.NDArray[np.int32]
_T = TypeVar("_T")

Parcel: TypeAlias = tuple[int, bytes]
"""A task, and rows as in `ROWS` for it, as bytes (`pipeline.table_bytes`)."""
_PARCELS: Final = pa.schema([("task", pa.int32()), ("rows", pa.binary())])

PARCEL_BYTES: Final = 256 << 10
"""Bytes of a parcel before compression, about: Spark holds hundreds in a batch."""


def parcels_of_table(
    table: DataFrame, tasks: int, read: Callable[[Batches], Batches]
) -> RDD[Parcel]:
    """Pack the rows that ``read`` yields of batches of a table of Spark's SQL."""

    def pack(batches: Batches) -> Batches:
        for parcel in parcels_of(read(batches), tasks):
            columns = ([value] for value in parcel)
            yield pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=_PARCELS)

    packed = table.mapInArrow(pack, from_arrow_schema(_PARCELS))
    return packed.rdd.map(lambda row: (row[0], bytes(row[1])))


def parcels_of_shares(
    spark: SparkContext, shares: Sequence[_T], tasks: int, read: Callable[[_T], Batches]
) -> RDD[Parcel]:
    """Read and pack the rows of each share in a task of its own; ``tasks`` as below."""

    def pack(some: Iterable[_T]) -> Iterator[Parcel]:
        for share in some:
            yield from parcels_of(read(share), tasks)

    return spark.parallelize(shares, max(1, len(shares))).mapPartitions(pack)


def together(parcels: Sequence[RDD[Parcel]]) -> RDD[Parcel]:
    """Return the parcels of all; of only one, Spark packs and delivers in one go."""
    first, *others = parcels
    return first.context.union([first, *others]) if others else first


def delivered(parcels: RDD[Parcel], tasks: int) -> RDD[Parcel]:
    """Bring parcels to their tasks."""
    return parcels.partitionBy(tasks, int)


def parcels_of(batches: Iterable[pa.RecordBatch], tasks: int) -> Iterator[Parcel]:
    """Pack rows for the tasks of their groups.

    Parameters
    ----------
    batches
        Rows as in `ROWS`.
    tasks
        Number of tasks; rows without a group have one of them as well.
    """
    for some in gathered(batches, lambda batch: int(batch.nbytes)):
        yield from _packed(some, tasks)


def unpacked(parcels: Iterable[Parcel]) -> Iterator[pa.Table]:
    """Yield the rows of each parcel."""
    for _, rows in parcels:
        yield from_bytes(rows)


def _packed(batches: list[pa.RecordBatch], tasks: int) -> Iterator[Parcel]:
    table = pa.Table.from_batches(batches, ROWS)
    task = _tasks_of(table["group_id"], tasks)
    places = np.argsort(task, kind="stable")
    table, task = table.take(places), task[places]
    # A new parcel begins with each task, and where its rows have enough bytes.
    full = np.cumsum(sizes_of(table)) // PARCEL_BYTES
    begins = np.flatnonzero(np.diff(task, prepend=-1) | np.diff(full, prepend=0))
    for start, end in pairwise([*begins.tolist(), table.num_rows]):
        yield int(task[start]), as_bytes(table.slice(start, end - start), "lz4")


def _tasks_of(groups: pa.ChunkedArray, tasks: int) -> Integers:
    """Return the task of each row: the checksum of its group, modulo their number."""
    coded = groups.combine_chunks().cast(pa.binary()).dictionary_encode("encode")
    names = coded.dictionary.to_pylist()
    hashes = np.array([zlib.crc32(name or b"") % tasks for name in names], np.int32)
    found: Integers = hashes[coded.indices.to_numpy()]
    return found
