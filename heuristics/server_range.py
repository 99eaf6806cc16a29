"""``server-range``: the group coordinator's range assignor (KIP-848)."""

from __future__ import annotations

from heuristics.eligible_members import eligible_members_of
from heuristics.order import member_order
from heuristics.range import ranges
from rebalance import Assignment, Instance


class ServerRangeAssignor:
    """Topic by topic, contiguous ranges in member order, whatever was owned before.

    Follows ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` (the same
    since 3.9; it has given the same as Kafka 4.4.0 on random groups), its paths for
    equal and for mixed subscriptions: both cut each topic in member order, static
    members first (`heuristics.order.member_order`), the first getting one more, so they
    are one here. Nothing is tied: of two members with one instance id, which no
    coordinator lets in, the lesser member id comes first.

    Racks do not count there (taken out by KAFKA-16694), nor do earlier owners: the
    sticky ranges of 3.7 and 3.8 were given up (KAFKA-16944), and so they are left out.
    With equal subscriptions and topics of equal size the answer is co-partitioned, as
    upstream's is. So it equals `range` where no racks are told.

    Not copied: upstream raises if somebody subscribes to a topic that does not exist;
    here such a subscription brings nothing. Known fault, kept: as of ``range``, every
    topic favours the same members.
    """

    name = "server-range"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Cut every topic into ranges."""
        eligible = eligible_members_of(instance, member_order(instance))
        return Assignment(assignee=ranges(eligible, instance.topic_offsets))
