"""Rack matching of ``range`` before it cuts ranges (KIP-881).

Follows KIP-881 and ``RangeAssignor.assignWithRackMatching`` of Kafka 4.4.0 and 3.9.2.
The remaining partitions are assigned by ranges; the quotas hold for both passes
together.
"""

from __future__ import annotations

import numpy as np

from heuristics.eligible_members import EligibleMembers
from heuristics.group_columns import GroupColumns
from heuristics.rack_locality import NONE, RackLocality
from rebalance import NOBODY, Bools, Int32, Int64, borrowing_kernel, kernel


@kernel
def rack_matched(
    group: GroupColumns, locality: RackLocality, eligible: EligibleMembers
) -> Int32:
    """Assign the partitions that can be matched by rack.

    Returns
    -------
    int32 (P,)
        Member of each partition; -1: assigned by ranges. Empty if no topic has both a
        subscriber and a replica on one rack, and replicas on different racks.
    """
    kind = _kinds(group)
    by_kind = np.argsort(kind, kind="mergesort")
    bounds = _bounds(kind[by_kind])
    needs = _needing(by_kind, bounds, eligible, group.topic_offsets, locality)
    if not needs.any():
        return np.empty(0, dtype=np.int32)
    return _matched(by_kind, bounds, needs, eligible, group.topic_offsets, locality)


@kernel
def _bounds(ascending: Int64) -> Int64:
    """Return the starts of equal numbers, and the end."""
    starts = np.ones(ascending.size + 1, dtype=np.bool_)
    starts[1:-1] = ascending[1:] != ascending[:-1]
    return np.flatnonzero(starts)


@kernel
def _kinds(group: GroupColumns) -> Int64:
    """Return the equivalence classes of topics with equal size and subscribers.

    Starts from the sizes and refines by each subscription class in turn: linear.
    """
    class_offsets, class_topics = group.class_offsets, group.class_topics
    sizes = np.diff(group.topic_offsets)
    kind = np.searchsorted(np.unique(sizes), sizes)
    is_used = np.zeros(class_offsets.size - 1, dtype=np.bool_)
    is_used[group.member_class] = True
    n_kinds = kind.size + class_topics.size
    split_by = np.full(n_kinds, NONE, dtype=np.int64)
    split_to = np.empty(n_kinds, dtype=np.int64)
    n_used = kind.size
    for k in np.flatnonzero(is_used):
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            old = kind[t]
            if split_by[old] != k:
                split_by[old] = k
                split_to[old] = n_used
                n_used += 1
            kind[t] = split_to[old]
    return kind


@kernel
def _needing(
    by_kind: Int64,
    bounds: Int64,
    eligible: EligibleMembers,
    topic_offsets: Int64,
    locality: RackLocality,
) -> Bools:
    """Return the topics for which racks matter."""
    needs = np.zeros(by_kind.size, dtype=np.bool_)
    for b in range(bounds.size - 1):
        topics = by_kind[bounds[b] : bounds[b + 1]]
        of_subscribers = np.zeros(locality.n_racks + 1, dtype=np.bool_)
        first, last = eligible.first[topics[0]], eligible.last[topics[0]]
        for place in eligible.places[first:last]:
            of_subscribers[locality.member[eligible.order[place]]] = True
        of_subscribers[locality.n_racks] = False
        if not of_subscribers.any():
            continue
        for t in topics:
            needs[t] = _differs(
                topic_offsets[t], topic_offsets[t + 1], of_subscribers, locality
            )
    return needs


@kernel
def _differs(
    start: int, end: int, of_subscribers: Bools, locality: RackLocality
) -> bool:
    """Return whether racks match, and some rows lack one of the rows' racks."""
    of_rows = np.zeros(locality.n_racks + 1, dtype=np.bool_)
    entries = locality.racks[locality.offsets[start] : locality.offsets[end]]
    of_rows[entries] = True
    if not (of_rows & of_subscribers).any():
        return False
    return bool(entries.size < of_rows.sum() * (end - start))


@kernel
def _matched(
    by_kind: Int64,
    bounds: Int64,
    needs: Bools,
    eligible: EligibleMembers,
    topic_offsets: Int64,
    locality: RackLocality,
) -> Int32:
    """Match the topics of one class together, and those alone that need racks."""
    assignee = np.full(topic_offsets[-1], NOBODY, dtype=np.int32)
    for b in range(bounds.size - 1):
        topics = by_kind[bounds[b] : bounds[b + 1]]
        t = topics[0]
        members = eligible.order[eligible.places[eligible.first[t] : eligible.last[t]]]
        if members.size == 0:
            continue
        if topics.size > 1:
            size = topic_offsets[t + 1] - topic_offsets[t]
            _match_together(assignee, topic_offsets[topics], size, members, locality)
        elif needs[t]:
            _match_alone(
                assignee, topic_offsets[t], topic_offsets[t + 1], members, locality
            )
    return assignee


@kernel
def _match_alone(
    assignee: Int32, start: int, end: int, members: Int64, locality: RackLocality
) -> None:
    """Give each member in turn the first free rows on its rack, up to its quota."""
    quota, n_extra = divmod(end - start, members.size)
    head, link, row = _rows_by_rack(start, end, locality)
    for m in members:
        room = quota + (1 if n_extra > 0 else 0)
        if room == 0:
            break
        rack = locality.member[m]
        n_given, entry = 0, head[rack]
        while n_given < room and entry != NONE:
            if assignee[row[entry]] == NOBODY:
                assignee[row[entry]] = m
                n_given += 1
            entry = link[entry]
        head[rack] = entry  # no other member can receive earlier entries
        if n_given > quota:
            n_extra -= 1


@kernel
def _rows_by_rack(
    start: int, end: int, locality: RackLocality
) -> tuple[Int64, Int64, Int64]:
    """List the rows by rack, ascending: first entry, next entry, row."""
    first = locality.offsets[start]
    n_entries = locality.offsets[end] - first
    head = np.full(locality.n_racks + 1, NONE, dtype=np.int64)
    link = np.empty(n_entries, dtype=np.int64)
    row = np.empty(n_entries, dtype=np.int64)
    for p in range(end - 1, start - 1, -1):
        for e in range(locality.offsets[p], locality.offsets[p + 1]):
            rack, entry = locality.racks[e], e - first
            link[entry], head[rack], row[entry] = head[rack], entry, p
    return head, link, row


@kernel
def _match_together(
    assignee: Int32, starts: Int64, size: int, members: Int64, locality: RackLocality
) -> None:
    """Assign a number of all topics to the first member on a rack of all its rows.

    Co-partitioning precedes racks: a number without such a member stays free in all
    topics.
    """
    quota, n_extra = divmod(size, members.size)
    head, link = _members_by_rack(members, locality)
    n_given = np.zeros(members.size, dtype=np.int64)
    n_topics = np.zeros(locality.n_racks + 1, dtype=np.int64)
    for number in range(size):
        _count_racks(n_topics, starts + number, locality, 1)
        best = members.size
        p = starts[0] + number
        for rack in locality.racks[locality.offsets[p] : locality.offsets[p + 1]]:
            if n_topics[rack] < starts.size:
                continue
            i, most = head[rack], quota + (1 if n_extra > 0 else 0)
            while i != NONE and n_given[i] >= most:
                i = link[i]
            head[rack] = i  # room never increases
            if i != NONE:
                best = min(best, i)
        _count_racks(n_topics, starts + number, locality, -1)
        if best == members.size:
            continue
        assignee[starts + number] = members[best]
        n_given[best] += 1
        if n_given[best] > quota:
            n_extra -= 1


@borrowing_kernel
def _count_racks(
    n_topics: Int64, rows: Int64, locality: RackLocality, step: int
) -> None:
    for p in rows:
        for rack in locality.racks[locality.offsets[p] : locality.offsets[p + 1]]:
            n_topics[rack] += step


@kernel
def _members_by_rack(members: Int64, locality: RackLocality) -> tuple[Int64, Int64]:
    """List the members by rack, in their order: first and next."""
    head = np.full(locality.n_racks + 1, NONE, dtype=np.int64)
    link = np.empty(members.size, dtype=np.int64)
    for i in range(members.size - 1, -1, -1):
        rack = locality.member[members[i]]
        link[i], head[rack] = head[rack], i
    return head, link
