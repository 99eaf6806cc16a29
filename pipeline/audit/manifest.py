"""``audit.json``: inputs, versions, times, and counts of an audit.

Everything that depends on the clock or the machine is in this file and in the table
``run``, and not in the other tables.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from pipeline.sources.find import FoundSources
from pipeline.sources.source_kind import SourceKind
from pipeline.tables import FORMAT, LAYOUT

_PACKAGES: Final = (
    "assignor-oracle",
    "numba",
    "numpy",
    "orjson",
    "pyarrow",
    "pydantic",
    "pyspark",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCounts:
    """Counts of an audit.

    ``rows_read`` are those of the sources, of which ``rows_repeated`` are records that
    were delivered again and count once; ``rows`` are counted per table, and
    ``quarantine`` are records per kind and reason, most frequent first, and
    ``durations_unknown`` durations per reason. ``left_out`` are rebalances and
    snapshots that were not asked for, per reason; ``history_end`` is the latest time of
    any record, in milliseconds since 1970, None if none has a time.
    """

    rows_read: int
    rows_repeated: int
    rows: dict[str, int]
    quarantine: dict[str, int]
    durations_unknown: dict[str, int]
    left_out: dict[str, int]
    history_end: int | None


def manifest_of(
    found: FoundSources,
    *,
    parameters: Mapping[str, Any],
    counts: AuditCounts,
    spark: Mapping[str, int],
    java: str,
    started: datetime,
    finished: datetime,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Return the manifest; times are UTC, ``seconds`` are by phase.

    ``spark`` has ``tasks`` of the stage that judges, and ``cores`` of all workers.
    """
    return {
        "format": FORMAT,
        "tables": LAYOUT,
        "parameters": dict(parameters),
        "sources": [*_files(found), *_live(found)],
        "rows_read": counts.rows_read,
        "rows_repeated": counts.rows_repeated,
        "rows": dict(counts.rows),
        "quarantine": dict(counts.quarantine),
        "durations_unknown": dict(counts.durations_unknown),
        "left_out": dict(counts.left_out),
        "newest_record": time_text(counts.history_end),
        "versions": versions() | {"java": java},
        "machine": machine(),
        "spark": dict(spark),
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "seconds": {phase: round(took, 3) for phase, took in seconds.items()},
    }


def _files(found: FoundSources) -> list[dict[str, Any]]:
    """Describe the files that were read."""
    return [
        {
            "name": file.name,
            "kind": file.kind.value,
            "sha256": file.sha256,
            "bytes": file.length,
            "modified": _moment(file.modified_ms),
        }
        for file in found.files
    ]


def _live(found: FoundSources) -> list[dict[str, Any]]:
    """Describe the offsets that were read from a running cluster, by partition."""
    if found.live is None:
        return []
    offsets: dict[str, list[int]] = {}
    for range_ in found.live.ranges:
        first, _ = offsets.get(str(range_.partition), (range_.start, range_.end))
        offsets[str(range_.partition)] = [first, range_.end]
    return [
        {
            "name": found.live.log.server,
            "kind": SourceKind.RECORDS.value,
            "offsets": offsets,
        }
    ]


def time_text(at: int | None) -> str | None:
    """Return a time of records, in ms, as text; they can state times without a date."""
    with suppress(ValueError, OverflowError, OSError):
        return None if at is None else _moment(at)
    return None


def _moment(modified_ms: int) -> str:
    moment = datetime.fromtimestamp(modified_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds")


def versions() -> dict[str, str]:
    """Return the versions of everything that affects the figures."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout that is not installed
            found[package] = "unknown"
    return found


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
    }
