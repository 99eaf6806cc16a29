"""``fair``: greedy assignment and balancing, without stickiness (KIP-54, KIP-49)."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import assign_free, balance_loads, balancing_state_of
from heuristics.eligible_members import by_subscribers, eligible_members_of
from heuristics.order import looked_up, text_order
from rebalance import NOBODY, Assignment, Instance


class FairAssignor:
    """KIP-54's sticky assignor without stickiness.

    KIP-54 lists it among its alternatives: always start from an empty assignment. It is
    what KIP-49 proposed, without claims:

    1. topics with the fewest subscribers first, then by topic and number, each
       partition is assigned to the subscriber with the smallest load; ties: the least
       member id;
    2. in the same order, repeatedly, a partition whose holder has at least two
       partitions more than the least loaded subscriber moves there, until nothing
       moves.

    The result is KIP-54 balanced, because no single transfer improves balance. The
    second step is that of `StickyAssignor`, including partitions that return home.

    Known fault, kept: it does not find chains, so with heterogeneous subscriptions
    loads can be less balanced than possible, and it moves partitions needlessly.
    """

    name = "fair"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Assign greedily, then balance."""
        order = text_order(instance.members)
        eligible = eligible_members_of(instance, order)
        topics = by_subscribers(instance, eligible)
        nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        state = balancing_state_of(nobody.copy(), members=order.size)
        assign_free(state, topics, eligible, instance.topic_offsets)
        movable = np.ones(instance.n_partitions, dtype=np.bool_)
        balance_loads(state, nobody, movable, topics, eligible, instance.topic_offsets)
        return Assignment(assignee=looked_up(order.astype(np.int32), state.holder))
