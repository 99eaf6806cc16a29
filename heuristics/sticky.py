"""``sticky``: keep what is claimed, give out the rest, move while it evens out."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import even_out, give_out, standing_of
from heuristics.claim_history import must_revoke, previous_owners, wanted_claims
from heuristics.constrained_sticky import ConstrainedStickyAssignor
from heuristics.order import looked_up, places_of, text_order
from heuristics.rack_constrained import rack_constrained
from heuristics.rack_evening import give_out_near
from heuristics.rack_locality import Reach, near_owners, telling_reach
from heuristics.takers import by_subscribers, takers_of
from rebalance import NOBODY, Assignment, Instance, Int32


class StickyAssignor:
    """Kafka's sticky assignor as it ships today: equal and mixed subscriptions.

    Follows ``AbstractStickyAssignor`` (KIP-54, KIP-341, KIP-881), and has been held
    against Kafka 4.4.0 and 3.9.2. Equal subscriptions go the way of
    `ConstrainedStickyAssignor`, mixed ones that of ``GeneralAssignmentBuilder``:

    1. every owner keeps what it owns, by the instance's claim rule;
    2. the rest, topics of fewest subscribers first, then by topic and number, goes to
       the subscriber with the least load, of equal loads the least member id;
    3. in the same order, over and over: a partition whose holder has two or more above
       its previous owner, by the newest of the claims older than the group's newest,
       goes back to that one; else, if its holder has two or more above the least
       loaded subscriber, to that one. If before a partition of the same topic went
       from the taker to who had this one first, that one goes back in its stead;
    4. first with the partitions of step 2 alone until nothing moves, unless somebody
       has left a topic of which it owned a partition; then with all.

    Racks count if a member is on a rack of a replica, and not all partitions have
    replicas on the same racks. Then nobody keeps what has no replica on its rack, as if
    it had left the topic, and before step 2, or before the rest is dealt out, each
    partition goes to those on a rack of its own in the same way
    (`heuristics.rack_constrained`, `heuristics.rack_evening`). What is far goes again
    in every rebalance, so an answer need not be left alone by the next. A fault, kept:
    steps 3 and 4 do not look at racks (upstream looks, and moves all the same).

    KIP-54 sets aside what cannot move, partitions and members, and adds it back in its
    last step; and upstream ends as soon as nothing more can be gained. Neither makes a
    difference, so neither is here (the slow walk of the tests has both).

    Ties that upstream leaves to hash order: of previous owners of one generation the
    least member id; of several partitions that might go back the lowest number.

    Not copied, since they are faults:

    - one goes back in another's stead only if who gives it has two or more above the
      taker. Upstream does not ask, so that loads may grow apart and its loop need not
      end; here every move lowers the sum of squares of the loads;
    - upstream's last step (step 5's revert), which takes all moves back if its score
      has not fallen: here every move lowers the score, so there is nothing to take
      back. At the end no single transfer evens two members out (KIP-54 balanced);
    - who claimed a partition before must still subscribe, or it gets nothing back
      (upstream gives it the partition all the same, or crashes);
    - what lies beyond a topic's end is not claimed (upstream assigns it, and others
      twice, or raises);
    - a newer claim by a member that has left the topic does not void an older one;
    - of equal subscriptions, the newest claim stands though two older ones are of one
      generation (upstream may void it, by hash order);
    - a member without subscription makes subscriptions mixed (upstream may pass over
      it, and give it partitions);
    - the newest generation is this rebalance's (upstream remembers earlier ones).

    Members that differ only in topics that do not exist count as equal here; upstream
    sends them down its general path. Left out: nothing.
    """

    name = "sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, give out, even out."""
        return sticky_assignment(instance)


def sticky_assignment(instance: Instance, *, may_revoke: bool = True) -> Assignment:
    """Assign as `StickyAssignor`.

    Parameters
    ----------
    instance : Instance
    may_revoke : bool
        Whether racks may take from owners, and mixed subscriptions; if not, racks do
        not count, and step 4 ends with the partitions of step 2.
    """
    reach = telling_reach(instance) if may_revoke else None
    constrained = ConstrainedStickyAssignor()
    if constrained.refuses(instance) is not None:
        return Assignment(assignee=_evened(instance, reach, may_revoke=may_revoke))
    if reach is None:
        return constrained.assign(instance)
    return Assignment(assignee=rack_constrained(instance, reach))


def _evened(instance: Instance, reach: Reach | None, *, may_revoke: bool) -> Int32:
    """Go the general path."""
    order = text_order(instance.members)
    takers = takers_of(instance, order)
    topics = by_subscribers(instance, takers)
    wanted = wanted_claims(instance)
    previous = places_of(order, previous_owners(instance, wanted))
    kept = instance.owner if reach is None else near_owners(instance.owner, reach)
    is_far = bool((kept != instance.owner).any())
    now = standing_of(places_of(order, kept), members=order.size)
    was_free = now.holder == NOBODY
    if reach is not None:
        give_out_near(now, topics, takers, instance.topic_offsets, reach)
    give_out(now, topics, takers, instance.topic_offsets)
    if not (is_far or must_revoke(instance, wanted)):
        even_out(now, previous, was_free, topics, takers, instance.topic_offsets)
    if may_revoke:
        everything = np.ones_like(was_free)
        even_out(now, previous, everything, topics, takers, instance.topic_offsets)
    return looked_up(order.astype(np.int32), now.holder)
