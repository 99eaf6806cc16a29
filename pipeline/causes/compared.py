"""Comparison of each rebalance with the one before it in its group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pipeline.causes.group_rows import GroupRows
from rebalance import ABSENT, Bools, Int64

FIRST_GENERATION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRows:
    """M members of N rebalances, by rebalance and seat.

    Attributes
    ----------
    row : int64 (M,)
        Rebalance.
    member, seat, identity, subscription : int64 (M,)
    is_joined : bool (M,)
        As `pipeline.causes.coded_rows.MEMBER_ROWS`.
    before : int64 (M,)
        The same seat in the rebalance before it in the table; `ABSENT`: none.
    is_gone : bool (M,)
        Whether the rebalance after it in the table lacks the seat.
    """

    row: Int64
    member: Int64
    seat: Int64
    identity: Int64
    subscription: Int64
    is_joined: Bools
    before: Int64
    is_gone: Bools

    def count(self, is_counted: Bools, rows: int) -> Int64:
        """Count members per rebalance."""
        return np.bincount(self.row[is_counted], minlength=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessors:
    """Knowledge of the rebalance before each one.

    Attributes
    ----------
    is_next : bool (N,)
        Whether the row before is of the same group.
    is_known : bool (N,)
        Whether it is the rebalance before, and its members are as it should be.
    is_start : bool (N,)
        Whether the group had no members before.
    is_counted : bool (N,)
        Whether only the numbers of members that joined, left, and resubscribed are
        known.
    """

    is_next: Bools
    is_known: Bools
    is_start: Bools
    is_counted: Bools


def member_rows(table: pa.Table, groups: GroupRows, first: int) -> MemberRows:
    """Sort members, and find each in the rebalance before.

    Parameters
    ----------
    table
        Of `pipeline.causes.coded_rows.MEMBER_ROWS`, of these groups.
    first
        Number of the first row of the groups.
    """
    columns = {name: np.asarray(table[name]) for name in table.schema.names}
    columns["row"] = columns["row"] - first
    seats, seat = np.unique(columns["seat"], return_inverse=True)
    key = columns["row"] * len(seats) + seat
    order = np.argsort(key, kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    key, row = key[order], columns["row"]
    is_next = _follow(groups.group)
    before = np.full(len(key), ABSENT, np.int64)
    sought = np.flatnonzero(is_next[row])
    wanted = key[sought] - len(seats)
    place = np.searchsorted(key, wanted)
    is_there = key[place] == wanted  # the sought seat is after the wanted one
    before[sought[is_there]] = place[is_there]
    is_gone = np.append(is_next[1:], False)[row]
    is_gone[before[before != ABSENT]] = False
    return MemberRows(**columns, before=before, is_gone=is_gone)


def predecessors(groups: GroupRows, members: MemberRows) -> Predecessors:
    """Determine which rows are compared with the row before.

    A classic group numbers its generations without a gap. Of both protocols, the
    members that joined, left, and resubscribed by the table are those of the
    comparison; otherwise, the rebalance before is another one, which is not in the
    table.
    """
    is_next, rows = _follow(groups.group), len(groups)
    is_told = (groups.joined != ABSENT) & (groups.left != ABSENT)
    is_told &= groups.resubscribed != ABSENT
    is_start = is_told & (groups.joined == groups.members) & (groups.left == 0)
    is_start |= ~is_told & (groups.generation == FIRST_GENERATION)
    step = np.diff(groups.generation, prepend=0)
    is_known = is_told & ~is_start & is_next
    is_known &= np.where(groups.is_consumer, step > 0, step == 1)
    has_before = members.before != ABSENT
    joined = members.count(~has_before, rows)
    left = np.append(0, members.count(members.is_gone, rows)[:-1])
    is_other = members.subscription != members.subscription[members.before]
    resubscribed = members.count(has_before & is_other, rows)
    is_known &= (joined == groups.joined) & (left == groups.left)
    is_known &= resubscribed == groups.resubscribed
    return Predecessors(
        is_next=is_next,
        is_known=is_known,
        is_start=is_start,
        is_counted=is_told & ~is_start & ~is_known,
    )


def _follow(group: Int64) -> Bools:
    """Return which rows are of the same group as the row before."""
    found = np.zeros(len(group), np.bool_)
    found[1:] = group[1:] == group[:-1]
    return found
