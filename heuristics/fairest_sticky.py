"""``fairest-sticky``: owners keep all; the rest is balanced greedily (KIP-54)."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import assign_free, balance_loads, balancing_state_of
from heuristics.eligible_members import by_subscribers, eligible_members_of
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.order import looked_up, places_of
from rebalance import NOBODY, Assignment, Instance, Int32, kernel


class FairestStickyAssignor:
    """Stickiness before balance: no owner that subscribes loses a partition.

    KIP-54 lists it among its alternatives, "sticky yet fair or fairest sticky":

    1. every owner keeps its claims on topics of its subscription, by the instance's
       claim rule;
    2. the rest is assigned greedily: topics with the fewest subscribers first, then by
       topic and number, to the subscriber with the smallest load; ties: least member
       id;
    3. in the same order, repeatedly, a partition of step 2 whose holder has at least
       two partitions more than the least loaded subscriber moves there, until nothing
       moves.

    The KIP gives no steps; these are the steps of `StickyAssignor` that do not change
    owned partitions. No move is needless, because there are none. Known fault, kept: a
    member that joins when every partition is owned gets nothing.
    """

    name = "fairest-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, assign greedily, then balance the result."""
        columns = columns_of(instance)
        return Assignment(assignee=fairest_sticky(columns, instance.owner))


@kernel
def fairest_sticky(columns: Columns, owner: Int32) -> Int32:
    """Let owners keep all, assign greedily, then balance the result."""
    group = GroupColumns(*columns)
    eligible = eligible_members_of(group)
    topics = by_subscribers(group.topics, eligible)
    holder = places_of(group.members, owner)
    state = balancing_state_of(holder, group.members.size)
    was_free = holder == NOBODY
    assign_free(state, topics, eligible, group.topic_offsets)
    nobody = np.full_like(holder, NOBODY)
    balance_loads(state, nobody, was_free, topics, eligible, group.topic_offsets)
    return looked_up(group.members, holder)
