"""The log of groups of a running cluster, compared with the marks of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.nights.history_store import HistoryStore
from pipeline.nights.store_state import ANOTHER
from rebalance import SourceError

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import ClusterIdentity, LogRange, OffsetsLog


def checked_log(
    store: HistoryStore, log: OffsetsLog
) -> tuple[ClusterIdentity, list[LogRange]]:
    """Return the identity of a log, and the offsets of each of its partitions.

    Raises
    ------
    OutsideError
        If the cluster cannot be read now.
    SourceError
        If it is another cluster, or its log was created again, or cut off.
    """
    from pipeline.live import read_identity  # noqa: PLC0415

    identity = read_identity(log)
    store.state.check_log(identity.cluster, identity.topic, store.shown)
    found = log.bounds()
    ends = {bound.partition: bound.end for bound in found}
    for partition, mark in store.state.marks.items():
        if (end := ends.get(partition, 0)) < mark.next:
            raise SourceError(
                f"partition {partition} of __consumer_offsets ends at offset "
                f"{end:,}, but was read up to {mark.next:,}: it was created again, "
                f"or cut off; {ANOTHER}",
                source=log.server,
            )
    return identity, found
