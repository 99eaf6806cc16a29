"""Sort rows in bounded memory.

Rows that do not fit into memory are distributed to files by ranges of their order
(Knuth, The Art of Computer Programming, volume 3, 5.4), whose bounds come from a sample
of the rows; then, each range is sorted. Nulls are first, text is compared by its bytes,
and equal rows stay as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.rows import gathered
from pipeline.table_bytes import from_bytes
from pipeline.table_files import sizes_of

RANGE_BYTES: Final = 16 << 20
"""Bytes of the rows that are sorted at once, about, unless there are very many rows."""
AT_ONCE: Final = 4
"""Ranges that are sorted together, without files, if there are not more."""
HELD: Final = 2
"""The same of rows that are read once, in tasks: several of them run at a time."""
MOST_RANGES: Final = 500
"""Files that are open at once; systems often permit a thousand."""
SAMPLES: Final = 64
"""Rows of the sample per range."""
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


def in_order(
    tables: Callable[[], Iterable[pa.Table]],
    schema: pa.Schema,
    keys: Sequence[str],
    size: int,
    at_once: int = AT_ONCE,
) -> Iterator[pa.Table]:
    """Yield the rows of all tables in the order of some columns.

    Parameters
    ----------
    tables
        Reads the tables; can be called several times.
    size
        Bytes of all tables.
    at_once
        Number of ranges that are sorted together, if there are not more.
    """
    count = min(-(-size // RANGE_BYTES), MOST_RANGES)
    if count <= at_once:
        yield _sorted(pa.concat_tables([schema.empty_table(), *tables()]), keys)
        return
    # Bytes can be large, and rows that differ in nothing else can be in one range.
    short = [key for key in keys if not pa.types.is_binary(schema.field(key).type)]
    bounds = _bounds(tables(), short, count, size)
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch, str(number)) for number in range(count)]
        _distribute(tables(), schema, bounds, paths)
        for path in paths:
            yield _sorted(from_bytes(path.read_bytes()), keys)


def in_order_once(
    tables: Iterable[pa.Table], schema: pa.Schema, keys: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the rows of all tables in order; the tables are read once."""
    left, held, size = iter(tables), [schema.empty_table()], 0
    for table in left:
        held.append(table)
        size += table.nbytes
        if size > HELD * RANGE_BYTES:
            break
    else:
        rows = pa.concat_tables(held)
        held.clear()
        rows = _sorted(rows, keys)  # the others are not held meanwhile
        yield rows
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = str(Path(scratch, "rows"))
        with pa.ipc.new_stream(path, schema, options=_COMPRESSED) as stream:
            for table in held:
                stream.write_table(table)
            held.clear()
            for table in left:
                stream.write_table(table)
                size += table.nbytes

        def again() -> Iterator[pa.Table]:
            with pa.OSFile(path) as file, pa.ipc.open_stream(file) as stream:
                for some in gathered(stream, lambda batch: int(batch.nbytes)):
                    yield pa.Table.from_batches(some)

        yield from in_order(again, schema, keys, size, HELD)


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    return table.take(_places(table.select(keys)))


def _bounds(
    tables: Iterable[pa.Table], keys: Sequence[str], count: int, size: int
) -> pa.Table:
    """Return the keys that divide the rows into ranges of about as many bytes."""
    step = max(1, size // (count * SAMPLES))
    samples, done = [], 0
    for table in tables:
        ends = done + np.cumsum(sizes_of(table))
        places = np.flatnonzero(np.diff(ends // step, prepend=done // step))
        samples.append(table.select(keys).take(places))
        done = int(ends[-1]) if len(ends) else done
    sample = pa.concat_tables(samples)
    every = np.arange(1, count) * sample.num_rows // count
    return sample.take(_places(sample).take(every))


def _distribute(
    tables: Iterable[pa.Table], schema: pa.Schema, bounds: pa.Table, paths: list[Path]
) -> None:
    """Write the rows of each range to a file."""
    with ExitStack() as stack:
        streams = [
            stack.enter_context(
                pa.ipc.new_stream(str(path), schema, options=_COMPRESSED)
            )
            for path in paths
        ]
        for table in tables:
            # Where the bounds are among the rows, if all are sorted together.
            keys = pa.concat_tables([table.select(bounds.schema.names), bounds])
            places = _places(keys).to_numpy()
            is_bound = places >= table.num_rows
            found = np.flatnonzero(is_bound)
            edges = [0, *(found - np.arange(len(found))).tolist(), table.num_rows]
            rows = table.take(places[~is_bound])
            for stream, (start, stop) in zip(streams, pairwise(edges), strict=True):
                stream.write_table(rows.slice(start, stop - start))


def _places(keys: pa.Table) -> pa.UInt64Array:
    """Return the places of the rows in their order by all columns; ties stay."""
    columns = []
    for column in keys.columns:
        if column.null_count:
            columns.append(pc.is_valid(column))  # nulls first
        columns.append(column)
    names = [str(number) for number in range(len(columns))]
    by = [(name, "ascending") for name in names]
    return pc.sort_indices(pa.table(columns, names), sort_keys=by)
