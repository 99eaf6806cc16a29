"""Write the tables of a large audit: those of a small one, repeated under new names.

Each copy has its own group names, rebalance ids and day; its rows are not judged again.
Instances and assignments are written as dictionaries, so that copies take no space.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.tables import PARTITION_COLUMNS, SCHEMAS, read_table

COPIED: Final = ("rebalances", "answers", "episodes")
_IDS: Final = ("rebalance_id", "episode_id", "last_rebalance_id")
_TIMES: Final = ("at", "started_at", "ended_at")
_DAY_MICROSECONDS: Final = 86_400 * 10**6
_ROWS: Final = 100_000
"""Rows of a row group; Spark's have 128 MB."""
_DICTIONARY_BYTES: Final = 2**28


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSize:
    """Groups and rebalances of an audit, at least; ``days`` are exact."""

    groups: int
    rebalances: int
    days: int = 30


def write_large_audit(source: Path, out: Path, size: AuditSize) -> int:
    """Repeat the tables of an audit; return the number of rebalances written."""
    tables = {name: read_table(source, name) for name in SCHEMAS}
    rebalances = tables["rebalances"]
    names = -(-size.groups // pc.count_distinct(rebalances["group_id"]).as_py())
    copies = max(names, -(-size.rebalances // len(rebalances)))
    for name, schema in SCHEMAS.items():
        (out / name).mkdir(parents=True)
        if name in COPIED:
            for day in range(size.days):
                chosen = np.arange(day, copies, size.days)
                if len(chosen) and len(tables[name]):
                    table = _copies(tables[name], chosen, names, day, schema)
                    _write(table, out / name, _date(tables[name], day))
    shutil.copy(source / "audit.json", out / "audit.json")
    written: int = copies * len(rebalances)
    return written


def _copies(
    table: pa.Table, copies: np.ndarray[Any, Any], names: int, day: int, schema: Any
) -> pa.Table:
    """Return the rows of some copies, all on one day."""
    rows = np.tile(np.arange(len(table)), len(copies))
    copy = pa.array(np.repeat(copies, len(table))).cast(pa.string())
    name = pa.array(np.repeat(copies % names, len(table))).cast(pa.string())
    columns = {}
    for field in schema:
        column = table[field.name].combine_chunks()
        if pa.types.is_string(field.type) and field.name not in ("group_id", *_IDS):
            column = column.dictionary_encode()
        column = column.take(pa.array(rows))
        if field.name == "group_id":
            column = pc.binary_join_element_wise(column, name, "-")
        elif field.name in _IDS:
            column = pc.binary_join_element_wise(column, copy, "/")
        elif field.name in _TIMES:
            moved = pc.add(column.cast(pa.int64()), day * _DAY_MICROSECONDS)
            column = moved.cast(field.type)
        columns[field.name] = column
    found = pa.table(columns)
    # As in an audit's tables, rows are in the order of their groups.
    return found.take(pc.sort_indices(found, [("group_id", "ascending")]))


def _write(table: pa.Table, place: Path, date: str) -> None:
    """Write the rows into the folders of their clusters."""
    clusters = table["cluster"].cast(pa.string())
    for cluster in pc.unique(clusters).to_pylist():
        folder = place / f"cluster={cluster}" / f"date={date}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = table.filter(pc.equal(clusters, cluster))
        pq.write_table(
            rows.drop_columns(list(PARTITION_COLUMNS)),
            folder / "part-00000.parquet",
            compression="zstd",
            row_group_size=_ROWS,
            dictionary_pagesize_limit=_DICTIONARY_BYTES,
            store_schema=False,
        )


def _date(table: pa.Table, day: int) -> str:
    """Return a day after the first one of a table."""
    first = datetime.fromisoformat(pc.min(table["date"]).as_py())
    return f"{first + timedelta(days=day):%Y-%m-%d}"
