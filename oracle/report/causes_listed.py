"""Sentences on the causes of the rebalances of the first groups of the page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from oracle.report.cause_sentences import GroupCauses, group_causes
from oracle.report.load import Tables, read_columns
from oracle.report.silent_members import OF_REBALANCE as OF_STATE
from oracle.report.silent_members import GroupSilence, group_silences, members_of
from oracle.report.spared_revocations import (
    OF_REBALANCE,
    GroupRevocations,
    group_revocations,
)
from oracle.report.what_ifs import GroupWhatIfs, group_what_ifs

_COLUMNS: Final = (*dict.fromkeys((*OF_REBALANCE, *OF_STATE, "date", "at", "members")),)
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCauses:
    """The causes of a group's rebalances, and replayed settings, in sentences.

    ``unread`` bounds the time for which partitions of members that left had no reader,
    ``avoided`` are rebalances that other settings would have spared, and ``kept``
    partitions that others would not have revoked.
    """

    cluster: str
    group: str
    sentence: str
    unread: tuple[str, ...]
    avoided: tuple[str, ...]
    kept: tuple[str, ...]


def causes_listed(
    tables: Tables, groups: Collection[tuple[str, str]]
) -> list[ListedCauses]:
    """Return the sentences of some groups, in their order.

    Groups of which no cause is known are left out.

    Parameters
    ----------
    tables
        Of the audit.
    groups
        Clusters and names.

    Raises
    ------
    SourceError
        If the tables cannot be read.
    """
    if not groups:
        return []
    names = pa.array(sorted({group for _, group in groups}), pa.string())
    chosen = ds.field("group_id").isin(names)
    rows = read_columns(tables.folder, "rebalances", _COLUMNS, chosen)
    actual = tables.actual.filter(pc.is_in(tables.actual["group_id"], names))
    per_group = zip(
        group_causes(rows),
        group_silences(rows, members_of(tables, rows)),
        group_what_ifs(rows),
        group_revocations(rows, actual),
        strict=True,
    )
    listed = [_listed(*parts) for parts in per_group if _are_known(parts[0])]
    found = {(row.cluster, row.group): row for row in listed}
    return [found[group] for group in groups if group in found]


def _listed(
    causes: GroupCauses,
    silence: GroupSilence,
    replayed: GroupWhatIfs,
    revocations: GroupRevocations,
) -> ListedCauses:
    return ListedCauses(
        cluster=causes.cluster,
        group=causes.group,
        sentence=causes.sentence,
        unread=silence.findings,
        avoided=replayed.findings,
        kept=revocations.findings,
    )


def _are_known(causes: GroupCauses) -> bool:
    return any(reason.name != _UNKNOWN for reason in causes.reasons)
