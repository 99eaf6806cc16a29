"""The assignments that a balance allows, as columns for kernels.

A balance limits which members are eligible for a partition and how many partitions a
member holds. Counts are limited per *cell*: one cell per member, or under ``per-topic``
one per member and topic. Some cells may hold one more than their least; cells that
share such extras form a *pool* (a level of the dec-min loads; a topic). Partitions,
topics and members in play are numbered densely.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import Int32, Int64, always_compiled

END: Final = -1
"""No partition, or no member."""


class FeasibleRegion(NamedTuple):
    """Eligible members and limits; P partitions, T topics, M members, K classes.

    Members of class k are eligible for the topics
    ``class_topics[class_offsets[k]:class_offsets[k + 1]]``.
    """

    lag: Int64  # (P,)
    topic: Int32  # (P,): ascending
    class_offsets: Int64  # (K+1,)
    class_topics: Int32  # ascending within a class
    member_class: Int32  # (M,)
    class_member_offsets: Int64  # (K+1,)
    class_members: Int32  # (M,): class by class
    topic_class_offsets: Int64  # (T+1,)
    topic_classes: Int32  # classes that are eligible for a topic, topic by topic
    unit: Int64  # (M,): weight of one record of lag on the member, scale ÷ capacity
    by_topic: bool  # whether there is one cell per member and topic
    cell: Int64  # (M,): first cell; by topic in the order of the class's topics
    least: Int64  # (C,): limits of a cell's count
    most: Int64  # (C,)
    pool: Int32  # (C,)
    extra: Int64  # per pool: number of its cells that hold one more than their least


@always_compiled
def topic_position(region: FeasibleRegion, topic: int, member: int) -> int:
    """Return the position of a topic among those of the member's class, or -1."""
    k = region.member_class[member]
    start, end = region.class_offsets[k], region.class_offsets[k + 1]
    if start + topic < end and region.class_topics[start + topic] == topic:
        return int(topic)  # the class has every topic up to this one
    topics = region.class_topics[start : min(end, start + topic + 1)]
    position = np.searchsorted(topics, topic)
    is_found = position < topics.size and topics[position] == topic
    return int(position) if is_found else -1


@always_compiled
def cell_of(region: FeasibleRegion, topic: int, member: int) -> int:
    """Return the cell that counts a member's partitions of a topic."""
    if not region.by_topic:
        return int(region.cell[member])
    return int(region.cell[member]) + topic_position(region, topic, member)


def cells_of(region: FeasibleRegion, member: int) -> slice:
    """Return the range of a member's cells."""
    k = int(region.member_class[member])
    start = int(region.cell[member])
    width = region.class_offsets[k + 1] - region.class_offsets[k]
    return slice(start, start + int(width) if region.by_topic else start + 1)


def interchangeable_members(region: FeasibleRegion) -> list[list[int]]:
    """Group members of equal class, capacity and limits."""
    groups: dict[tuple[int, int, bytes], list[int]] = {}
    for c, k in enumerate(region.member_class.tolist()):
        cells = cells_of(region, c)
        limits = b"".join(
            column[cells].tobytes()
            for column in (region.least, region.most, region.pool)
        )
        groups.setdefault((k, int(region.unit[c]), limits), []).append(c)
    return list(groups.values())


def equivalence_classes(
    region: FeasibleRegion, owner: Int32 | None = None
) -> list[Int64]:
    """Group partitions of equal topic, lag and owner, the largest lag first."""
    if not region.lag.size:
        return []
    keys = (region.topic, region.topic if owner is None else owner, -region.lag)
    order = np.lexsort(keys)
    is_new = np.zeros(order.size - 1, np.bool_)
    for key in keys:
        is_new |= np.diff(key[order]) != 0
    return list(np.split(order, np.flatnonzero(is_new) + 1))


class EligibleMembers(NamedTuple):
    """The pairs of a topic and a member that is eligible for it, topic by topic."""

    offsets: Int64  # (T+1,)
    member: Int32  # (E,): class by class
    cell: Int64  # (E,)


@always_compiled
def eligible_members(region: FeasibleRegion) -> EligibleMembers:
    """List the eligible members of every topic."""
    topics = region.topic_class_offsets.size - 1
    sizes = np.diff(region.class_member_offsets)
    offsets = np.zeros(topics + 1, np.int64)
    for t in range(topics):
        start, stop = region.topic_class_offsets[t : t + 2]
        offsets[t + 1] = offsets[t] + sizes[region.topic_classes[start:stop]].sum()
    member = np.empty(offsets[-1], np.int32)
    cell = np.empty(offsets[-1], np.int64)
    end = 0
    for t in range(topics):
        start, stop = region.topic_class_offsets[t : t + 2]
        for k in region.topic_classes[start:stop]:
            first, last = region.class_member_offsets[k : k + 2]
            for c in region.class_members[first:last]:
                member[end], cell[end] = c, cell_of(region, t, c)
                end += 1
    return EligibleMembers(offsets, member, cell)


class MemberLists(NamedTuple):
    """An assignment in which a partition moves in constant time.

    The partitions of each member are a doubly linked list.
    """

    holder: Int32  # (P,)
    head: Int32  # (M,): first partition of each member, -1: none
    after: Int32  # (P,): neighbours in the holder's list, -1 at its ends
    before: Int32  # (P,)
    total: Int64  # (M,): sum of lag
    load: Int32  # (M,)
    counts: Int64  # (C,)


@always_compiled
def member_lists(region: FeasibleRegion, holder: Int32) -> MemberLists:
    """Link the partitions of each member, in ascending order."""
    members = region.unit.size
    lists = MemberLists(
        holder.copy(),
        np.full(members, END, np.int32),
        np.empty(holder.size, np.int32),
        np.empty(holder.size, np.int32),
        np.zeros(members, np.int64),
        np.zeros(members, np.int32),
        np.zeros(region.least.size, np.int64),
    )
    for p in range(holder.size - 1, -1, -1):
        _insert(region, lists, p, holder[p])
    return lists


@always_compiled
def reassign(region: FeasibleRegion, lists: MemberLists, p: int, member: int) -> None:
    """Move a partition to a member."""
    holder = lists.holder[p]
    if holder == member:
        return
    after, before = lists.after[p], lists.before[p]
    if before == END:
        lists.head[holder] = after
    else:
        lists.after[before] = after
    if after != END:
        lists.before[after] = before
    lists.total[holder] -= region.lag[p]
    lists.load[holder] -= 1
    lists.counts[cell_of(region, region.topic[p], holder)] -= 1
    _insert(region, lists, p, member)


@always_compiled
def _insert(region: FeasibleRegion, lists: MemberLists, p: int, member: int) -> None:
    head = lists.head[member]
    lists.after[p], lists.before[p] = head, END
    if head != END:
        lists.before[head] = p
    lists.head[member] = p
    lists.holder[p] = member
    lists.total[member] += region.lag[p]
    lists.load[member] += 1
    lists.counts[cell_of(region, region.topic[p], member)] += 1


@always_compiled
def peak_of(region: FeasibleRegion, total: Int64) -> int:
    """Return the largest total lag ÷ capacity, in units of 1 ÷ scale."""
    peak = 0
    for c in range(region.unit.size):
        peak = max(peak, region.unit[c] * total[c])
    return peak


@always_compiled
def peak_lag_of(region: FeasibleRegion, holder: Int32) -> int:
    """Return the peak lag of an assignment."""
    total = np.zeros(region.unit.size, np.int64)
    for p in range(holder.size):
        total[holder[p]] += region.lag[p]
    return peak_of(region, total)
