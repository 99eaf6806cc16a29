"""What an assignment lacks, in partitions: needless moves and missing transfers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.summary.arrow_columns import Column, where


def needless_moves(rows: pa.Table | pa.RecordBatch, flags: Column) -> Column:
    """Return moves beyond the fewest, where the flag is true."""
    return where(flags, pc.subtract(rows["moves"], rows["moves_least"]))


def least_transfers(rows: pa.Table | pa.RecordBatch, flags: Column) -> Column:
    """Return the least number of partitions to transfer for balanced loads, as above.

    A transfer between two of m members lowers the balance score by at most 2 (m - 1).
    """
    gap = pc.subtract(rows["kip54_score"], rows["kip54_score_least"])
    per_transfer = pc.max_element_wise(
        pc.multiply(2, pc.subtract(pc.cast(rows["members"], pa.int64()), 1)), 2
    )
    rounded = pc.subtract(pc.add(gap, per_transfer), 1)
    return where(flags, pc.divide(rounded, per_transfer))
