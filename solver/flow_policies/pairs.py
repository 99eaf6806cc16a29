"""An instance in which topics share no members: each of them is even by itself.

Every pair of a topic and a subscriber becomes a member that wants this topic alone. The
dec-min assignments of it are those of ``per-topic`` of the given instance, and moves
and mismatches are the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebalance import Assignment, ClaimRule, Instance
from rebalance.claims import NOBODY, Int32, Int64
from solver.flow_policies.restricted import claims_of

PAIRS_MAX = 2_000_000  # members by topics; beyond, a name each is too much


class Pairs(NamedTuple):
    """The instance, and topic and member of the given one for each of its members."""

    instance: Instance
    topic: Int64
    member: Int64

    def given(self, assignment: Assignment) -> Assignment:
        """Return an assignment of it as one of the given instance."""
        assignee = assignment.assignee
        member = np.append(self.member, NOBODY)  # the last stands for nobody
        return Assignment(assignee=member[assignee].astype(np.int32))

    def prices(
        self, given: Instance, price: Int32 | Int64
    ) -> dict[str, dict[str, int]]:
        """Write prices by topic and member, those of 0 left out."""
        found: dict[str, dict[str, int]] = {}
        for pair in np.flatnonzero(price).tolist():
            topic = given.topics[self.topic[pair]]
            member = given.members[self.member[pair]]
            found.setdefault(topic, {})[member] = int(price[pair])
        return found


def pairs_of(instance: Instance) -> Pairs | None:
    """Pair topics with their subscribers; None if there are too many pairs."""
    n_members = len(instance.members)
    starts = instance.class_offsets[instance.member_class]
    lengths = instance.class_offsets[instance.member_class + 1] - starts
    if lengths.sum() > PAIRS_MAX:
        return None
    member = np.repeat(np.arange(n_members), lengths)
    within = np.arange(member.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    topic = instance.class_topics[np.repeat(starts, lengths) + within].astype(np.int64)
    order = np.lexsort((member, topic))
    topic, member = topic[order], member[order]
    code = topic * n_members + member
    asked = instance.partition_topic * np.int64(n_members) + instance.owner
    owner = np.where(instance.owner == NOBODY, NOBODY, np.searchsorted(code, asked))
    racks = instance.racks
    if racks is not None:
        racks = replace(racks, member=racks.member[member])
    return Pairs(
        replace(
            instance,
            members=tuple(f"{number:09}" for number in range(member.size)),
            member_class=topic.astype(np.int32),
            class_offsets=np.arange(len(instance.topics) + 1),
            class_topics=np.arange(len(instance.topics), dtype=np.int32),
            claims=claims_of(owner.astype(np.int32), member.size),
            claim_rule=ClaimRule.NEWEST_CLAIM,
            lag=None,
            capacity=None if instance.capacity is None else instance.capacity[member],
            racks=racks,
            instance_ids=(),
        ),
        topic,
        member,
    )
