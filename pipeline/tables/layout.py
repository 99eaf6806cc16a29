"""Refuse the tables of other versions of this program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.tables.schemas import LAYOUT
from rebalance import SourceError


def refuse_other_layout(manifest: Mapping[str, Any], source: str) -> None:
    """Check the version of an audit's tables; ``manifest`` is its ``audit.json``.

    Raises
    ------
    SourceError
        If the tables are of another version than this program reads.
    """
    written = manifest.get("tables")
    if written != LAYOUT:
        reason = (
            f"tables of version {written or 'unknown'}, but this version of "
            f"assignor-oracle reads {LAYOUT}: audit the sources again"
        )
        raise SourceError(reason, source=source)
