"""Lower bound on the transfers that balance loads, from the balance score."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = pa.Array | pa.ChunkedArray


def least_transfers(score: Column, score_least: Column, members: Column) -> Column:
    """Return the least number of partitions to transfer for balanced loads.

    A transfer between two of m members lowers the balance score by at most 2 (m - 1).

    Parameters
    ----------
    score, score_least : int64 (N,)
        Of the answer and of the optimum; null: not known.
    members : integers (N,)

    Returns
    -------
    int64 (N,)
    """
    gap = pc.subtract(score, score_least)
    per_transfer = pc.max_element_wise(
        pc.multiply(2, pc.subtract(pc.cast(members, pa.int64()), 1)), 2
    )
    rounded = pc.subtract(pc.add(gap, per_transfer), 1)
    return pc.divide(rounded, per_transfer)
