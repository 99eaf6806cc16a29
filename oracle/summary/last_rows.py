"""The last rebalance of each group, without a sort or a join of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_Ints = np.ndarray[Any, np.dtype[np.int64]]


def last_units(units: pa.Table) -> list[dict[str, Any]]:
    """Return the last row of each group of a table of `client_units`.

    Days come before generations, because a group that was deleted and created again
    counts from 1. Of rows without a generation, or of equal ones, the last by id is
    taken, numbers at its end by value: documents have their line in it.
    """
    group = _group_codes(units)
    rows = np.arange(len(units))
    known = pc.fill_null(units["generation"].cast(pa.int64()), -1)
    for order in (_day_ranks(units), np.asarray(known)):
        of_rows, mine = order[rows], group[rows]
        newest = np.full(int(group.max(initial=-1)) + 1, -2, np.int64)
        np.maximum.at(newest, mine, of_rows)
        rows = rows[of_rows == newest[mine]]
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for row in units.take(pa.array(rows)).to_pylist():
        key = row["cluster"], row["group_id"]
        if key not in last or _by_id(last[key]) < _by_id(row):
            last[key] = row
    return [last[key] for key in sorted(last)]


def _by_id(row: dict[str, Any]) -> tuple[int, str]:
    return len(row["drawn_id"]), row["drawn_id"]


def _group_codes(units: pa.Table) -> _Ints:
    """Return a number per row, the same for rows of one group."""
    clusters, groups = _encoded(units["cluster"]), _encoded(units["group_id"])
    codes: _Ints = _codes(groups)
    if len(clusters.dictionary) > 1:
        both = _codes(clusters) * len(groups.dictionary) + codes
        codes = np.unique(both, return_inverse=True)[1]
    return codes


def _day_ranks(units: pa.Table) -> _Ints:
    """Return the place of each row's day among all; days are ISO 8601 texts."""
    days = _encoded(units["date"])
    names = np.array(days.dictionary.to_pylist(), dtype=str)
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(names, kind="stable")] = np.arange(len(names))
    ranks: _Ints = rank[_codes(days)]
    return ranks


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return pc.dictionary_encode(column.combine_chunks())


def _codes(encoded: pa.DictionaryArray) -> _Ints:
    return np.asarray(encoded.indices).astype(np.int64)
