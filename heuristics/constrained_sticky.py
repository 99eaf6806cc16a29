"""``constrained-sticky``: quotas for equal subscriptions (KIP-615, KAFKA-9987)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.assignor import ensure_applies
from heuristics.group_columns import (
    Columns,
    GroupColumns,
    columns_of,
    common_topics,
    is_mixed,
)
from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel


class ConstrainedStickyAssignor:
    """Keep owned partitions up to quotas, then assign the rest, in linear passes.

    Follows the constrained path of ``AbstractStickyAssignor`` as released,
    ``ConstrainedAssignmentBuilder`` of Kafka 4.4.0 and 3.9.2, without racks. With q
    partitions per member and a remainder of r, r members get q + 1:

    1. of the members that own more than q, the first r keep q + 1 and the others q;
       members that own less keep all. Each keeps its lowest numbers; among equal
       numbers, the least topic (KAFKA-16277);
    2. the rest, by topic and number, is assigned in a circle to the members below q, by
       member id, until all have q; then one each to members with q: first to those that
       had q by owning, by member id, then to the others in the order they reached q.

    KIP-615 proposed it as a separate assignor and was rejected; KAFKA-9987 added it to
    the existing ones instead. Loads and the number of kept partitions are the same in
    the proposal, the first release, and today's, which this is. In both earlier
    versions, all members with more than q kept q + 1, and if these were too many, the
    first of them lost its first partition again; owners kept whole topics; and the KIP
    filled each member in one pass, number 0 of every topic first.
    (``tests/heuristics/test_constrained_sticky.py`` has all three.)

    Ties: "the first r" are those with the least member ids; upstream uses hash order.
    Owners follow the instance's claim rule (KIP-341 as upstream since KAFKA-14639, or
    the current generation only, as before).

    Omitted: racks (KIP-881; see `heuristics.sticky.StickyAssignor`), and the
    cooperative round that withholds moving partitions (KIP-429). Members that differ
    only in topics that do not exist count as equal here; upstream uses its general path
    for them.
    """

    name = "constrained-sticky"

    def refuses(self, instance: Instance) -> str | None:
        """Refuse heterogeneous subscriptions, which need the general path (KIP-54)."""
        if is_mixed(instance.member_class):
            return "the members do not all subscribe to the same topics"
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep up to the quotas, then assign the rest.

        Raises
        ------
        InstanceError
            If subscriptions are mixed.
        """
        ensure_applies(self, instance)
        columns = columns_of(instance)
        return Assignment(assignee=constrained_sticky(columns, instance.owner))


class _Quotas(NamedTuple):
    """Numbers of partitions that each member keeps and still receives.

    Attributes
    ----------
    keep : int64 (M,)
        By member index; as `need`.
    need : int64 (M,)
        Partitions short of q after keeping.
    below : int64
        Members with a need, in order.
    at : int64
        Members that have q by owning, in order: the first to get one more.
    """

    keep: Int64
    need: Int64
    below: Int64
    at: Int64


@kernel
def constrained_sticky(columns: Columns, owner: Int32) -> Int32:
    """Keep up to the quotas, then assign the rest."""
    group = GroupColumns(*columns)
    if group.members.size == 0:
        return np.full(owner.size, NOBODY, dtype=np.int32)
    topics, topic_offsets = common_topics(group), group.topic_offsets
    due = quotas(owner, group.members, topics, topic_offsets)
    assignee = kept(owner, due.keep, topics, topic_offsets)
    rows = _open_rows(assignee, topics, topic_offsets)
    deal_rest(assignee, rows, due.need, due.below, due.at)
    return assignee


@kernel
def quotas(
    owner: Int32, members: Int64, topics: Int64, topic_offsets: Int64
) -> _Quotas:
    """Count the partitions that each member keeps and still receives."""
    n_partitions = (topic_offsets[topics + 1] - topic_offsets[topics]).sum()
    quota, n_over = divmod(n_partitions, members.size)
    owned = np.zeros(members.size, dtype=np.int64)
    for m in owner:
        if m != NOBODY:
            owned[m] += 1
    keep = np.minimum(owned, quota)
    is_over = np.zeros(members.size, dtype=np.bool_)
    for m in members:
        if n_over > 0 and owned[m] > quota:
            n_over -= 1
            keep[m] = quota + 1
            is_over[m] = True
    is_at = (owned >= quota) & ~is_over
    below = members[owned[members] < quota]
    return _Quotas(keep, np.maximum(quota - owned, 0), below, members[is_at[members]])


@kernel
def kept(owner: Int32, room: Int64, topics: Int64, topic_offsets: Int64) -> Int32:
    """Keep each owner's lowest partitions, by number, then topic, up to its quota.

    Processes all topics number by number, which is linear and needs no sorting.
    """
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    longer = topics.copy()
    n_longer, number = longer.size, 0
    while n_longer > 0:
        n_left = 0
        for t in longer[:n_longer]:
            row = topic_offsets[t] + number
            if row == topic_offsets[t + 1]:
                continue
            longer[n_left] = t
            n_left += 1
            m = owner[row]
            if m != NOBODY and room[m] > 0:
                assignee[row] = m
                room[m] -= 1
        n_longer = n_left
        number += 1
    return assignee


@kernel
def _open_rows(assignee: Int32, topics: Int64, topic_offsets: Int64) -> Int64:
    """List the free partitions, by topic and number."""
    rows = np.empty(np.count_nonzero(assignee == NOBODY), dtype=np.int64)
    n_rows = 0
    for t in topics:
        for row in range(topic_offsets[t], topic_offsets[t + 1]):
            if assignee[row] == NOBODY:
                rows[n_rows] = row
                n_rows += 1
    return rows[:n_rows]


@kernel
def deal_rest(
    assignee: Int32, rows: Int64, need: Int64, below: Int64, at: Int64
) -> None:
    """Fill the members below the quota round by round, then assign one more in turn.

    Rows with an assignee are skipped; ``need`` and ``below`` are used up.
    """
    queue = np.concatenate((at, np.empty_like(below)))
    n_queued, n_served = at.size, 0
    n_below, turn, n_left = below.size, 0, 0
    for row in rows:
        if assignee[row] != NOBODY:
            continue
        if n_below == 0:
            assignee[row] = queue[n_served]
            n_served += 1
            continue
        m = below[turn]
        assignee[row] = m
        need[m] -= 1
        turn += 1
        if need[m] > 0:
            below[n_left] = m
            n_left += 1
        else:
            queue[n_queued] = m
            n_queued += 1
        if turn == n_below:
            n_below, turn, n_left = n_left, 0, 0
