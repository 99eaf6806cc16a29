"""``uniform``: the group coordinator's uniform assignor (KIP-848)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.group_columns import (
    Columns,
    GroupColumns,
    columns_of,
    common_topics,
    is_mixed,
)
from heuristics.uniform_mixed import evened
from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel


class UniformAssignor:
    """Balanced loads, then few moves: by quotas, or by loads for unequal subscriptions.

    Follows ``org.apache.kafka.coordinator.group.assignor.UniformAssignor`` (unchanged
    since 4.1; before, the first r members had q + 1 regardless of ownership), and
    equals that of Kafka 4.4.0 on random groups, up to names. With equal subscriptions,
    its ``UniformHomogeneousAssignmentBuilder``: of P partitions over M members, q each
    and a remainder of r,

    1. member by member, each keeps its first q + 1 owned partitions while fewer than r
       have q + 1, and q after that; it gives up the additional one if it owns less,
       unless so few members follow that all of them must have it;
    2. partitions that no member owned are assigned by topic and number, then those that
       exceeded the quotas, owner by owner: each member in turn is filled completely.

    With heterogeneous subscriptions, its ``UniformHeterogeneousAssignmentBuilder``
    (`heuristics.uniform_mixed`).

    Ties: members by member id, topics and owned partitions by topic and number.
    Upstream uses the hash of member ids, and topic ids, which are random, so its
    answers equal these up to names. Owners follow the instance's claim rule; a
    coordinator stores them.

    Nothing is omitted: racks (removed by KAFKA-16694) and instance ids do not count
    upstream. Not copied: upstream raises an error if a member subscribes to a topic
    that does not exist. Members that differ only in such topics count as equal here;
    upstream uses its path for heterogeneous subscriptions. Known faults, kept: see
    there.
    """

    name = "uniform"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Assign by quotas if subscriptions are equal, else balance by loads."""
        return Assignment(assignee=uniform(columns_of(instance), instance.owner))


@kernel
def uniform(columns: Columns, owner: Int32) -> Int32:
    """Assign by quotas if subscriptions are equal, else balance by loads."""
    group = GroupColumns(*columns)
    if is_mixed(group.member_class):
        return evened(group, owner)
    if group.members.size == 0:
        return np.full(owner.size, NOBODY, dtype=np.int32)
    return _counted(owner, group.members, common_topics(group), group.topic_offsets)


class _UniformQuotas(NamedTuple):
    """Partitions that members keep and still receive, int64 (M,) by member index."""

    owned: Int64
    keep: Int64
    need: Int64


@kernel
def _counted(
    owner: Int32, members: Int64, topics: Int64, topic_offsets: Int64
) -> Int32:
    """Keep up to the quotas, then fill the members with the rest."""
    quotas = _quotas(owner, members, topics, topic_offsets)
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    rows = _rest(assignee, owner, quotas, members, topics, topic_offsets)
    n_served = 0
    for m in members:
        until = n_served + quotas.need[m]
        assignee[rows[n_served:until]] = m
        n_served = until
    return assignee


@kernel
def _quotas(
    owner: Int32, members: Int64, topics: Int64, topic_offsets: Int64
) -> _UniformQuotas:
    n_partitions = (topic_offsets[topics + 1] - topic_offsets[topics]).sum()
    quota, n_extra = divmod(n_partitions, members.size)
    owned = np.zeros(members.size, dtype=np.int64)
    for m in owner:
        if m != NOBODY:
            owned[m] += 1
    keep, need = np.zeros_like(owned), np.zeros_like(owned)
    n_following = members.size
    for m in members:
        takes_extra = n_extra > 0 and (owned[m] > quota or n_following <= n_extra)
        n_extra -= 1 if takes_extra else 0
        n_following -= 1
        room = quota + (1 if takes_extra else 0)
        keep[m] = min(owned[m], room)
        need[m] = room - keep[m]
    return _UniformQuotas(owned, keep, need)


@kernel
def _rest(
    assignee: Int32,
    owner: Int32,
    quotas: _UniformQuotas,
    members: Int64,
    topics: Int64,
    topic_offsets: Int64,
) -> Int64:
    """Keep each owner's first rows; list the rest: unowned first, then by owner."""
    rows = np.empty(quotas.need.sum(), dtype=np.int64)
    n_open = rows.size - (quotas.owned - quotas.keep).sum()
    room, at = quotas.keep.copy(), np.empty(members.size, dtype=np.int64)
    n_listed = n_open
    for m in members:
        at[m] = n_listed
        n_listed += quotas.owned[m] - quotas.keep[m]
    n_listed = 0
    for t in topics:
        for row in range(topic_offsets[t], topic_offsets[t + 1]):
            m = owner[row]
            if m == NOBODY:
                rows[n_listed] = row
                n_listed += 1
            elif room[m] > 0:
                assignee[row] = m
                room[m] -= 1
            else:
                rows[at[m]] = row
                at[m] += 1
    return rows
