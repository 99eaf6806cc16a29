"""``sticky``: Kafka's sticky assignor (KIP-54, KIP-341, KIP-881)."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import assign_free, balance_loads, balancing_state_of
from heuristics.claim_history import must_revoke, previous_owners, wanted_claims
from heuristics.constrained_sticky import ConstrainedStickyAssignor
from heuristics.eligible_members import by_subscribers, eligible_members_of
from heuristics.order import looked_up, places_of, text_order
from heuristics.rack_balancing import assign_free_nearby
from heuristics.rack_constrained import rack_constrained
from heuristics.rack_locality import (
    RackLocality,
    informative_rack_locality,
    near_owners,
)
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
       from the receiver to who had this one first, that one goes back in its stead;
    4. first with the partitions of step 2 alone until nothing moves, unless somebody
       has left a topic of which it owned a partition; then with all.

    Racks count if a member is on a rack of a replica, and not all partitions have
    replicas on the same racks. Then nobody keeps what has no replica on its rack, as if
    it had left the topic, and before step 2, or before the rest is dealt out, each
    partition goes to those on a rack of its own in the same way
    (`heuristics.rack_constrained`, `heuristics.rack_balancing`). What is far goes again
    in every rebalance, so an answer need not be left alone by the next. A fault, kept:
    steps 3 and 4 do not look at racks (upstream looks, and moves all the same).

    KIP-54 sets aside what cannot move, partitions and members, and adds it back in its
    last step; and upstream ends as soon as nothing more can be gained. Neither makes a
    difference, so neither is here (the slow walk of the tests has both).

    Ties that upstream leaves to hash order: of previous owners of one generation the
    least member id; of several partitions that might go back the lowest number.

    Not copied, since they are faults:

    - a partition returns home instead of another only if its giver has at least two
      partitions more than the receiver. Upstream has no such condition, so that loads
      can diverge and its loop need not terminate; here every move lowers the sum of
      squares of the loads;
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
    locality = informative_rack_locality(instance) if may_revoke else None
    constrained = ConstrainedStickyAssignor()
    if constrained.refuses(instance) is not None:
        return Assignment(assignee=_evened(instance, locality, may_revoke=may_revoke))
    if locality is None:
        return constrained.assign(instance)
    return Assignment(assignee=rack_constrained(instance, locality))


def _evened(
    instance: Instance, locality: RackLocality | None, *, may_revoke: bool
) -> Int32:
    """Go the general path."""
    order = text_order(instance.members)
    eligible = eligible_members_of(instance, order)
    topics = by_subscribers(instance, eligible)
    wanted = wanted_claims(instance)
    previous = places_of(order, previous_owners(instance, wanted))
    kept = instance.owner if locality is None else near_owners(instance.owner, locality)
    is_far = bool((kept != instance.owner).any())
    state = balancing_state_of(places_of(order, kept), members=order.size)
    was_free = state.holder == NOBODY
    if locality is not None:
        assign_free_nearby(state, topics, eligible, instance.topic_offsets, locality)
    assign_free(state, topics, eligible, instance.topic_offsets)
    if not (is_far or must_revoke(instance, wanted)):
        balance_loads(
            state, previous, was_free, topics, eligible, instance.topic_offsets
        )
    if may_revoke:
        everything = np.ones_like(was_free)
        balance_loads(
            state, previous, everything, topics, eligible, instance.topic_offsets
        )
    return looked_up(order.astype(np.int32), state.holder)
