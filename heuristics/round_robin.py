"""``round-robin``: one partition after the other to one member after the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.order import member_order, text_order
from heuristics.takers import Takers, takers_of
from rebalance import NOBODY, Assignment, Instance, Int32, Int64


class RoundRobinAssignor:
    """Partitions by topic and number, dealt around the circle of members.

    Follows ``org.apache.kafka.clients.consumer.RoundRobinAssignor``, and has given the
    same as that of Kafka 4.4.0 and 3.9.2 on random groups; static members first
    (KIP-345, `heuristics.order.member_order`). The circle is not
    started anew with a topic; a member that does not want the topic is passed over.
    Nothing is tied, nothing left out. Known fault, kept: with mixed subscriptions the
    loads may be far apart (KIP-54, example 2).
    """

    name = "round-robin"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Deal the partitions out."""
        takers = takers_of(instance, member_order(instance))
        topics = text_order(instance.topics)
        return Assignment(assignee=_dealt(takers, topics, instance.topic_offsets))


@njit(cache=True)
def _dealt(takers: Takers, topics: Int64, topic_offsets: Int64) -> Int32:
    """Deal topic by topic; only the step into a topic has members to pass over."""
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    place = 0  # whose turn it is; may be one past the last
    for t in topics:
        places = takers.places[takers.first[t] : takers.last[t]]
        if places.size == 0 or topic_offsets[t] == topic_offsets[t + 1]:
            continue
        i = int(np.searchsorted(places, place)) % places.size
        for row in range(topic_offsets[t], topic_offsets[t + 1]):
            place = places[i]
            assignee[row] = takers.order[place]
            i = i + 1 if i + 1 < places.size else 0
        place += 1
    return assignee
