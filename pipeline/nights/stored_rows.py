"""Rows of all nights of a store: their counts, and their files in an audit's folder."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.nights.history_store import HistoryStore
from pipeline.nights.store_files import OPEN, TableFile
from pipeline.records.place import UNKNOWN_DURATIONS
from pipeline.tables import SCHEMAS

_DURATIONS: Final = {
    "rebalances": ("reached_unknown", "lasted_unknown"),
    "episodes": ("unowned_unknown",),
}
_IDENTITY: Final = ("kind", "reason", "source", "source_offset", "group_id", "record")
"""Columns of quarantine that tell whether a row without an offset is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCounts:
    """Counts of all rows of a store, as of `pipeline.audit.manifest.AuditCounts`."""

    rows: dict[str, int]
    quarantine: dict[str, int]
    durations_unknown: dict[str, int]


class StoredRows:
    """The rows of a store that count at present."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self._files = store.files()

    def new_quarantine(
        self, runs: Callable[[], Iterable[pa.Table]], more: Sequence[dict[str, Any]]
    ) -> Iterator[pa.Table]:
        """Yield rows of quarantine, without those of lines that were read before.

        Records of earlier nights are not read again, by their offsets. A damaged line
        of a file has no offset, and is found again if the file is.
        """
        known = self._unplaced()
        for run in runs():
            yield run.filter(pa.array([_is_new(row, known) for row in _rows(run)]))
        if more:
            yield pa.Table.from_pylist([*more], SCHEMAS["quarantine"])

    def opened(self, table: str, cluster: str) -> pa.Table:
        """Read the rows that can change; ``cluster`` is the store's."""
        files = [f for f in self._files if f.table == table and f.kind == OPEN]
        found = self._store.rows(files, cluster)
        return pa.concat_tables([SCHEMAS[table].empty_table(), *found])

    def fill(self, table: str, folder: Path) -> None:
        """Link, or copy, the files of a table into a new folder."""
        files = [file for file in self._files if file.table == table]
        folder.mkdir()
        taken: Counter[str] = Counter()
        with self._store.here(files) as there:
            for file in sorted(files, key=_place):
                target = folder / file.folder / f"part-{taken[file.folder]:05d}.parquet"
                taken[file.folder] += 1
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(there / file.path, target)

    def counts(self) -> StoredCounts:
        """Count all rows."""
        rows, quarantine, durations = Counter[str](), Counter[str](), Counter[str]()
        with self._store.here(self._files) as there:
            for file in self._files:
                path = there / file.path
                rows[file.table] += pq.read_metadata(path).num_rows
                for column in _DURATIONS.get(file.table, ()):
                    durations.update(_column(path, column).to_pylist())
                if file.table == "quarantine":
                    columns = ["kind", "reason", "records"]
                    for row in pq.ParquetFile(path).read(columns).to_pylist():
                        reason = f"{row['kind']}: {row['reason']}"
                        quarantine[reason] += row["records"]
        unknown = {reason: durations[reason] for reason in UNKNOWN_DURATIONS}
        return StoredCounts(
            rows={name: rows[name] for name in SCHEMAS},
            quarantine=dict(
                sorted(quarantine.items(), key=lambda item: (-item[1], item[0]))
            ),
            durations_unknown={why: count for why, count in unknown.items() if count},
        )

    def _unplaced(self) -> set[tuple[Any, ...]]:
        """Return the stored rows of quarantine that have no partition."""
        files = [file for file in self._files if file.table == "quarantine"]
        found: set[tuple[Any, ...]] = set()
        with self._store.here(files) as there:
            for file in files:
                names = [*_IDENTITY, "source_partition"]
                table = pq.ParquetFile(there / file.path).read(names)
                table = table.filter(pc.is_null(table["source_partition"]))
                found.update(map(_identity, table.to_pylist()))
        return found


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.select(
        [*_IDENTITY, "source_partition"]
    ).to_pylist()
    return rows


def _is_new(row: dict[str, Any], known: set[tuple[Any, ...]]) -> bool:
    return row["source_partition"] is not None or _identity(row) not in known


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _IDENTITY)


def _place(file: TableFile) -> tuple[str, bool, int, str]:
    return file.folder, file.kind == OPEN, file.night, file.name


def _column(path: Path, name: str) -> pa.ChunkedArray:
    return pq.ParquetFile(path).read([name])[name]


def _link(source: Path, target: Path) -> None:
    """Link a file, which never changes, or copy it to another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
