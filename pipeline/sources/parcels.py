"""Rows on their way to the task of their group: many in one value, for Spark's shuffle.

As rows of Spark, records would be copied and sorted one by one by Java, which takes
longer than all of Python's reading. Which task a row goes to depends on its group
alone, on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.sources.rows import ROWS, gathered
from pipeline.table_bytes import as_bytes, from_bytes
from pipeline.table_files import sizes_of

Batches = Iterator[pa.RecordBatch]
Integers = npt.NDArray[np.int32]
_T = TypeVar("_T")

ADDRESS: Final = "address"
"""Column by whose value Spark finds the task (`addresses`)."""

PARCELS: Final = pa.schema([(ADDRESS, pa.int32()), ("rows", pa.binary())])
"""Rows as in `ROWS` for one task, as bytes (`pipeline.table_bytes`)."""

PARCEL_BYTES: Final = 256 << 10
"""Bytes of a parcel before compression, about: Spark holds hundreds in a batch."""

_TRIED: Final = 64
"""Numbers per task among which its address is: that none is, has a chance of e^-64."""


def parcels_table(
    table: DataFrame, tasks: int, read: Callable[[Batches], Batches] = iter
) -> DataFrame:
    """Read a table, and pack its rows.

    Parameters
    ----------
    table
        Rows as ``read`` takes them, or as in `ROWS`.
    tasks
        Number of tasks, as of `parcels_of`.
    read
        Converts batches of the table to batches of `ROWS`.
    """

    def pack(batches: Batches) -> Batches:
        return parcels_of(read(batches), tasks)

    return table.mapInArrow(pack, from_arrow_schema(PARCELS))


def parcels_of_shares(
    spark: SparkSession, shares: Sequence[_T], tasks: int, read: Callable[[_T], Batches]
) -> DataFrame:
    """Read and pack the rows of each share in a task of its own; ``tasks`` as above."""
    numbers = spark.range(0, len(shares), 1, numPartitions=max(1, len(shares)))

    def convert(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(shares[number])

    return parcels_table(numbers, tasks, convert)


def parcels_of(batches: Iterable[pa.RecordBatch], tasks: int) -> Batches:
    """Pack rows for the tasks of their groups.

    Parameters
    ----------
    batches
        Rows as in `ROWS`.
    tasks
        Number of tasks; rows without a group have one of them as well.

    Yields
    ------
    RecordBatch
        Parcels as in `PARCELS`.
    """
    for some in gathered(batches, lambda batch: int(batch.nbytes)):
        yield _packed(some, tasks)


def unpacked(parcels: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of each parcel."""
    for batch in parcels:
        for rows in batch.column("rows"):
            yield from_bytes(rows.as_buffer())


@cache
def addresses(tasks: int) -> Integers:
    """Return a number per task that Spark's ``repartition(tasks, …)`` sends there.

    Spark takes the Murmur3 hash of an int with seed 42, modulo the number of tasks. If
    it took another one, some tasks would have more groups, and others none.
    """
    found, first = np.unique(_murmur3(_TRIED * tasks) % tasks, return_index=True)
    numbers = np.zeros(tasks, np.int32)
    numbers[found] = first
    return numbers


def _packed(batches: list[pa.RecordBatch], tasks: int) -> pa.RecordBatch:
    table = pa.Table.from_batches(batches, ROWS)
    task = _tasks_of(table["group_id"], tasks)
    places = np.argsort(task, kind="stable")
    table, task = table.take(places), task[places]
    # A new parcel begins with each task, and where its rows have enough bytes.
    full = np.cumsum(sizes_of(table)) // PARCEL_BYTES
    begins = np.flatnonzero(np.diff(task, prepend=-1) | np.diff(full, prepend=0))
    packed = [
        as_bytes(table.slice(start, end - start), "lz4")
        for start, end in pairwise([*begins.tolist(), table.num_rows])
    ]
    to = addresses(tasks)[task[begins]]
    return pa.RecordBatch.from_arrays([pa.array(to), pa.array(packed)], schema=PARCELS)


def _tasks_of(groups: pa.ChunkedArray, tasks: int) -> Integers:
    """Return the task of each row: the checksum of its group, modulo their number."""
    coded = groups.combine_chunks().cast(pa.binary()).dictionary_encode("encode")
    names = coded.dictionary.to_pylist()
    hashes = np.array([zlib.crc32(name or b"") % tasks for name in names], np.int32)
    found: Integers = hashes[coded.indices.to_numpy()]
    return found


def _murmur3(count: int) -> npt.NDArray[np.int32]:
    """Return Murmur3_x86_32 of the ints below ``count``, with seed 42."""
    key = _rotated(np.arange(count, dtype=np.uint32) * np.uint32(0xCC9E2D51), 15)
    found = _rotated(np.uint32(42) ^ (key * np.uint32(0x1B873593)), 13)
    found = found * np.uint32(5) + np.uint32(0xE6546B64)
    found ^= np.uint32(4)  # the bytes of an int
    found = (found ^ (found >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    found = (found ^ (found >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (found ^ (found >> np.uint32(16))).view(np.int32)


def _rotated(numbers: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
    left, right = np.uint32(bits), np.uint32(32 - bits)
    return (numbers << left) | (numbers >> right)
