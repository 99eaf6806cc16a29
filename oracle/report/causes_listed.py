"""Sentences on the causes of the rebalances of the first groups of the page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds

from oracle.report.cause_sentences import GroupCauses, group_causes
from oracle.report.load import read_columns
from oracle.report.what_ifs import group_what_ifs

_COLUMNS: Final = (
    *("cluster", "date", "group_id", "at", "source_partition", "source_offset"),
    *("protocol", "members", "causes"),
)
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCauses:
    """The causes of a group's rebalances, and replayed settings, in sentences."""

    cluster: str
    group: str
    sentence: str
    what_ifs: tuple[str, ...]


def causes_listed(
    folder: Path, groups: Collection[tuple[str, str]]
) -> list[ListedCauses]:
    """Return the sentences of some groups, in their order.

    Groups of which no cause is known are left out.

    Parameters
    ----------
    folder
        Of the audit's tables.
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
    rows = read_columns(folder, "rebalances", _COLUMNS, chosen)
    found = {
        (causes.cluster, causes.group): ListedCauses(
            cluster=causes.cluster,
            group=causes.group,
            sentence=causes.sentence,
            what_ifs=replayed.findings,
        )
        for causes, replayed in zip(
            group_causes(rows), group_what_ifs(rows), strict=True
        )
        if _are_known(causes)
    }
    return [found[group] for group in groups if group in found]


def _are_known(causes: GroupCauses) -> bool:
    return any(reason.name != _UNKNOWN for reason in causes.reasons)
