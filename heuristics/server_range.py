"""``server-range``: the group coordinator's range assignor (KIP-848)."""

from __future__ import annotations

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.order import member_order
from heuristics.range import ranges
from rebalance import Assignment, Instance, Int32, kernel


class ServerRangeAssignor:
    """Contiguous ranges per topic in member order, regardless of previous owners.

    Follows ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` (unchanged
    since 3.9; equal to Kafka 4.4.0 on random groups), its paths for equal and for
    heterogeneous subscriptions: both cut each topic in member order, static members
    first (`heuristics.order.member_order`), the first getting one more, so they are one
    path here. There are no ties: of two members with one instance id, which no
    coordinator admits, the lesser member id is first.

    Racks do not count (removed by KAFKA-16694), nor do previous owners: the sticky
    ranges of 3.7 and 3.8 were removed (KAFKA-16944) and are omitted. With equal
    subscriptions and topics of equal size, the assignment is co-partitioned, as
    upstream's is. It equals `range` for instances without racks.

    Not copied: upstream raises an error if a member subscribes to a topic that does not
    exist; here such a subscription has no effect. Known fault, kept: as with ``range``,
    every topic favors the same members.
    """

    name = "server-range"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Cut every topic into ranges."""
        columns = columns_of(instance, member_order(instance))
        return Assignment(assignee=server_range(columns))


@kernel
def server_range(columns: Columns) -> Int32:
    """Cut every topic into ranges."""
    group = GroupColumns(*columns)
    return ranges(eligible_members_of(group), group.topic_offsets)
