"""Extent of an audit: what was judged, and what was not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pandas as pd

from oracle.report.load import Tables

SOURCES_SHOWN: Final = 12
REASONS_SHOWN: Final = 20
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
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
    set_aside: tuple[SetAside, ...]
    set_aside_left_out: int


def audited_of(tables: Tables) -> Audited:
    """Count what the tables cover."""
    rows = tables.rebalances
    sources, clusters = (_names(tables, column) for column in ("source", "cluster"))
    groups = rows[["cluster", "group_id"]].drop_duplicates()
    aside = _set_aside(tables.quarantine)
    times = rows["at"].dropna()
    return Audited(
        clusters=tuple(clusters),
        sources=tuple(sources[:SOURCES_SHOWN]),
        sources_left_out=max(0, len(sources) - SOURCES_SHOWN),
        groups=len(groups),
        rebalances=len(rows),
        members_most=int(rows["members"].max()) if len(rows) else 0,
        partitions_most=int(rows["partitions"].max()) if len(rows) else 0,
        first=times.min().to_pydatetime() if len(times) else None,
        last=times.max().to_pydatetime() if len(times) else None,
        assignors=_tally(rows["client_assignor"]),
        protocols=_tally(rows["protocol"]),
        owned_from=_tally(rows["owned_from"]),
        partition_counts=_tally(rows["partition_counts"]),
        subscriptions=_tally(rows["subscriptions"]),
        snapshots=len(tables.snapshots),
        snapshot_subscriptions=_tally(tables.snapshots["subscriptions"]),
        lag_basis=_tally(rows["lag_basis"]),
        set_aside=tuple(aside[:REASONS_SHOWN]),
        set_aside_left_out=max(0, len(aside) - REASONS_SHOWN),
    )


def _names(tables: Tables, column: str) -> list[str]:
    """Return the values of a column in rebalances and snapshots, sorted."""
    found = pd.concat([tables.rebalances[column], tables.snapshots[column]])
    return sorted(str(one) for one in found.dropna().unique())


def _tally(column: pd.Series[str]) -> dict[str, int]:
    """Count values, most frequent first, equal counts by name."""
    counts = column.fillna(_UNKNOWN).value_counts()
    pairs = [(str(value), int(count)) for value, count in counts.items()]
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def _set_aside(quarantine: pd.DataFrame) -> list[SetAside]:
    keys = ["kind", "record", "reason"]
    named = quarantine.assign(**{key: quarantine[key].fillna("") for key in keys})
    summed: pd.DataFrame = named.groupby(keys)[["records"]].sum().reset_index()
    rows = [
        SetAside(
            kind=row["kind"],
            record=row["record"],
            reason=row["reason"],
            records=int(row["records"]),
        )
        for row in summed.to_dict("records")
    ]
    return sorted(
        rows, key=lambda row: (row.kind, -row.records, row.record, row.reason)
    )
