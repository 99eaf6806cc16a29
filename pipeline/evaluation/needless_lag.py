"""Lag of needless moves: their price for consumers, in records."""

from __future__ import annotations

import numpy as np

from rebalance import NOBODY, Int32, Int64


def needless_lag(lag: Int64, owner: Int32, assignee: Int32, needless: int) -> int:
    """Return the least lag of as many moved partitions as were moved needlessly.

    Which of its moves an assignment could have avoided is not determined, but their
    number is; at least this many records belong to them. Kernels call it compiled.

    Parameters
    ----------
    lag : int64 (P,)
        Records; empty if not known.
    owner, assignee : int32 (P,)
        Of a valid assignment.
    needless : int
        Its moves beyond the fewest, at most its moves.
    """
    if needless <= 0 or not lag.size:
        return 0
    is_moved = (owner != NOBODY) & (assignee != owner)
    return int(np.sort(lag[is_moved])[:needless].sum())
