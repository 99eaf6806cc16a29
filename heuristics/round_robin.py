"""``round-robin``: partitions assigned to members in a circle."""

from __future__ import annotations

import numpy as np

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.order import member_order
from rebalance import NOBODY, Assignment, Instance, Int32, kernel


class RoundRobinAssignor:
    """Partitions by topic and number, assigned to the members in a circle.

    Follows ``org.apache.kafka.clients.consumer.RoundRobinAssignor``, and equals that of
    Kafka 4.4.0 and 3.9.2 on random groups; static members first (KIP-345,
    `heuristics.order.member_order`). The circle does not restart at a topic; a member
    that does not subscribe to the topic is skipped. There are no ties, and nothing is
    omitted. Known fault, kept: with heterogeneous subscriptions, loads can differ
    widely (KIP-54, example 2).
    """

    name = "round-robin"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Assign the partitions in a circle."""
        columns = columns_of(instance, member_order(instance))
        return Assignment(assignee=round_robin(columns))


@kernel
def round_robin(columns: Columns) -> Int32:
    """Assign topic by topic; only the first row of a topic skips members."""
    group = GroupColumns(*columns)
    eligible, topic_offsets = eligible_members_of(group), group.topic_offsets
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    place = 0  # the next member; can be one past the last
    for t in group.topics:
        places = eligible.places[eligible.first[t] : eligible.last[t]]
        if places.size == 0 or topic_offsets[t] == topic_offsets[t + 1]:
            continue
        i = int(np.searchsorted(places, place)) % places.size
        for row in range(topic_offsets[t], topic_offsets[t + 1]):
            place = places[i]
            assignee[row] = eligible.order[place]
            i = i + 1 if i + 1 < places.size else 0
        place += 1
    return assignee
