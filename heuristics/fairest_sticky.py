"""``fairest-sticky``: whoever owns keeps, and only the rest is shared out evenly."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import even_out, give_out, standing_of
from heuristics.order import looked_up, places_of, text_order
from heuristics.takers import by_subscribers, takers_of
from rebalance import NOBODY, Assignment, Instance


class FairestStickyAssignor:
    """Stickiness before balance: no owner that subscribes loses anything.

    KIP-54 names it among its alternatives, "sticky yet fair or fairest sticky":

    1. every owner keeps what it owns and subscribes to, by the instance's claim rule;
    2. the rest, topics of fewest subscribers first, then by topic and number, goes to
       the subscriber with the least load, of equal loads the least member id;
    3. in the same order, over and over, a partition of step 2 whose holder has two or
       more above the least loaded subscriber goes to that one, until nothing moves.

    The KIP gives no steps; these are those of `StickyAssignor` as far as they touch
    nothing that is owned. No move is needless, since none is made. Known fault, kept:
    who joins when everything is owned gets nothing.
    """

    name = "fairest-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, give out, even out what was given out."""
        order = text_order(instance.members)
        takers = takers_of(instance, order)
        topics = by_subscribers(instance, takers)
        now = standing_of(places_of(order, instance.owner), members=order.size)
        was_free = now.holder == NOBODY
        give_out(now, topics, takers, instance.topic_offsets)
        nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        even_out(now, nobody, was_free, topics, takers, instance.topic_offsets)
        return Assignment(assignee=looked_up(order.astype(np.int32), now.holder))
