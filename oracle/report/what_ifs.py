"""Rebalances that other settings would have avoided, by replaying a group's causes.

Each number states its assumption; rebalances with any other cause are never counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.cause_columns import counts_of_rows, groups_of_rows
from pipeline.causes import KINDS
from rebalance import Bools, Int64

DELAYS_MS: Final = (3_000, 10_000)
"""Additions to ``group.initial.rebalance.delay.ms`` that are replayed."""
STATIC_IDS: Final = (
    "a group.instance.id per member, a session.timeout.ms of at least 60 s, and"
    " unchanged subscriptions and assignors"
)
LONGER_DELAY: Final = "members that join at the same times"
_RETURNS: Final = ("returned", "left-briefly")
_JOINS: Final = ("joined", "returned", "round")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWhatIfs:
    """Rebalances of one group that other settings would have avoided.

    Attributes
    ----------
    avoided_by_static_ids : int
        Those whose only causes are members that left and returned within 60 s, or with
        which a group started again, of the same members as before it was empty, and the
        further rounds of these: if every member had had a ``group.instance.id`` and a
        ``session.timeout.ms`` of at least 60 s, and had returned with its subscription
        and assignors.
    merged_by_delay : Mapping
        Per delay, in milliseconds: those within it after the group started, by members
        that joined: if ``group.initial.rebalance.delay.ms`` had been longer by it.
    """

    cluster: str
    group: str
    avoided_by_static_ids: int
    merged_by_delay: Mapping[int, int]

    @property
    def findings(self) -> tuple[str, ...]:
        """A sentence per setting that would have avoided a rebalance."""
        return tuple(self._findings())

    def _findings(self) -> Iterator[str]:
        if count := self.avoided_by_static_ids:
            yield f"Static membership would have avoided {_rebalances(count)}."
        found, merged = "", 0
        for delay, count in self.merged_by_delay.items():
            if count > merged:
                by = f"by {delay // 1000} s"
                found += f"; {by}, {count:,}" if found else _merging(by, count)
                merged = count
        if found:
            yield f"{found}."


def group_what_ifs(
    rebalances: pa.Table, delays_ms: Sequence[int] = DELAYS_MS
) -> tuple[GroupWhatIfs, ...]:
    """Count avoidable rebalances per group, by cluster and name.

    Parameters
    ----------
    rebalances
        Columns ``cluster``, ``group_id``, ``at``, ``source_partition``,
        ``source_offset``, ``protocol``, ``members``, and ``causes`` of the table.
    """
    if not len(rebalances):
        return ()
    ordered = _by_group_and_record(rebalances)
    keys, group = groups_of_rows(ordered)
    listed = counts_of_rows(ordered["causes"])
    kinds = {kind: count > 0 for kind, count in listed.items()}
    returned = _all_returned(listed, group, np.asarray(ordered["members"]))
    avoided = _avoided(kinds, group, returned)
    merged = [_merged(kinds, group, ordered, delay) for delay in delays_ms]
    counts = [
        np.bincount(group[rows], minlength=len(keys)) for rows in (avoided, *merged)
    ]
    found = [
        GroupWhatIfs(
            cluster=cluster,
            group=name,
            avoided_by_static_ids=int(counts[0][place]),
            merged_by_delay={
                delay: int(count[place])
                for delay, count in zip(delays_ms, counts[1:], strict=True)
            },
        )
        for place, (cluster, name) in enumerate(keys)
    ]
    return tuple(sorted(found, key=lambda row: (row.cluster, row.group)))


def _by_group_and_record(rebalances: pa.Table) -> pa.Table:
    _, group = groups_of_rows(rebalances)
    places = [
        np.asarray(pc.fill_null(rebalances[name], -1))
        for name in ("source_offset", "source_partition")
    ]
    return rebalances.take(pa.array(np.lexsort((*places, group))))


def _avoided(kinds: dict[str, Bools], group: Int64, all_returned: Bools) -> Bools:
    """Return the rows of returns alone, and the rounds that follow them."""
    has_return = kinds["returned"] | kinds["left-briefly"]
    is_alone = _only(kinds, (*_RETURNS, "round"))
    is_round = kinds["round"] & is_alone
    is_first = (has_return & is_alone & ~kinds["round"]) | all_returned
    begin = _last(~is_round | _begins(group))
    avoided: Bools = (is_round | is_first) & is_first[begin]
    return avoided


def _all_returned(counts: dict[str, Int64], group: Int64, members: Int64) -> Bools:
    """Return the rows with which a group started again, of all its members before."""
    started = counts["started"]
    found: Bools = (started > 0) & (counts["returned"] == started) & ~_begins(group)
    found[1:] &= members[:-1] == started[1:]
    return found


def _merged(
    kinds: dict[str, Bools], group: Int64, ordered: pa.Table, delay: int
) -> Bools:
    """Return the rows of joins alone, so soon after their classic group started."""
    at = pc.cast(pc.cast(ordered["at"], pa.timestamp("ms", tz="UTC")), pa.int64())
    is_classic = pc.fill_null(pc.equal(ordered["protocol"], "classic"), False)
    is_join = _only(kinds, _JOINS) & np.asarray(pc.is_valid(at))
    time = np.asarray(pc.fill_null(at, 0))
    start = _last(~is_join | _begins(group))
    is_started = (kinds["started"] & np.asarray(pc.is_valid(at)))[start]
    took = time - time[start]
    is_soon = (took >= 0) & (took <= delay)
    merged: Bools = is_join & is_started & np.asarray(is_classic) & is_soon
    return merged


def _only(kinds: dict[str, Bools], allowed: Iterable[str]) -> Bools:
    """Return the rows with causes of these kinds and no others."""
    wanted = [kinds[kind] for kind in allowed]
    others = [kinds[kind] for kind in KINDS if kind not in {*allowed}]
    found: Bools = np.logical_or.reduce(wanted) & ~np.logical_or.reduce(others)
    return found


def _begins(group: Int64) -> Bools:
    begins: Bools = np.diff(group, prepend=-1) != 0
    return begins


def _last(is_found: Bools) -> Int64:
    """Return for each row the last row until it that is found; the first one is."""
    places: Int64 = np.where(is_found, np.arange(len(is_found)), 0)
    return np.maximum.accumulate(places)


def _rebalances(count: int) -> str:
    return f"{count:,} rebalance{'' if count == 1 else 's'}"


def _merging(by: str, count: int) -> str:
    merged = f"would have merged {_rebalances(count)} with the one before"
    return f"A group.initial.rebalance.delay.ms longer {by} {merged}"
