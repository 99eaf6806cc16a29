"""``range``: every topic cut into contiguous ranges, one a subscriber."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.order import member_order
from heuristics.rack_matching import rack_matched
from heuristics.takers import Takers, takers_of
from rebalance import NOBODY, Assignment, Instance, Int32, Int64


class RangeAssignor:
    """Topic by topic, contiguous ranges in member order; the first get one more.

    Follows ``org.apache.kafka.clients.consumer.RangeAssignor`` (the same since 3.5),
    and has given the same as that of Kafka 4.4.0 and 3.9.2 on random groups; static
    members first (KIP-345, `heuristics.order.member_order`).
    Nothing is tied. librdkafka 2.16 goes by instance id only between two static
    members and by member id otherwise, so its ranges are the same in another order.

    Racks (KIP-881) count if in some topic a subscriber and a replica share one and
    the partitions are not all on the same racks. Then, before the ranges and within
    the same quotas: topics of equal size and equal subscribers are co-partitioned
    first, each number going to the first member with room that is on a rack of that
    number in all of them; a topic without a fellow gives each member in turn its
    first open partitions on its rack. A member that tells no rack, or an empty one,
    matches every partition. What is left goes out as without racks: co-partitioning
    and quotas hold whatever the racks are.

    Nothing is left out. Known faults, kept: every topic favours the same members, so
    with many small topics the last may get nothing; members that tell no rack take
    partitions that a later member's rack holds; and that some topic needs racks makes
    all co-partitioned ones be matched, those without need too.
    """

    name = "range"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Match racks where they tell something, then cut every topic into ranges."""
        takers = takers_of(instance, member_order(instance))
        racks, matched = instance.racks, None
        if racks is not None:
            matched = rack_matched(instance, racks, takers)
        if matched is None:
            return Assignment(assignee=ranges(takers, instance.topic_offsets))
        _fill_ranges(matched, takers, instance.topic_offsets)
        return Assignment(assignee=matched)


@njit(cache=True)
def ranges(takers: Takers, topic_offsets: Int64) -> Int32:
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


@njit(cache=True)
def _fill_ranges(assignee: Int32, takers: Takers, topic_offsets: Int64) -> None:
    """Give each topic's open rows to its takers in order, up to what each may have."""
    n_given = np.zeros(takers.order.size, dtype=np.int64)
    for t in range(topic_offsets.size - 1):
        places = takers.places[takers.first[t] : takers.last[t]]
        if places.size == 0:
            continue
        start, end = topic_offsets[t], topic_offsets[t + 1]
        quota, n_extra = divmod(end - start, places.size)
        for m in assignee[start:end]:
            if m != NOBODY:
                n_given[m] += 1
                n_extra -= 1 if n_given[m] == quota + 1 else 0
        row = start
        for place in places:
            if row == end:
                break
            m = takers.order[place]
            had, most = n_given[m], quota + (1 if n_extra > 0 else 0)
            while n_given[m] < most and row < end:
                if assignee[row] == NOBODY:
                    assignee[row] = m
                    n_given[m] += 1
                row += 1
            n_extra -= 1 if n_given[m] > max(had, quota) else 0
        n_given[assignee[start:end]] = 0
