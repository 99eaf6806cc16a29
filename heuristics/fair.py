"""``fair``: as even as moves one by one can make it, whoever had what."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import even_out, give_out, standing_of
from heuristics.order import looked_up, text_order
from heuristics.takers import by_subscribers, takers_of
from rebalance import NOBODY, Assignment, Instance


class FairAssignor:
    """KIP-54's sticky assignor with stickiness switched off.

    KIP-54 names it among its alternatives: always start from nothing. What KIP-49
    proposed, without claims:

    1. topics of fewest subscribers first, then by topic and number, each partition goes
       to the subscriber with the least load, of equal loads the least member id;
    2. in the same order, over and over, a partition whose holder has two or more above
       the least loaded subscriber goes to that one, until nothing moves.

    KIP-54 balanced at the end, since no single transfer evens two members out. The
    second step is that of `StickyAssignor`, swaps back included.

    Known fault, kept: it sees no chains, so mixed subscriptions may stay less even than
    they could be, and it moves what need not move.
    """

    name = "fair"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Give out, even out."""
        order = text_order(instance.members)
        takers = takers_of(instance, order)
        topics = by_subscribers(instance, takers)
        nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        now = standing_of(nobody.copy(), members=order.size)
        give_out(now, topics, takers, instance.topic_offsets)
        movable = np.ones(instance.n_partitions, dtype=np.bool_)
        even_out(now, nobody, movable, topics, takers, instance.topic_offsets)
        return Assignment(assignee=looked_up(order.astype(np.int32), now.holder))
