"""Real partition numbers for a plan: owners first, then the rest in order."""

from __future__ import annotations

import numpy as np
from numba import njit

from rebalance.claims import NOBODY
from solver.exact.min_cost_flow import Int32, Int64
from solver.exact.owned_counts import OwnedCounts
from solver.exact.reduced_instance import OUTSIDE, ReducedInstance
from solver.exact.stickiest import Plan


@njit(cache=True)
def materialize(
    owner: Int32,
    topic_offsets: Int64,
    reduced: ReducedInstance,
    owned: OwnedCounts,
    plan: Plan,
) -> Int32:
    """Give every partition of the reduced topics to a member.

    Ties are settled by number: an owner that keeps some of its partitions keeps the
    lowest; what is left goes to classes, and within a class to members, in order.

    Returns
    -------
    int32 (P,)
        -1 for partitions that nobody subscribes to.
    """
    assignee = np.full(owner.size, NOBODY, np.int32)
    quota = np.zeros(reduced.member_class.size, np.int32)
    members_first, members = _members_by_class(reduced)
    next_member = members_first[:-1].copy()
    given = np.zeros(reduced.member_class.size, np.int32)
    entries_first, entries = _entries_by_topic(reduced)
    class_of_entry = _class_of_entry(reduced)
    for t in range(reduced.topics.size):
        for pair in range(owned.first[t], owned.first[t + 1]):
            quota[owned.member[pair]] = plan.kept[pair]
        entry = entries_first[t]
        left = np.int32(0)
        start = topic_offsets[reduced.topics[t]]
        for p in range(start, topic_offsets[reduced.topics[t] + 1]):
            m = owner[p]
            if m != NOBODY and quota[m] > 0:
                quota[m] -= 1
                assignee[p] = m
                continue
            while left == 0:
                left = plan.to_class[entries[entry]]
                k = class_of_entry[entries[entry]]
                entry += 1
            left -= 1
            while (
                given[members[next_member[k]]]
                == plan.to_member[members[next_member[k]]]
            ):
                next_member[k] += 1
            m = members[next_member[k]]
            given[m] += 1
            assignee[p] = m
    return assignee


@njit(cache=True)
def _members_by_class(reduced: ReducedInstance) -> tuple[Int64, Int32]:
    """List the members of each class in order."""
    first = np.zeros(reduced.class_size.size + 1, np.int64)
    for k in range(reduced.class_size.size):
        first[k + 1] = first[k] + reduced.class_size[k]
    free = first[:-1].copy()
    members = np.empty(first[-1], np.int32)
    for m in range(reduced.member_class.size):
        k = reduced.member_class[m]
        if k != OUTSIDE:
            members[free[k]] = m
            free[k] += 1
    return first, members


@njit(cache=True)
def _entries_by_topic(reduced: ReducedInstance) -> tuple[Int64, Int64]:
    """List the places in ``reduced.wanted`` of each topic, class by class."""
    first = np.zeros(reduced.supply.size + 1, np.int64)
    for t in reduced.wanted:
        first[t + 1] += 1
    for t in range(reduced.supply.size):
        first[t + 1] += first[t]
    free = first[:-1].copy()
    entries = np.empty(reduced.wanted.size, np.int64)
    for i in range(reduced.wanted.size):
        t = reduced.wanted[i]
        entries[free[t]] = i
        free[t] += 1
    return first, entries


@njit(cache=True)
def _class_of_entry(reduced: ReducedInstance) -> Int32:
    of_entry = np.empty(reduced.wanted.size, np.int32)
    for k in range(reduced.class_size.size):
        of_entry[reduced.first[k] : reduced.first[k + 1]] = k
    return of_entry
