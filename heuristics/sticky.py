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
    """Kafka's sticky assignor as released: equal and heterogeneous subscriptions.

    Follows ``AbstractStickyAssignor`` (KIP-54, KIP-341, KIP-881), compared with Kafka
    4.4.0 and 3.9.2. Equal subscriptions use `ConstrainedStickyAssignor`, heterogeneous
    ones the path of ``GeneralAssignmentBuilder``:

    1. every owner keeps what it owns, by the instance's claim rule;
    2. the rest is assigned greedily: topics with the fewest subscribers first, then by
       topic and number, to the subscriber with the smallest load; ties: least member
       id;
    3. in the same order, repeatedly: a partition whose holder has at least two
       partitions more than its previous owner (by the newest of the claims older than
       the group's newest) returns to that owner; else, if its holder has at least two
       more than the least loaded subscriber, it moves there. If a partition of the same
       topic moved before from the receiver to the first holder of this one, that one
       returns instead;
    4. first only with the partitions of step 2 until nothing moves, unless a member has
       left a topic of which it owned a partition; then with all.

    Racks count if a member is on a rack of a replica, and not all partitions have
    replicas on the same racks. Then a member keeps no partition without a replica on
    its rack, as if it had left the topic; and before step 2, or before the rest is
    assigned by quotas, each partition is assigned in the same way to members on a rack
    of its own (`heuristics.rack_constrained`, `heuristics.rack_balancing`). Partitions
    without a nearby member are assigned anew in every rebalance, so the next rebalance
    can change an assignment. A fault, kept: steps 3 and 4 ignore racks (upstream checks
    them, and moves nevertheless).

    KIP-54 sets aside partitions and members that cannot move, and adds them again in
    its last step; upstream also ends as soon as nothing can improve. Neither changes
    the result, so neither is here (the slow reference in the tests has both).

    Ties that upstream leaves to hash order: among previous owners of one generation,
    the least member id; among several partitions that could return, the lowest number.

    Not copied, because they are faults:

    - a partition returns home instead of another only if its giver has at least two
      partitions more than the receiver. Upstream has no such condition, so that loads
      can diverge and its loop need not terminate; here every move lowers the sum of
      squares of the loads;
    - upstream's last step (step 5's revert), which undoes all moves if its score has
      not decreased: here every move lowers the score, so there is nothing to undo. At
      the end, no single transfer improves balance (KIP-54 balanced);
    - a previous owner must still subscribe, or nothing returns to it (upstream assigns
      the partition nevertheless, or crashes);
    - a number beyond the end of a topic is not claimed (upstream assigns it, and others
      twice, or raises an error);
    - a newer claim by a member that has left the topic does not invalidate an older
      one;
    - with equal subscriptions, the newest claim holds although two older ones are of
      one generation (upstream can invalidate it, by hash order);
    - a member without subscription makes subscriptions heterogeneous (upstream can skip
      it, and assign partitions to it);
    - the newest generation is that of this rebalance (upstream remembers earlier ones).

    Members that differ only in topics that do not exist count as equal here; upstream
    uses its general path for them. Nothing is omitted.
    """

    name = "sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, assign greedily, then balance."""
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
    """Compute the general path."""
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
