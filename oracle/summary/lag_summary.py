"""Peak lag above its bound in percent, and medians of it from mergeable histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import Column, equals, known

_EXACT: Final = 1000
"""Percent below this are exact; above, they have three significant digits."""
_MOST: Final = 10.0**18


def lag_known(rows: pa.Table | pa.RecordBatch) -> Column:
    """Return whether the answer is valid and its lag can be compared."""
    is_known = known(rows["peak_lag"], rows["peak_lag_bound"])
    return pc.and_(equals(rows["verdict"], "valid"), is_known)


def percent_above(rows: pa.Table | pa.RecordBatch) -> pa.Array:
    """Return the percentage, rounded up, by which peak lag exceeds its bound, int64.

    From 1,000 on it is rounded up to three significant digits, so that a histogram has
    few different values.
    """
    bound = _doubles(rows["peak_lag_bound"])
    above = _doubles(rows["peak_lag"]) - bound
    # If the bound is 0, so is the peak lag; the maximum avoids a division by 0.
    percent = np.minimum(np.ceil(100 * above / np.maximum(bound, 1)), _MOST)
    large = percent >= _EXACT
    unit = 10 ** (np.floor(np.log10(percent[large])) - 2)
    percent[large] = np.ceil(percent[large] / unit) * unit
    return pa.array(percent.astype(np.int64))


def medians(histogram: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the median per key, of two the upper one, and the number of values.

    The histogram has ``keys``, ``percent``, and ``rebalances``, the number of that
    value; the result has ``keys``, ``known``, ``at_bound`` (values of 0), and
    ``median``.
    """
    order = [(name, "ascending") for name in (*keys, "percent")]
    rows = histogram.sort_by(order).combine_chunks()
    starts = np.flatnonzero(_changes(rows, keys))
    sizes = rows["rebalances"].to_numpy()
    totals = np.add.reduceat(sizes, starts)
    before = np.cumsum(sizes)
    offsets = np.concatenate([[0], before[starts[1:] - 1]])
    middle = np.searchsorted(before, offsets + totals // 2, side="right")
    at_bound = np.where(rows["percent"].to_numpy() == 0, sizes, 0)
    found = rows.take(pa.array(starts))
    columns = {
        "known": pa.array(totals),
        "at_bound": pa.array(np.add.reduceat(at_bound, starts)),
        "median": rows["percent"].take(pa.array(middle)),
    }
    return pa.table({name: found[name] for name in keys} | columns)


def _changes(rows: pa.Table, keys: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return whether a row starts a new key; the rows are sorted."""
    changed = np.zeros(len(rows), dtype=np.bool_)
    changed[:1] = True
    for name in keys:
        codes = pc.dictionary_encode(rows[name], null_encoding="encode")
        numbers = codes.combine_chunks().indices.to_numpy()
        changed[1:] |= numbers[1:] != numbers[:-1]
    return changed


def _doubles(column: Column) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = np.asarray(column.cast(pa.float64(), safe=False))
    return numbers
