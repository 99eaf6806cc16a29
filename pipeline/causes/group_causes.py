"""Causes of rebalances: the differences from the rebalance before in the group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.causes import kinds
from pipeline.causes.cause_lists import CauseLists
from pipeline.causes.coded_rows import Coding
from pipeline.causes.compared import (
    MemberRows,
    Predecessors,
    member_rows,
    predecessors,
)
from pipeline.causes.group_rows import GroupRows
from pipeline.causes.growth import growth_of
from pipeline.causes.returns import returns_of
from rebalance import ABSENT, Bools, Int64


def causes_of(
    groups: GroupRows, members: pa.Table, topics: pa.Table, coding: Coding, first: int
) -> pa.ListArray:
    """Return the causes of the rebalances of whole groups.

    Parameters
    ----------
    members, topics
        Of `pipeline.causes.coded_rows.MEMBER_ROWS` and ``TOPIC_ROWS``, of the groups.
    coding
        That of their names.
    first
        Number of the first row of the groups.

    Returns
    -------
    pa.ListArray
        Of `pipeline.tables.shared_columns.CAUSES`, a list per rebalance.
    """
    people = member_rows(members, groups, first)
    before = predecessors(groups, people)
    lists = CauseLists(len(groups))
    _add_members(lists, groups, people, before, coding)
    _add_resubscribed(lists, groups, people, before, coding)
    growth = growth_of(topics, groups, people, before, coding, first)
    lists.add_topics(kinds.PARTITIONS_ADDED, *growth.added)
    lists.add_topics(kinds.TOPICS_APPEARED, *growth.appeared)
    is_known, last = before.is_known, np.arange(len(groups)) - 1
    is_other = _differ(groups.assignor, groups.assignor[last])
    lists.add(kinds.ASSIGNOR_CHANGED, np.flatnonzero(is_known & is_other))
    is_round = is_known & ~groups.is_consumer & (groups.round > 1)
    lists.add(kinds.ROUND, np.flatnonzero(is_round))
    _add_unless_changed(lists, groups, people, is_known)
    is_open = ~lists.has_any()
    lists.add(kinds.RESTLESS, np.flatnonzero(is_open & is_known))
    lists.add(kinds.UNKNOWN, np.flatnonzero(is_open & ~is_known))
    return lists.lists(coding.members, coding.topics)


def _add_members(
    lists: CauseLists,
    groups: GroupRows,
    members: MemberRows,
    before: Predecessors,
    coding: Coding,
) -> None:
    """Add the members that joined and left; those of a new group are one cause."""
    found = returns_of(groups, members, before, coding.members)
    is_start = before.is_start[members.row]
    is_new = members.is_joined & ~found.has_returned & ~is_start
    for kind, is_listed, step in (
        (kinds.STARTED, is_start, 0),
        (kinds.RETURNED, found.has_returned, 0),
        (kinds.LEFT_BRIEFLY, found.left_briefly, 1),
        (kinds.JOINED, is_new, 0),
        (kinds.LEFT, found.is_away, 1),
    ):
        lists.add_members(
            kind, members.row[is_listed] + step, members.member[is_listed]
        )
    is_left = before.is_counted & (groups.left > 0)
    lists.add(kinds.LEFT, np.flatnonzero(is_left), groups.left[is_left])


def _add_resubscribed(
    lists: CauseLists,
    groups: GroupRows,
    members: MemberRows,
    before: Predecessors,
    coding: Coding,
) -> None:
    """Add the members that subscribe to other topics, and name these topics."""
    now, then = members.subscription, members.subscription[members.before]
    has_before = (members.before != ABSENT) & before.is_known[members.row]
    place = np.flatnonzero(has_before & (now != then))
    row = members.row[place]
    lists.add_members(kinds.RESUBSCRIBED, row, members.member[place])
    changes = [*zip(then[place].tolist(), now[place].tolist(), strict=True)]
    topics = {
        (a, b): np.setxor1d(coding.topics_of(a), coding.topics_of(b))
        for a, b in set(changes)
    }
    sizes = [len(topics[change]) for change in changes]
    changed = [np.empty(0, np.int64), *(topics[change] for change in changes)]
    named = np.unique(
        np.stack((np.repeat(row, sizes), np.concatenate(changed))), axis=1
    )
    lists.name_topics(kinds.RESUBSCRIBED, *named)
    is_counted = before.is_counted & (groups.resubscribed > 0)
    rows = np.flatnonzero(is_counted)
    lists.add(kinds.RESUBSCRIBED, rows, groups.resubscribed[rows])


def _add_unless_changed(
    lists: CauseLists, groups: GroupRows, members: MemberRows, is_known: Bools
) -> None:
    """Add static members with other ids, or another leader, to rows without a cause."""
    is_open = is_known & ~lists.has_any()
    has_before = members.before != ABSENT
    is_other = has_before & (members.member != members.member[members.before])
    is_other &= is_open[members.row]
    lists.add_members(kinds.REPLACED, members.row[is_other], members.member[is_other])
    leader = _leaders(groups, members)
    is_open &= ~lists.has_any()
    is_open &= _differ(leader, leader[np.arange(len(leader)) - 1])
    rows = np.flatnonzero(is_open)
    lists.add_members(kinds.LEADER_CHANGED, rows, groups.leader[rows])


def _leaders(groups: GroupRows, members: MemberRows) -> Int64:
    """Return the seat of each leader; `ABSENT`: not known."""
    found = np.full(len(groups), ABSENT, np.int64)
    is_leader = members.member == groups.leader[members.row]
    found[members.row[is_leader]] = members.seat[is_leader]
    return found


def _differ(values: Int64, others: Int64) -> Bools:
    """Return which values are known and differ."""
    differ: Bools = (values != ABSENT) & (others != ABSENT) & (values != others)
    return differ
