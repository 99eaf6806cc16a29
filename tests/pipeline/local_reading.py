"""Read sources without Spark, as the tasks of an audit do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.cases import Case, unpack
from pipeline.rows import CASE, RECORD, ROWS, Row
from pipeline.sources import read
from pipeline.sources.find import FoundSources, find_sources
from pipeline.topic_names import with_names
from rebalance import MAX_PARTITIONS


def read_found(found: FoundSources, max_partitions: int = MAX_PARTITIONS) -> list[Row]:
    """Read files; each row has all columns."""
    rows = read.read_found(found, max_partitions)
    return [dict.fromkeys(ROWS.names) | row for row in rows]


def read_path(path: Path, **options: Any) -> list[Row]:
    """Read a file or a folder."""
    return read_found(find_sources([path], **options))


def read_paths(paths: Sequence[Path]) -> list[Row]:
    """Read files and folders."""
    return read_found(find_sources(paths))


def cases_of(rows: Iterable[Row], names: Mapping[str, str] | None = None) -> list[Case]:
    """Return the cases among rows, their topics by name if these are given."""
    cases = [unpack(row["value"]) for row in rows if row["what"] == CASE]
    return cases if names is None else [with_names(case, names) for case in cases]


def records(rows: list[Row]) -> list[Row]:
    """Return the records without their sources."""
    names = ("source_partition", "source_offset", "at", "key", "value")
    return [
        {name: row[name] for name in names} for row in rows if row["what"] == RECORD
    ]


def damage(rows: list[Row]) -> list[tuple[int | None, str, int]]:
    """Return the positions, reasons, and numbers of what is no record."""
    return [
        (row["source_offset"], row["reason"], row["records"])
        for row in rows
        if row["what"] != RECORD
    ]
