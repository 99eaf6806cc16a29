"""``range``: contiguous ranges of each topic, one per subscriber."""

from __future__ import annotations

import numpy as np

from heuristics.eligible_members import EligibleMembers, eligible_members_of
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.order import member_order
from heuristics.rack_locality import RackColumns, rack_columns_of, rack_locality_of
from heuristics.rack_matching import rack_matched
from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel


class RangeAssignor:
    """Contiguous ranges per topic in member order; the first members get one more.

    Follows ``org.apache.kafka.clients.consumer.RangeAssignor`` (unchanged since 3.5),
    and equals that of Kafka 4.4.0 and 3.9.2 on random groups; static members first
    (KIP-345, `heuristics.order.member_order`). There are no ties. librdkafka 2.16
    orders by instance id only between two static members and by member id otherwise, so
    its ranges are the same in another order.

    Racks (KIP-881) count if a subscriber and a replica of some topic share one and its
    partitions are not all on the same racks. Then, before the ranges and within the
    same quotas: topics of equal size and equal subscribers are co-partitioned first,
    each number going to the first member below its quota that is on a rack of that
    number in all of them; a topic without an equal gives each member in turn its first
    free partitions on its rack. A member without a rack, or with an empty one, matches
    every partition. The rest is assigned as without racks: co-partitioning and quotas
    hold in any case.

    Nothing is omitted. Known faults, kept: every topic favors the same members, so with
    many small topics the last members can get nothing; members without a rack take
    partitions that are on the rack of a later member; and one topic that needs racks
    makes all co-partitioned topics be matched.
    """

    name = "range"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Match by rack where racks matter, then cut each topic into ranges."""
        columns = columns_of(instance, member_order(instance))
        return Assignment(assignee=rack_range(columns, rack_columns_of(instance)))


@kernel
def rack_range(columns: Columns, racks: RackColumns) -> Int32:
    """Match by rack where racks matter, then cut each topic into ranges."""
    group = GroupColumns(*columns)
    eligible, topic_offsets = eligible_members_of(group), group.topic_offsets
    locality = rack_locality_of(racks)
    if locality.n_racks > 0:
        matched = rack_matched(group, locality, eligible)
        if matched.size > 0:
            _fill_ranges(matched, eligible, topic_offsets)
            return matched
    return ranges(eligible, topic_offsets)


@kernel
def ranges(eligible: EligibleMembers, topic_offsets: Int64) -> Int32:
    """Give subscriber i floor(size / subscribers) rows, one more if i < remainder."""
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    for t in range(topic_offsets.size - 1):
        places = eligible.places[eligible.first[t] : eligible.last[t]]
        row, end = topic_offsets[t], topic_offsets[t + 1]
        if places.size == 0:
            continue
        quota, remainder = divmod(end - row, places.size)
        for i in range(min(places.size, end - row)):
            stop = row + quota + (1 if i < remainder else 0)
            assignee[row:stop] = eligible.order[places[i]]
            row = stop
    return assignee


@kernel
def _fill_ranges(
    assignee: Int32, eligible: EligibleMembers, topic_offsets: Int64
) -> None:
    """Give each topic's open rows to its subscribers in order, up to their quotas."""
    n_given = np.zeros(eligible.order.size, dtype=np.int64)
    for t in range(topic_offsets.size - 1):
        places = eligible.places[eligible.first[t] : eligible.last[t]]
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
            m = eligible.order[place]
            had, most = n_given[m], quota + (1 if n_extra > 0 else 0)
            while n_given[m] < most and row < end:
                if assignee[row] == NOBODY:
                    assignee[row] = m
                    n_given[m] += 1
                row += 1
            n_extra -= 1 if n_given[m] > max(had, quota) else 0
        n_given[assignee[start:end]] = 0
