"""Invalid answers of a period, findings that agree with them, and groups that end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from oracle.audit_diff.compared_rows import UNKNOWN_MS, ComparedRows, Int64, numbers
from oracle.audit_diff.diff_records import GoneGroup, NewFinding, NewInvalid
from oracle.audit_diff.period_figures import Group, Period
from oracle.audit_diff.period_times import time_of
from oracle.report.group_clients import evidence_of
from oracle.report.known_faults import KnownFault, invalid_answers
from oracle.summary import equals, last_units, plain, summed

Flags = npt.NDArray[np.bool_]

_ALWAYS: Final = UNKNOWN_MS + 1
"""Before all times that are known."""


def invalid_between(rows: ComparedRows, period: Period) -> list[NewInvalid]:
    """Return the invalid answers that begin in a period, most partition-time first."""
    found = [
        NewInvalid.known(
            cluster=row["cluster"],
            group=row["group_id"],
            rebalance_id=row["rebalance_id"],
            at=time_of(row["at_ms"]),
            generation=row["generation"],
            unread_partition_ms=row["unread_partition_ms"],
            shared_partition_ms=row["shared_partition_ms"],
        )
        for row in _invalid(rows, period.begin, period.end).to_pylist()
    ]
    return sorted(found, key=_most_harm)


def new_findings(
    old: ComparedRows, new: ComparedRows, period: Period
) -> list[NewFinding]:
    """Return findings of a period with which no answer before it agrees, by group.

    Of each group and assignor, the newest invalid answer before the period and the
    newest within it are compared with the findings.
    """
    found = _faults(new, period.begin, period.end)
    before = _faults(old, _ALWAYS, period.begin) if found else {}
    return [
        NewFinding(
            cluster=cluster,
            group=group,
            finding=fault.finding,
            title=fault.title,
            page=fault.page,
            rules=[*fault.rules],
        )
        for (cluster, group, finding), fault in sorted(
            found.items(), key=lambda item: item[0]
        )
        if (cluster, group, finding) not in before
    ]


def gone_groups(rows: ComparedRows, period: Period) -> list[GoneGroup]:
    """Return the groups that became empty in a period, and stayed so."""
    has_ended = np.asarray(equals(rows.rebalances["ended"], "empty").combine_chunks())
    has_ended &= period.has(rows.ends)
    chosen = _of_groups(rows, has_ended)
    groups = _groups(rows.rebalances.take(pa.array(chosen)))
    # Of rebalances at one time, the last by its offset; of no known time, first.
    offsets = numbers(rows.rebalances["source_offset"])[chosen]
    last = {groups[i]: chosen[i] for i in np.lexsort((offsets, rows.begins[chosen]))}
    return [
        GoneGroup(cluster=group[0], group=group[1], at=time_of(int(rows.ends[place])))
        for group, place in sorted(last.items())
        if has_ended[place]
    ]


def _of_groups(rows: ComparedRows, flags: Flags) -> Int64:
    """Return the places of all rebalances of the groups of some."""
    names = rows.rebalances["group_id"]
    some = pc.unique(plain(names.filter(pa.array(flags))))
    found: Int64 = np.flatnonzero(pc.is_in(plain(names), some))
    return found


def groups_before(rows: ComparedRows, end: int) -> set[Group]:
    """Return the groups with a rebalance before a time."""
    is_before = (rows.begins != UNKNOWN_MS) & (rows.begins < end)
    keys = rows.rebalances.select(["cluster", "group_id"]).filter(pa.array(is_before))
    return {*_groups(summed(keys, keys.column_names))}


def last_assignors(rows: ComparedRows, period: Period) -> dict[Group, str]:
    """Return the assignor of each group's last rebalance in a period, where known."""
    order = np.argsort(rows.begins, kind="stable")
    chosen = order[period.has(rows.begins[order])]
    keys = ["cluster", "group_id"]
    table = rows.rebalances.select([*keys, "client_assignor"]).take(pa.array(chosen))
    table = pa.table({name: plain(table[name]) for name in table.column_names})
    table = table.filter(pc.not_equal(pc.fill_null(table["client_assignor"], ""), ""))
    found = table.group_by(keys, use_threads=False).aggregate(
        [("client_assignor", "last")]
    )
    names = found["client_assignor_last"].to_pylist()
    return dict(zip(_groups(found), names, strict=True))


def _groups(table: pa.Table) -> list[Group]:
    columns = (plain(table[name]).to_pylist() for name in ("cluster", "group_id"))
    return [*zip(*columns, strict=True)]


def _invalid(rows: ComparedRows, begin: int, end: int) -> pa.Table:
    """Return the invalid answers that begin between two times, with ``at_ms``."""
    at = rows.of_actual(rows.begins)
    actual = rows.actual.append_column("at_ms", pa.array(at))
    is_within = pa.array((begin <= at) & (at < end))
    is_invalid = pc.and_(
        pc.is_valid(actual["verdict"]), pc.invert(equals(actual["verdict"], "valid"))
    )
    return actual.filter(pc.and_(is_invalid, pa.chunked_array([is_within])))


def _most_harm(row: NewInvalid) -> tuple[int | str, ...]:
    harm = (row.unread_partition_ms or 0) + (row.shared_partition_ms or 0)
    return -harm, row.cluster, row.group, row.at, row.rebalance_id


def _faults(
    rows: ComparedRows, begin: int, end: int
) -> Mapping[tuple[str, str, str], KnownFault]:
    """Return the findings that agree with invalid answers, by group and id."""
    invalid = _invalid(rows, begin, end)
    if not len(invalid):
        return {}
    of_groups = pc.is_in(rows.units["group_id"], pc.unique(plain(invalid["group_id"])))
    clients = evidence_of(rows.folder, last_units(rows.units.filter(of_groups)))
    answers = invalid_answers(rows.folder, invalid, clients)
    return {
        (cluster, group, fault.finding): fault
        for (cluster, group, _), answer in answers.items()
        for fault in answer.faults
    }
