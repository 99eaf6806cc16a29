"""Time for which the partitions of members that are gone can have had no reader.

It is counted from the last commit of each member until the rebalance without it, and is
an upper bound: whether a member died or closed after that commit is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from oracle.report.cause_columns import groups_of_rows, kinds_of_rows
from oracle.report.load import Tables, read_columns
from oracle.report.row_keys import keys_of
from oracle.wording import counted
from rebalance import Int64

OF_REBALANCE: Final = (
    *("cluster", "group_id", "rebalance_id", "source_partition", "source_offset"),
    *("generation", "until", "ended", "lasted_ms", "causes"),
)
"""Columns of ``rebalances`` that are compared."""
OF_MEMBER: Final = (
    *("cluster", "rebalance_id", "member_id", "instance_id", "load"),
    "last_commit_at",
)
"""Columns of ``members``."""
_NEXT: Final = "next"
_GONE: Final = ("returned", "left-briefly", "left")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSilence:
    """Members of a group that are gone, and time from their last commits on.

    Attributes
    ----------
    members : int
        Those that had partitions and committed; one that left twice counts twice.
    partition_ms : int
        The time from the last commit to the rebalance without the member, times its
        partitions.
    """

    cluster: str
    group: str
    members: int
    partition_ms: int

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence, if there is such a member."""
        if not self.members:
            return ()
        lost = counted(self.members, "member")
        seconds = f"{-(-self.partition_ms // 1000):,} partition-seconds"
        return (f"Partitions of {lost} that left had no reader for up to {seconds}.",)


def members_of(tables: Tables, rebalances: pa.Table) -> pa.Table:
    """Read the members of groups that members have left; columns `OF_MEMBER`."""
    kinds = kinds_of_rows(rebalances["causes"])
    has_left = np.logical_or.reduce([kinds[kind] for kind in _GONE])
    names = pc.unique(rebalances["group_id"].filter(pa.array(has_left)))
    chosen = ds.field("group_id").isin(pc.cast(names, pa.string()))
    return read_columns(tables.folder, "members", OF_MEMBER, chosen)


def group_silences(rebalances: pa.Table, members: pa.Table) -> tuple[GroupSilence, ...]:
    """Sum up the time per group, by cluster and name.

    Parameters
    ----------
    rebalances
        Columns `OF_REBALANCE`, of whole groups.
    members
        Columns `OF_MEMBER`, of these groups or others.
    """
    if not len(rebalances):
        return ()
    keys, group = groups_of_rows(rebalances)
    after = _rebalances_after(rebalances, group)
    row = _rows_of_members(rebalances, members)
    members = members.filter(pa.array(row >= 0))
    row = row[row >= 0]
    seats = _seats(members)
    size = int(seats.max(initial=0)) + 1
    is_gone = ~np.isin(after[row] * size + seats, row * size + seats)
    until = _milliseconds(rebalances["until"])[row]
    committed = _milliseconds(members["last_commit_at"])
    load = np.asarray(pc.fill_null(members["load"], 0))
    is_gone &= (after[row] >= 0) & (load > 0)
    is_gone &= np.asarray(pc.is_valid(members["last_commit_at"]))
    silent = np.maximum(until - committed, 0) * load
    counts, sums = np.zeros((2, len(keys)), np.int64)
    np.add.at(counts, group[row[is_gone]], 1)
    np.add.at(sums, group[row[is_gone]], silent[is_gone])
    found = [
        GroupSilence(cluster=cluster, group=name, members=count, partition_ms=total)
        for (cluster, name), count, total in zip(
            keys, counts.tolist(), sums.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda row: (row.cluster, row.group)))


def _rebalances_after(rebalances: pa.Table, group: Int64) -> Int64:
    """Return the rebalance that ends the state of each; -1: there is none, or no time.

    A rebalance of which the one before is not in the source ends no state here.
    """
    names = ("source_offset", "source_partition", "generation")
    columns = [np.asarray(pc.fill_null(rebalances[name], -1)) for name in names]
    order = np.lexsort((*columns[:2], group))
    generation = columns[2][order]
    is_next = np.append(np.diff(group[order]) == 0, False)
    is_next[:-1] &= generation[1:] == generation[:-1] + 1
    is_known = pc.and_(
        pc.equal(pc.cast(rebalances["ended"], pa.string()), _NEXT),
        pc.is_valid(rebalances["lasted_ms"]),
    )
    is_next &= np.asarray(pc.fill_null(is_known, False))[order]
    after = np.full(len(order), -1, np.int64)
    after[order[is_next]] = order[np.flatnonzero(is_next) + 1]
    return after


def _rows_of_members(rebalances: pa.Table, members: pa.Table) -> Int64:
    """Return the rebalance of each member; -1: it is not among these."""
    known, asked = (
        keys_of(table["cluster"], table["rebalance_id"])
        for table in (rebalances, members)
    )
    return np.asarray(pc.fill_null(pc.index_in(asked, known), -1)).astype(np.int64)


def _seats(members: pa.Table) -> Int64:
    """Return numbers of instance ids, and of the ids of members without one."""
    instance = pc.cast(members["instance_id"], pa.string())
    is_static = pc.fill_null(pc.not_equal(instance, ""), False)
    seat = pc.if_else(
        is_static,
        pc.binary_join_element_wise("i", instance, ""),
        pc.binary_join_element_wise(
            "m", pc.cast(members["member_id"], pa.string()), ""
        ),
    )
    return np.asarray(_combined(seat).dictionary_encode().indices).astype(np.int64)


def _milliseconds(times: pa.ChunkedArray) -> Int64:
    """Return times in milliseconds since 1970; 0 if they are not known."""
    found = pc.cast(pc.cast(times, pa.timestamp("ms", tz="UTC")), pa.int64())
    return np.asarray(pc.fill_null(found, 0))


def _combined(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    return column
