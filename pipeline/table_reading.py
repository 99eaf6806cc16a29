"""Read a table of an audit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from pipeline.tables import PARTITION_COLUMNS, TABLES


def read_table(folder: Path, name: str) -> pa.Table:
    """Read a table of an audit by its name in `TABLES`, such as ``rebalances``.

    Columns are as stated there, and rows by day and `ORDER`.
    """
    return opened_table(folder, name).to_table().select(TABLES[name].names)


def opened_table(folder: Path, name: str) -> ds.Dataset:
    """Open a table of an audit, to read part of it."""
    schema = TABLES[name]
    keys = pa.schema([schema.field(column) for column in PARTITION_COLUMNS])
    return ds.dataset(
        folder / name,
        schema=schema,
        format="parquet",
        partitioning=ds.partitioning(keys, flavor="hive"),
    )
