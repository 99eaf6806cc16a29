"""Assign partition numbers to a plan: owners first, the rest in order."""

from __future__ import annotations

import numpy as np

from rebalance import NOBODY, Int32, Int64, kernel
from solver.exact.reduced_instance import (
    OUTSIDE,
    OwnedCounts,
    ReducedInstance,
    group_by_key,
    row_of_entry,
)
from solver.exact.stickiest import Plan


@kernel
def materialize(
    owner: Int32,
    topic_offsets: Int64,
    reduced: ReducedInstance,
    owned: OwnedCounts,
    plan: Plan,
) -> Int32:
    """Assign every partition of the reduced topics to a member.

    Ties are broken by number: an owner that keeps some of its partitions keeps the
    lowest; the others go to classes, and within a class to members, in order.
    """
    assignee = np.full(owner.size, NOBODY, np.int32)
    to_keep = np.zeros(reduced.member_class.size, np.int32)
    inside = np.flatnonzero(reduced.member_class != OUTSIDE).astype(np.int32)
    n_classes = reduced.class_size.size
    members_first, order = group_by_key(reduced.member_class[inside], n_classes)
    members, next_member = inside[order], members_first[:-1].copy()
    received = np.zeros(reduced.member_class.size, np.int32)
    entries_first, entries = group_by_key(reduced.wanted, reduced.supply.size)
    class_of_entry = row_of_entry(reduced.first)
    for t in range(reduced.topics.size):
        for pair in range(owned.first[t], owned.first[t + 1]):
            to_keep[owned.member[pair]] = plan.kept[pair]
        entry = entries_first[t]
        left = np.int32(0)
        start = topic_offsets[reduced.topics[t]]
        for p in range(start, topic_offsets[reduced.topics[t] + 1]):
            m = owner[p]
            if m != NOBODY and to_keep[m] > 0:
                to_keep[m] -= 1
                assignee[p] = m
                continue
            # Advance to the next class that receives some of this topic ...
            while left == 0:
                left = plan.to_class[entries[entry]]
                k = class_of_entry[entries[entry]]
                entry += 1
            left -= 1
            # ... and to its next member that has not received its share of all topics.
            m = members[next_member[k]]
            while received[m] == plan.to_member[m]:
                next_member[k] += 1
                m = members[next_member[k]]
            received[m] += 1
            assignee[p] = m
    return assignee
