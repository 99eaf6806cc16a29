"""``range``: every topic cut into contiguous ranges, one a subscriber."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.order import member_order
from heuristics.takers import Takers, takers_of
from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32, Int64


class RangeAssignor:
    """Topic by topic, contiguous ranges in member order; the first get one more.

    Follows ``org.apache.kafka.clients.consumer.RangeAssignor`` (Kafka 4.0), static
    members first (KIP-345, `heuristics.order.member_order`). Nothing is tied.
    librdkafka 2.16 goes by instance id only between two static members and by member
    id otherwise, so its ranges are the same in another order.

    Left out: racks (KIP-881). Without racks topics of equal size and equal
    subscribers are co-partitioned, as upstream's are. Known fault, kept: every topic
    favours the same members, so with many small topics the last may get nothing.
    """

    name = "range"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Cut every topic into ranges."""
        takers = takers_of(instance, member_order(instance))
        return Assignment(assignee=_ranges(takers, instance.topic_offsets))


@njit(cache=True)
def _ranges(takers: Takers, topic_offsets: Int64) -> Int32:
    """Give taker i of a topic floor(size / takers) rows, one more if i < remainder."""
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    for t in range(topic_offsets.size - 1):
        places = takers.places[takers.first[t] : takers.last[t]]
        row, end = topic_offsets[t], topic_offsets[t + 1]
        if places.size == 0:
            continue
        quota, remainder = divmod(end - row, places.size)
        for i in range(min(places.size, end - row)):
            stop = row + quota + (1 if i < remainder else 0)
            assignee[row:stop] = takers.order[places[i]]
            row = stop
    return assignee
