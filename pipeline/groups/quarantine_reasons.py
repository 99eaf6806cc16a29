"""Why a source, or a group, cannot be judged, as the table quarantine states it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

LISTED: Final = 3
"""Reasons that a message states."""


def reasons_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the reasons of rows of quarantine, each once with its first place.

    Empty if there is no row. A row has the columns ``reason``, ``source``,
    ``source_partition``, and ``source_offset``.
    """
    found: dict[str, str] = {}
    for row in sorted(rows, key=_place):
        where, reason = _where(row), row["reason"]
        # Texts of one line repeat its number.
        reason = reason.removeprefix(f"line {row.get('source_offset')}: ")
        found.setdefault(reason, f"{where}: {reason}")
    listed = list(found.values())
    rest = len(listed) - LISTED
    if rest > 0:
        more = "reason" if rest == 1 else "reasons"
        listed = [*listed[:LISTED], f"and {rest:,} more {more}"]
    return "; ".join(listed)


def _where(row: Mapping[str, Any]) -> str:
    source, partition = row["source"], row.get("source_partition")
    line = row.get("source_offset")
    if line is None:
        return str(source)
    if partition is None:
        return f"{source}:{line}"
    return f"{source}, partition {partition}, offset {line}"


def _place(row: Mapping[str, Any]) -> tuple[str, int, int, str]:
    partition, line = row.get("source_partition"), row.get("source_offset")
    return (
        row["source"] or "",
        -1 if partition is None else partition,
        -1 if line is None else line,
        row["reason"],
    )
