"""Lag from committed offsets and log ends (KIP-169).

The rule is that of KIP-169 (``computePartitionLag`` of
grantneale/kafka-lag-based-assignor 2.0.0): the number of records from the committed
offset to the log end. If nothing is committed, lag starts where a consumer would start,
according to ``auto.offset.reset``.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import numpy as np

from rebalance.claims import Int64

NOT_COMMITTED: Final = -1


class OffsetReset(Enum):
    """Start of a consumer without a committed offset (``auto.offset.reset``)."""

    EARLIEST = "earliest"
    """At the log start: all records count."""

    LATEST = "latest"
    """At the log end: no records count. Kafka's default."""

    NONE = "none"
    """The consumer raises an error. KIP-169 counts as for ``earliest``."""


def lag_of(
    committed: Int64, earliest: Int64, latest: Int64, reset: OffsetReset
) -> Int64:
    """Count the records that each partition's consumer has not read.

    The lag of an offset beyond the log end is 0. The lag of an offset before the log
    start counts from the start, because deleted records are not read; KIP-169 counts
    these as well.

    Parameters
    ----------
    committed : int64 (P,)
        Offset to be read next; `NOT_COMMITTED` if there is none.
    earliest, latest : int64 (P,)
        Offsets of the log's first record and of the next to be written.
    reset : OffsetReset

    Returns
    -------
    int64 (P,)
        Records, none negative.
    """
    begin = latest if reset is OffsetReset.LATEST else earliest
    start = np.where(committed == NOT_COMMITTED, begin, committed)
    lag: Int64 = np.maximum(latest - np.maximum(start, earliest), 0)
    return lag
