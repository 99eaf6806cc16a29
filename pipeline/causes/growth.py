"""Topics that have grown, or appeared, between two rebalances of a group.

The evidence is that of the assignments. A topic has grown if a larger partition number
is assigned than all that members of the group were assigned, owned, or claimed before,
if the assignment before had partitions of it, and if the instance counts more
partitions than the one before. A topic has appeared if the assignment before left it
out, although a member subscribed to it: it was created in between, or the leader had
not known it. Partitions that a cooperative round withholds are not left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.causes.coded_rows import Coding, largest
from pipeline.causes.compared import MemberRows, Predecessors
from pipeline.causes.group_rows import GroupRows
from rebalance import ABSENT, Bools, Int64


class TopicsOfRows(NamedTuple):
    """Topics of rebalances: int64 rows, and numbers of topics."""

    row: Int64
    topic: Int64


class Growth(NamedTuple):
    """Topics that have grown, and topics that have appeared."""

    added: TopicsOfRows
    appeared: TopicsOfRows


def growth_of(
    table: pa.Table,
    groups: GroupRows,
    members: MemberRows,
    before: Predecessors,
    coding: Coding,
    first: int,
) -> Growth:
    """Find the topics of rebalances of which the one before is known.

    Parameters
    ----------
    table
        Of `pipeline.causes.coded_rows.TOPIC_ROWS`, of these groups.
    first
        Number of the first row of the groups.
    """
    columns = [*map(np.asarray, largest(table).columns)]
    columns[0] = columns[0] - first
    order = np.lexsort((columns[0], columns[1], groups.group[columns[0]]))
    row, topic, assigned, shown = (values[order] for values in columns)
    is_same = np.zeros(len(row), np.bool_)
    is_same[1:] = groups.group[row[1:]] == groups.group[row[:-1]]
    is_same[1:] &= topic[1:] == topic[:-1]
    earlier = _largest_before(shown, is_same)
    is_after = is_same & (np.diff(row, prepend=ABSENT) == 1)
    had_some = is_after & (np.append(ABSENT, assigned[:-1]) != ABSENT)
    is_assigned = before.is_known[row] & (assigned != ABSENT)
    has_grown = _sums_have_grown(groups)[row]
    added = np.flatnonzero(is_assigned & (assigned > earlier) & had_some & has_grown)
    is_withheld = is_after & groups.is_cooperative[row - 1]
    new = np.flatnonzero(is_assigned & ~had_some & ~is_withheld)
    appeared = new[_were_wanted(members, coding, row[new] - 1, topic[new])]
    return Growth(*(TopicsOfRows(row[of], topic[of]) for of in (added, appeared)))


def _largest_before(values: Int64, is_same: Bools) -> Int64:
    """Return the largest value of each run before a place; `ABSENT` at its begin."""
    if not len(values):
        return values
    run = np.cumsum(~is_same)
    step = int(values.max()) + 2
    found = np.maximum.accumulate(values + run * step) - run * step
    before = np.full_like(values, ABSENT)
    before[1:] = found[:-1]
    before[~is_same] = ABSENT
    return before


def _sums_have_grown(groups: GroupRows) -> Bools:
    """Return where a row has more partitions, of as many topics, as the row before."""
    found = np.zeros(len(groups), np.bool_)
    found[1:] = groups.partitions[1:] > groups.partitions[:-1]
    found[1:] &= groups.topics[1:] == groups.topics[:-1]
    return found


def _were_wanted(
    members: MemberRows, coding: Coding, row: Int64, topic: Int64
) -> Bools:
    """Return which topics a member of a rebalance subscribed to, of pairs of both."""
    is_asked = np.isin(members.row, row)
    pairs = np.stack((members.row[is_asked], members.subscription[is_asked]))
    rows, subscriptions = np.unique(pairs, axis=1)
    wanted = [coding.topics_of(subscription) for subscription in subscriptions.tolist()]
    rows = np.repeat(rows, [*map(len, wanted)])
    topics = np.concatenate([np.empty(0, np.int64), *wanted])
    size = max(topics.max(initial=0), topic.max(initial=0)) + 1
    found: Bools = np.isin(row * size + topic, rows * size + topics)
    return found
