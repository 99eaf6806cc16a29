"""Column functions on Arrow tables in which unknown flags are not true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Column = Any
"""``pyarrow.Array`` or ``pyarrow.ChunkedArray``."""


def is_true(flags: Column) -> Column:
    """Return flags without nulls: unknown is not true."""
    return pc.fill_null(flags, False)


def equals(column: Column, value: str) -> Column:
    """Return whether each value is ``value``; null is not."""
    if isinstance(column, pa.ChunkedArray):
        flags = [equals(chunk, value) for chunk in column.chunks]
        return pa.chunked_array(flags, pa.bool_())
    if isinstance(column, pa.DictionaryArray):
        # Compare codes, not texts: an order of magnitude faster.
        place = column.dictionary.index(value).as_py()
        return is_true(pc.equal(column.indices, place))
    return is_true(pc.equal(column, value))


def count(flags: Column) -> int:
    """Return the number of true flags."""
    return int(pc.sum(flags).as_py() or 0)


def known(*columns: Column) -> Column:
    """Return whether all columns are known."""
    flags = pc.is_valid(columns[0])
    for column in columns[1:]:
        flags = pc.and_(flags, pc.is_valid(column))
    return flags


def where(flags: Column, column: Column) -> Column:
    """Return the integers of a column where the flag is true, and 0 elsewhere."""
    return pc.if_else(flags, pc.fill_null(column, 0), 0)


def ones(length: int) -> pa.Array:
    """Return the number 1 for each of so many rows, int64: to count them by a sum."""
    return pa.repeat(pa.scalar(1, pa.int64()), length)


def summed(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Group by ``keys``, and sum the other columns.

    The names of columns stay, so that the sum of such tables has the same form.
    """
    others = [name for name in table.column_names if name not in keys]
    grouped = table.group_by(list(keys), use_threads=False).aggregate(
        [(name, "sum") for name in others]
    )
    names = {f"{name}_sum": name for name in others}
    return pa.table(
        {names.get(name, name): plain(grouped[name]) for name in grouped.column_names}
    )


def plain(column: Column) -> Column:
    """Return a column without its dictionary."""
    is_encoded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_encoded else column
