"""Read a table of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.tables.schemas import PARTITION_COLUMNS, TABLES

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


def read_table(folder: Path, name: str) -> pa.Table:
    """Read a table of an audit by its name in `TABLES`, such as ``rebalances``.

    Columns are as stated there, and rows by day and `ORDER`.
    """
    return opened_table(folder, name).to_table().select(TABLES[name].names)


def opened_table(folder: Path, name: str) -> Dataset:
    """Open a table of an audit, to read part of it."""
    import pyarrow.dataset as ds  # noqa: PLC0415 - takes 0.2 s to load

    schema = TABLES[name]
    keys = pa.schema([schema.field(column) for column in PARTITION_COLUMNS])
    return ds.dataset(
        folder / name,
        schema=schema,
        format="parquet",
        partitioning=ds.partitioning(keys, flavor="hive"),
    )
