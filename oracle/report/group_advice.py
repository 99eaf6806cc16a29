"""The advice of the page about one group, for the command line."""

from __future__ import annotations

from pathlib import Path

from oracle.report.facts import facts_of
from oracle.report.load import load


def advice_of_group(folder: Path, group: str) -> str | None:
    """Return the line that the page of an audit has about a group.

    It is None if nothing is judged. Of a group in several clusters, each has a line.

    Raises
    ------
    SourceError
        If the folder holds no audit, or its tables cannot be read.
    """
    rows = [row for row in facts_of(load(folder, group)).groups if row.advice]
    if len({row.cluster for row in rows}) < 2:
        return rows[0].advice if rows else None
    ordered = sorted(rows, key=lambda row: row.cluster)
    return "; ".join(f"{row.cluster}: {row.advice}" for row in ordered)
