"""What a client knows about the cluster, as far as an assignor needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from oracle.plugins.joining import Joining


class Cluster(Protocol):
    """A client's metadata; both clients' have this much in common."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the numbers of a topic's partitions; None: it is not known."""
        ...


def counts_of(cluster: Cluster, joined: Iterable[Joining]) -> dict[str, int]:
    """Count the partitions of each topic that somebody wants and that is known."""
    counts = {}
    for topic in sorted({t for one in joined for t in one.subscription.topics}):
        numbers = cluster.partitions_for_topic(topic)
        if numbers is not None:
            counts[topic] = max(numbers, default=-1) + 1
    return counts
