"""Lag from committed offsets and log ends (KIP-169).

The rule is KIP-169's (``computePartitionLag`` of grantneale/kafka-lag-based-assignor
2.0.0): records from the committed offset to the log's end; where nothing is committed,
from where ``auto.offset.reset`` would have the consumer begin.
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
    """At the log's start: all that is there lies ahead."""

    LATEST = "latest"
    """At the log's end: nothing lies ahead. Kafka's default."""

    NONE = "none"
    """Nowhere, it raises. KIP-169 counts as for ``earliest``."""


def lag_of(
    committed: Int64, earliest: Int64, latest: Int64, reset: OffsetReset
) -> Int64:
    """Count the records ahead of each partition's consumer.

    An offset beyond the end of the log counts 0. An offset before its start counts from
    the start, since deleted records are not read; KIP-169 counts these as well.

    Parameters
    ----------
    committed : int64 (P,)
        Offset to be read next; `NOT_COMMITTED` where there is none.
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
