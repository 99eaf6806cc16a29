"""Rows of ``quarantine``: cases that cannot be judged, and rows of the sources."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from pipeline.cases import SNAPSHOT
from pipeline.judging.settings import Settings
from pipeline.rows import FAILED, Row
from pipeline.tables import UNDATED

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE: Final = ("group_id", "source", "source_partition", "source_offset")
_KEPT: Final = (
    *_PLACE,
    "reason",
    "record",
    "records",
    "key",
    "value",
    "raw_bytes",
    "instance",
)


def reason_of(part: str, error: Exception) -> str:
    """Describe a failure in one line."""
    first = (str(error).splitlines() or [""])[0]
    return f"{part}: {type(error).__name__}: {first}"[:500]


def failed_row(
    cases: pa.Table,
    place: int,
    reason: str,
    settings: Settings,
    text: str | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the row of a case that failed; ``text`` is its rebalance."""
    (case,) = cases.select([*_PLACE, "at", "owned_from"]).slice(place, 1).to_pylist()
    return "quarantine", {
        "cluster": settings.cluster,
        "date": _day(case["at"]),
        "kind": FAILED,
        "reason": reason,
        "record": "snapshot" if case["owned_from"] == SNAPSHOT else "rebalance",
        "records": 1,
        "at": _moment(case["at"]),
        **{name: case[name] for name in _PLACE},
        "instance": text,
    }


def quarantined(row: Row, cluster: str) -> dict[str, Any]:
    """Convert a worker's row to a row of ``quarantine``."""
    return {
        "cluster": cluster,
        "date": _day(row["at"]),
        "kind": row["what"],
        "at": _moment(row["at"]),
        **{name: row[name] for name in _KEPT},
    }


def _moment(milliseconds: int | None) -> datetime | None:
    """Convert milliseconds since 1970 to a time, UTC; None if no date states it."""
    if milliseconds is None:
        return None
    with suppress(OverflowError):
        return _EPOCH + timedelta(milliseconds=milliseconds)
    return None


def _day(milliseconds: int | None) -> str:
    """Return the day of a time, UTC, or `UNDATED`."""
    at = _moment(milliseconds)
    return UNDATED if at is None else at.date().isoformat()
