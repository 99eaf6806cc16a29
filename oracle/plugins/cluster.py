"""The cluster metadata of a client that an assignor needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from oracle.plugins.joining import Joining


class ClientCluster(Protocol):
    """Part of a client's metadata that both clients have."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions; None if unknown."""
        ...


def counts_of(cluster: ClientCluster, joined: Iterable[Joining]) -> dict[str, int]:
    """Return the partition counts of the known topics with subscribers."""
    counts = {}
    for topic in sorted({t for member in joined for t in member.subscription.topics}):
        numbers = cluster.partitions_for_topic(topic)
        if numbers is not None:
            counts[topic] = max(numbers, default=-1) + 1
    return counts
