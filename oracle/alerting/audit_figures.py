"""Figures of the groups of an audit, read from its tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from oracle.report.load import read_columns
from oracle.summary import FIGURE_COLUMNS, group_figures
from pipeline.evaluation import ACTUAL
from pipeline.tables import read_manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFigures:
    """Figures of an audit.

    Attributes
    ----------
    cluster : str
        Name of the audited cluster.
    finished : datetime
        When the audit was complete.
    newest : datetime or None
        Time of the newest record; None if no record has a time.
    groups : tuple of dict
        ``cluster``, ``group_id``, and `oracle.summary.FIGURES`, by name.
    """

    cluster: str
    finished: datetime
    newest: datetime | None
    groups: tuple[dict[str, Any], ...]


def read_figures(folder: Path) -> AuditFigures:
    """Read the figures of a complete audit.

    Raises
    ------
    SourceError
        If the folder holds no audit, or one of another version.
    """
    manifest = read_manifest(folder)
    tables = {}
    for name, columns in FIGURE_COLUMNS.items():
        chosen = ds.field("assignor") == ACTUAL if name == "answers" else None
        tables[name] = read_columns(folder, name, columns, chosen)
    figures = group_figures(actual=tables.pop("answers"), **tables)
    newest = manifest["newest_record"]
    return AuditFigures(
        cluster=manifest["parameters"]["cluster"],
        finished=datetime.fromisoformat(manifest["finished"]),
        newest=None if newest is None else datetime.fromisoformat(newest),
        groups=tuple(figures.to_pylist()),
    )
