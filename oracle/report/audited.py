"""Extent of an audit: the rebalances that were judged, and those that were not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from oracle.report.load import Tables

SOURCES_SHOWN: Final = 12
REASONS_SHOWN: Final = 20
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedRows:
    """Records of one kind that were not judged, and the reason."""

    kind: str
    record: str
    reason: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """Extent of an audit.

    ``first`` and ``last`` are times of records, UTC; None if the source has no times.
    The mappings, ``groups`` and the largest numbers are of rebalances, except
    ``snapshot_subscriptions``.
    """

    clusters: tuple[str, ...]
    sources: tuple[str, ...]
    sources_left_out: int
    groups: int
    rebalances: int
    members_most: int
    partitions_most: int
    first: datetime | None
    last: datetime | None
    assignors: dict[str, int]
    protocols: dict[str, int]
    owned_from: dict[str, int]
    partition_counts: dict[str, int]
    subscriptions: dict[str, int]
    snapshots: int
    snapshot_subscriptions: dict[str, int]
    lag_basis: dict[str, int]
    quarantined: tuple[QuarantinedRows, ...]
    quarantined_left_out: int


def audited_of(tables: Tables) -> Audited:
    """Count the groups and rebalances that the tables cover."""
    rows = tables.rebalances
    sources, clusters = (_names(tables, column) for column in ("source", "cluster"))
    groups = rows.group_by(["cluster", "group_id"], use_threads=False).aggregate([])
    quarantined = _quarantined(tables.quarantine)
    times = pc.min_max(rows["at"]).as_py()
    return Audited(
        clusters=tuple(clusters),
        sources=tuple(sources[:SOURCES_SHOWN]),
        sources_left_out=max(0, len(sources) - SOURCES_SHOWN),
        groups=len(groups),
        rebalances=len(rows),
        members_most=pc.max(rows["members"]).as_py() or 0,
        partitions_most=pc.max(rows["partitions"]).as_py() or 0,
        first=times["min"],
        last=times["max"],
        assignors=_tally(rows["client_assignor"]),
        protocols=_tally(rows["protocol"]),
        owned_from=_tally(rows["owned_from"]),
        partition_counts=_tally(rows["partition_counts"]),
        subscriptions=_tally(rows["subscriptions"]),
        snapshots=len(tables.snapshots),
        snapshot_subscriptions=_tally(tables.snapshots["subscriptions"]),
        lag_basis=_tally(rows["lag_basis"]),
        quarantined=tuple(quarantined[:REASONS_SHOWN]),
        quarantined_left_out=max(0, len(quarantined) - REASONS_SHOWN),
    )


def _names(tables: Tables, column: str) -> list[str]:
    """Return the values of a column in rebalances and snapshots, sorted."""
    found = {
        row
        for table in (tables.rebalances, tables.snapshots)
        for row in pc.unique(table[column]).to_pylist()
    }
    return sorted(found - {None})


def _tally(column: pa.ChunkedArray) -> dict[str, int]:
    """Count values, most frequent first, equal counts by name."""
    counts: Counter[str] = Counter()
    for row in pc.value_counts(column).to_pylist():
        counts[row["values"] or _UNKNOWN] += row["counts"]
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _quarantined(quarantine: pa.Table) -> list[QuarantinedRows]:
    keys = ["kind", "record", "reason"]
    grouped = quarantine.group_by(keys, use_threads=False)
    rows = [
        QuarantinedRows(
            kind=row["kind"] or "",
            record=row["record"] or "",
            reason=row["reason"] or "",
            records=row["records_sum"] or 0,
        )
        for row in grouped.aggregate([("records", "sum")]).to_pylist()
    ]
    return sorted(
        rows, key=lambda row: (row.kind, -row.records, row.record, row.reason)
    )
