"""Closed form for equal subscriptions: the counting argument of KIP-615.

If all members in play subscribe to the same topics, with q = P ÷ M and r the remainder,
every member keeps up to q of its partitions, and r of those that own more keep one
beyond. Two passes over the partitions.
"""

from __future__ import annotations

import numpy as np

from rebalance import NOBODY, Int32, Int64, kernel
from solver.exact.reduced_instance import OUTSIDE, ReducedInstance


@kernel
def assign_equal(
    owner: Int32, topic_offsets: Int64, reduced: ReducedInstance
) -> tuple[Int32, Int32, Int32]:
    """Assign where all members in play, if any, are of one class.

    Ties are broken by order: of the members that own more than the quota the first r
    keep one beyond it; an owner keeps its lowest partitions; the others go to members
    in order.

    Returns
    -------
    assignee : int32 (P,)
    level : int32 (M,)
    price : int32 (M,)
        1 for a member that owns more than the level, else 0.
    """
    n_members = reduced.member_class.size
    owned = np.zeros(n_members, np.int64)
    for t in reduced.topics:
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            if owner[p] != NOBODY:
                owned[owner[p]] += 1
    keeps, receives, level, price = _quotas(reduced, owned)
    assignee = np.full(owner.size, NOBODY, np.int32)
    receiver = 0
    for t in reduced.topics:
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            m = owner[p]
            if m != NOBODY and keeps[m] > 0:
                keeps[m] -= 1
                assignee[p] = m
                continue
            while receives[receiver] == 0:
                receiver += 1
            receives[receiver] -= 1
            assignee[p] = receiver
    return assignee, level, price


@kernel
def _quotas(
    reduced: ReducedInstance, owned: Int64
) -> tuple[Int64, Int64, Int32, Int32]:
    """Split each member's load into kept and received partitions."""
    members, total = max(reduced.class_size.sum(), 1), reduced.supply.sum()
    quota, rest = total // members, total % members
    keeps = np.zeros(owned.size, np.int64)
    receives = np.zeros(owned.size, np.int64)
    level = np.zeros(owned.size, np.int32)
    price = np.zeros(owned.size, np.int32)
    for m in range(owned.size):
        if reduced.member_class[m] == OUTSIDE:
            continue
        level[m] = quota
        keeps[m] = min(owned[m], quota)
        receives[m] = quota - keeps[m]
        if owned[m] > quota:
            price[m] = 1
            if rest > 0:
                keeps[m] += 1
                rest -= 1
    for m in range(owned.size):
        if rest > 0 and reduced.member_class[m] != OUTSIDE and price[m] == 0:
            receives[m] += 1
            rest -= 1
    return keeps, receives, level, price
