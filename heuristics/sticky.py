"""``sticky``: Kafka's sticky assignor (KIP-54, KIP-341, KIP-881)."""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import assign_free, balance_loads, balancing_state_of
from heuristics.claim_history import ClaimColumns, Past, claim_columns_of, past_of
from heuristics.constrained_sticky import constrained_sticky
from heuristics.eligible_members import by_subscribers, eligible_members_of
from heuristics.group_columns import Columns, GroupColumns, columns_of, is_mixed
from heuristics.order import looked_up, places_of
from heuristics.rack_balancing import assign_free_nearby
from heuristics.rack_constrained import rack_constrained
from heuristics.rack_locality import (
    RackColumns,
    RackLocality,
    is_informative,
    near_owners,
    rack_columns_of,
    rack_locality_of,
)
from rebalance import NOBODY, Assignment, Instance, Int32, kernel


class StickyAssignor:
    """Kafka's sticky assignor as released: equal and heterogeneous subscriptions.

    Follows ``AbstractStickyAssignor`` (KIP-54, KIP-341, KIP-881), compared with Kafka
    4.4.0 and 3.9.2. Equal subscriptions use `ConstrainedStickyAssignor`, heterogeneous
    ones the path of ``GeneralAssignmentBuilder``:

    1. every owner keeps its partitions, by the instance's claim rule;
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
        return Assignment(
            assignee=sticky(
                columns_of(instance),
                instance.partition_topic,
                instance.owner,
                claim_columns_of(instance),
                rack_columns_of(instance),
            )
        )


@kernel
def sticky(
    columns: Columns,
    topic: Int32,
    owner: Int32,
    claims: ClaimColumns,
    racks: RackColumns,
) -> Int32:
    """Keep, assign greedily, then balance."""
    group = GroupColumns(*columns)
    owner = owner.copy()  # writable: one signature of kernels
    past = Past(np.empty(0, dtype=np.int32), False)
    if is_mixed(group.member_class):
        past = past_of(group, topic, owner, claims)
    locality = rack_locality_of(racks)
    uses_racks = is_informative(locality, group)
    return sticky_after(columns, owner, past, locality, uses_racks, may_revoke=True)


@kernel
def sticky_after(
    columns: Columns,
    owner: Int32,
    past: Past,
    locality: RackLocality,
    uses_racks: bool,
    may_revoke: bool,
) -> Int32:
    """Assign as `StickyAssignor`, with values that are known beforehand.

    Parameters
    ----------
    past : Past
        Considered if subscriptions are heterogeneous.
    uses_racks : bool
        Whether racks are informative.
    may_revoke : bool
        Whether racks may take from owners, and mixed subscriptions; if not, racks do
        not count, and step 4 ends with the partitions of step 2.
    """
    group, uses_racks = GroupColumns(*columns), uses_racks and may_revoke
    if is_mixed(group.member_class):
        return _evened(group, owner, past, locality, uses_racks, may_revoke)
    if uses_racks:
        return rack_constrained(columns, owner, locality)
    return constrained_sticky(columns, owner)


@kernel
def _evened(
    group: GroupColumns,
    owner: Int32,
    past: Past,
    locality: RackLocality,
    uses_racks: bool,
    may_revoke: bool,
) -> Int32:
    """Compute the general path."""
    eligible, topic_offsets = eligible_members_of(group), group.topic_offsets
    topics = by_subscribers(group.topics, eligible)
    previous = places_of(group.members, past.previous)
    is_far, holder = False, places_of(group.members, owner)
    if uses_racks:
        kept = near_owners(owner, locality)
        is_far, holder = (kept != owner).any(), places_of(group.members, kept)
    state = balancing_state_of(holder, group.members.size)
    was_free = holder == NOBODY
    if uses_racks:
        assign_free_nearby(state, topics, eligible, topic_offsets, locality)
    assign_free(state, topics, eligible, topic_offsets)
    if not (is_far or past.must_revoke):
        balance_loads(state, previous, was_free, topics, eligible, topic_offsets)
    if may_revoke:
        everything = np.ones_like(was_free)
        balance_loads(state, previous, everything, topics, eligible, topic_offsets)
    return looked_up(group.members, holder)
