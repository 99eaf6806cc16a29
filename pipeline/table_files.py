"""Parquet files of a table: one folder per cluster and day, rows in their order.

Which rows are in which file depends on the rows alone, so that equal tables are equal
bytes, however they were computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.tables import PARTITION_COLUMNS

MOST_ROWS: Final = 100_000
MOST_BYTES: Final = 64 << 20
"""Bounds on a file; it has one row more than so many bytes."""

_ESCAPED: Final = re.compile("[\x01-\x1f\"#%'*/:=?\\\\\x7f{\\[\\]^]")
"""Characters that Spark and Hive escape in the names of folders."""

_Sizes = npt.NDArray[np.int64]


def write_files(folder: Path, tables: Iterable[pa.Table]) -> None:
    """Write a table into a new folder.

    The rows are sorted by `PARTITION_COLUMNS`, and divided in any way.
    """
    folder.mkdir()
    place, number = folder, 0
    for values, rows in _files(tables):
        names = map(_name, PARTITION_COLUMNS, values)
        before, place = place, folder.joinpath(*names)
        number = number + 1 if place == before else 0
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            rows.drop_columns(list(PARTITION_COLUMNS)).combine_chunks(),
            place / f"part-{number:05d}.parquet",
            row_group_size=MOST_ROWS,
            compression="zstd",
            store_schema=False,
        )


def sizes_of(table: pa.Table) -> _Sizes:
    """Return the bytes of each row's values, of which at least one per column."""
    whole = table.combine_chunks()
    sizes = np.zeros(whole.num_rows, np.int64)
    for column in whole.columns:
        if column.num_chunks:
            sizes += 1 + _sizes(column.chunk(0))
    return sizes


def _sizes(values: Any) -> _Sizes:
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        lengths: _Sizes = pc.fill_null(pc.binary_length(values), 0).to_numpy()
        return lengths.astype(np.int64)
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        ends = np.concatenate([[0], np.cumsum(_sizes(values.values))])
        return np.asarray(np.diff(ends[values.offsets.to_numpy()]))
    if pa.types.is_struct(kind):
        fields = (_sizes(values.field(n)) for n in range(kind.num_fields))
        return sum(fields, np.zeros(len(values), np.int64))
    return np.full(len(values), kind.bit_width // 8, np.int64)


def _files(tables: Iterable[pa.Table]) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Yield the cluster and day of each file, and its rows."""
    for key, days in groupby(_days(tables), key=itemgetter(0)):
        held: list[pa.Table] = []
        count = size = 0
        for _, rows in days:
            start, ends = 0, np.cumsum(sizes_of(rows))
            while start < rows.num_rows:
                before = int(ends[start - 1]) if start else 0
                full = int(np.searchsorted(ends, before + MOST_BYTES - size)) + 1
                stop = min(full, start + MOST_ROWS - count, rows.num_rows)
                held.append(rows.slice(start, stop - start))
                count += stop - start
                size += int(ends[stop - 1]) - before
                start = stop
                if count == MOST_ROWS or size >= MOST_BYTES:
                    yield key, pa.concat_tables(held)
                    held, count, size = [], 0, 0
        if held:
            yield key, pa.concat_tables(held)


def _days(tables: Iterable[pa.Table]) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
    """Divide sorted rows by cluster and day."""
    for table in tables:
        keys = table.select(PARTITION_COLUMNS).combine_chunks()
        counted = keys.group_by(list(PARTITION_COLUMNS), use_threads=False)
        start = 0
        for row in counted.aggregate([([], "count_all")]).to_pylist():
            stop = start + row.pop("count_all")
            yield tuple(row.values()), table.slice(start, stop - start)
            start = stop


def _name(column: str, value: str) -> str:
    escaped = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", value)
    return f"{column}={escaped}"
