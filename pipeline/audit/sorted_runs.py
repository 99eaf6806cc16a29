"""Order of the tables' rows, and the merge of sorted runs in bounded memory.

Rows that do not fit into memory are distributed to files by ranges of their order
(Knuth, The Art of Computer Programming, volume 3, 5.4), whose bounds come from a sample
of the runs; then, each range is sorted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.table_files import sizes_of
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS

RANGE_BYTES: Final = 64 << 20
"""Bytes of the rows that are sorted at once, about."""
SAMPLES: Final = 64
"""Rows of the sample per range."""


def in_order(table: pa.Table, name: str) -> pa.Table:
    """Sort rows of a table by cluster, day, and `ORDER`; nulls first, text by bytes."""
    whole = table.combine_chunks()
    return whole.take(_places(whole.select(_keys(name))))


def merged(
    runs: Callable[[], Iterator[pa.Table]], name: str, size: int
) -> Iterator[pa.Table]:
    """Yield the rows of all runs in order.

    Parameters
    ----------
    runs
        Reads the runs of the table, each sorted; can be called several times.
    size
        Bytes of all runs.
    """
    count = -(-size // RANGE_BYTES)
    if count <= 1:
        yield in_order(pa.concat_tables([SCHEMAS[name].empty_table(), *runs()]), name)
        return
    bounds = _bounds(runs(), name, count, size)
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch, str(number)) for number in range(count)]
        _distribute(runs(), name, bounds, paths)
        for path in paths:
            with pa.ipc.open_stream(path.read_bytes()) as stream:
                yield in_order(stream.read_all(), name)


def _bounds(runs: Iterator[pa.Table], name: str, count: int, size: int) -> pa.Table:
    """Return the keys that divide the rows into ranges of about as many bytes."""
    step = max(1, size // (count * SAMPLES))
    samples, done = [], 0
    for run in runs:
        ends = done + np.cumsum(sizes_of(run))
        places = np.flatnonzero(np.diff(ends // step, prepend=done // step))
        samples.append(run.select(_keys(name)).take(places))
        done = int(ends[-1])
    sample = pa.concat_tables(samples)
    every = np.arange(1, count) * sample.num_rows // count
    return sample.take(_places(sample).take(every))


def _distribute(
    runs: Iterator[pa.Table], name: str, bounds: pa.Table, paths: list[Path]
) -> None:
    """Write the rows of each range to a file."""
    schema = SCHEMAS[name]
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as stack:
        streams = [
            stack.enter_context(pa.ipc.new_stream(str(path), schema, options=options))
            for path in paths
        ]
        for run in runs:
            # Where the bounds are among the rows, if all are sorted together.
            keys = pa.concat_tables([run.select(_keys(name)), bounds])
            found = np.flatnonzero(_places(keys).to_numpy() >= run.num_rows)
            edges = [0, *(found - np.arange(len(found))).tolist(), run.num_rows]
            for stream, (start, stop) in zip(streams, pairwise(edges), strict=True):
                stream.write_table(run.slice(start, stop - start))


def _keys(name: str) -> list[str]:
    return [*PARTITION_COLUMNS, *ORDER[name]]


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
