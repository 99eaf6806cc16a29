"""Quotas for equal subscriptions with racks (KIP-881), a step of ``sticky``.

Follows ``ConstrainedAssignmentBuilder`` of ``AbstractStickyAssignor`` where members and
replicas state racks (Kafka 4.4.0 and 3.9.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.constrained_sticky import deal_rest, kept, quotas
from heuristics.group_columns import Columns, GroupColumns, common_topics
from heuristics.rack_locality import RackLocality, near_owners
from rebalance import NOBODY, Int32, Int64, borrowing_kernel, kernel


class _Open(NamedTuple):
    """Members that can still receive, by member id; ``size`` has the lists' lengths.

    Attributes
    ----------
    need : int64 (M,)
        Partitions short of q, by member.
    below, at : int64 (M,)
        Members below q; members with q, some of which can receive one more.
    size : int64 (3,)
        Number of members in ``below``, in ``at``, and of those that still receive one
        more.
    n_below, n_at : int64 (R + 1,)
        Number of members of either list per rack.
    """

    need: Int64
    below: Int64
    at: Int64
    size: Int64
    n_below: Int64
    n_at: Int64


@kernel
def rack_constrained(columns: Columns, owner: Int32, locality: RackLocality) -> Int32:
    """Keep nearby partitions within the quotas, assign nearby, then assign the rest.

    Parameters
    ----------
    columns : Columns
        With equal subscriptions and at least one member.
    owner : int32 (P,)
    locality : RackLocality
        Racks that are informative.

    Returns
    -------
    int32 (P,)
        Member of each partition, or `NOBODY` without subscribers.
    """
    group = GroupColumns(*columns)
    topics, topic_offsets = common_topics(group), group.topic_offsets
    owner = near_owners(owner, locality)
    due = quotas(owner, group.members, topics, topic_offsets)
    assignee = kept(owner, due.keep, topics, topic_offsets)
    rows = _fewest_near_first(assignee, topics, topic_offsets, locality)
    n_over = rows.size - due.need.sum()  # members that still receive one more
    now = _opened(due.need, due.below, due.at, n_over, locality)
    _deal_near(assignee, rows, now, locality)
    n_below, n_at, _ = now.size
    deal_rest(assignee, rows, now.need, now.below[:n_below], now.at[:n_at])
    return assignee


@kernel
def _fewest_near_first(
    assignee: Int32, topics: Int64, topic_offsets: Int64, locality: RackLocality
) -> Int64:
    """List free partitions by number of nearby members, then by topic and number."""
    on_rack = np.zeros(locality.n_racks + 1, dtype=np.int64)
    for rack in locality.member:
        on_rack[rack] += 1
    on_rack[locality.n_racks] = 0
    rows = np.empty(assignee.size, dtype=np.int64)
    n_near = np.zeros(assignee.size, dtype=np.int64)
    n_rows = 0
    for t in topics:
        for row in range(topic_offsets[t], topic_offsets[t + 1]):
            if assignee[row] == NOBODY:
                for rack in locality.racks[
                    locality.offsets[row] : locality.offsets[row + 1]
                ]:
                    n_near[n_rows] += on_rack[rack]
                rows[n_rows] = row
                n_rows += 1
    order = np.argsort(n_near[:n_rows], kind="mergesort")
    return rows[:n_rows][order]


@kernel
def _opened(
    need: Int64, below: Int64, at: Int64, n_over: int, locality: RackLocality
) -> _Open:
    """Return the state before any partition is assigned."""
    n_members = need.size
    waiting = np.empty(n_members, dtype=np.int64)
    queue = np.empty(n_members, dtype=np.int64)
    waiting[: below.size] = below
    n_at = at.size if n_over > 0 else 0
    queue[:n_at] = at[:n_at]
    on_below = np.zeros(locality.n_racks + 1, dtype=np.int64)
    on_at = np.zeros(locality.n_racks + 1, dtype=np.int64)
    for m in below:
        on_below[locality.member[m]] += 1
    for m in queue[:n_at]:
        on_at[locality.member[m]] += 1
    size = np.array([below.size, n_at, n_over])
    return _Open(need.copy(), waiting, queue, size, on_below, on_at)


@kernel
def _deal_near(
    assignee: Int32, rows: Int64, now: _Open, locality: RackLocality
) -> None:
    """Assign each row to the next nearby member below q; else to the first at q.

    "Next" continues in a circle after the member that received last.
    """
    turn = 0
    for row in rows:
        i = _next_near(now.below, now.size[0], now.n_below, turn, row, locality)
        if i != NOBODY:
            m = now.below[i]
            assignee[row] = m
            turn = i + 1 if not _fill(now, i, locality) else i
            turn = turn % now.size[0] if now.size[0] > 0 else 0
            continue
        i = _next_near(now.at, now.size[1], now.n_at, 0, row, locality)
        if i != NOBODY:
            assignee[row] = now.at[i]
            _top_up(now, i, locality)


@borrowing_kernel
def _next_near(
    members: Int64,
    size: int,
    on_rack: Int64,
    start: int,
    row: int,
    locality: RackLocality,
) -> int:
    """Return the next member on a rack of the row, or `NOBODY` if there is none."""
    racks = locality.racks[locality.offsets[row] : locality.offsets[row + 1]]
    n_near = 0
    for rack in racks[:-1]:  # the last is the one that is everywhere
        n_near += on_rack[rack]
    if n_near == 0:
        return NOBODY
    for step in range(size):
        i = (start + step) % size
        rack = locality.member[members[i]]
        for near in racks[:-1]:
            if near == rack:
                return int(i)
    return NOBODY


@borrowing_kernel
def _fill(now: _Open, i: int, locality: RackLocality) -> bool:
    """Count one more partition for a member below q; return whether it reached q."""
    m = now.below[i]
    now.need[m] -= 1
    if now.need[m] > 0:
        return False
    _remove(now.below, now.size, 0, i)
    now.n_below[locality.member[m]] -= 1
    if now.size[2] > 0:
        now.at[now.size[1]] = m
        now.size[1] += 1
        now.n_at[locality.member[m]] += 1
    return True


@kernel
def _top_up(now: _Open, i: int, locality: RackLocality) -> None:
    """Count one above q; after the last that is due, close the list."""
    now.n_at[locality.member[now.at[i]]] -= 1
    _remove(now.at, now.size, 1, i)
    now.size[2] -= 1
    if now.size[2] == 0:
        now.size[1] = 0
        now.n_at[:] = 0


@borrowing_kernel
def _remove(members: Int64, size: Int64, which: int, i: int) -> None:
    """Remove an entry and keep the order of the others."""
    size[which] -= 1
    for j in range(i, size[which]):
        members[j] = members[j + 1]
