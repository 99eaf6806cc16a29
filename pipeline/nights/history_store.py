"""A store of audits, night after night (`pipeline.nights.store_files`).

A night writes its files next to those of earlier nights, and counts once ``store.json``
is replaced, by one rename. Killed before, it has changed nothing; killed afterwards, it
is complete. Files that do not count are deleted by the next process.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.audit_writing import as_output_error
from pipeline.files import FileStore, Location, as_given, name_of, uri_of
from pipeline.nights.cause_context import COLUMNS, CauseContext, no_context
from pipeline.nights.store_files import (
    CARRY_FOLDER,
    FINAL,
    TABLES_FOLDER,
    TableFile,
    carry_name,
    counted,
    file_name,
    nights_to_merge,
    table_file,
)
from pipeline.nights.store_state import StoreState, read_state
from pipeline.rows import ROWS, Row
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.table_files import write_files
from pipeline.tables import SCHEMAS, STORE_STATE
from rebalance import OutsideError

_LOCK: Final = ".history-lock"
_TOPICS: Final = "topics.parquet"
_RECORDS: Final = "records.parquet"
_SCRATCH: Final = ".new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """Content of a night's carry.

    ``records`` are records of earlier nights and open cases, in tables of about as many
    bytes; ``topics`` are those that records have shown; both as in `ROWS`.
    """

    records: Iterable[pa.Table]
    topics: Sequence[Row]
    context: CauseContext


class HistoryStore:
    """The folder of a store, locked; `opened_store`."""

    def __init__(self, location: Location, store: FileStore) -> None:
        self.uri = uri_of(location)
        self.shown = as_given(location)
        self.state = StoreState()
        self._store = store

    # The state.

    def load(self) -> None:
        """Read the state, and delete files that do not count.

        Raises
        ------
        SourceError, OutputError
            If it is not a store, or cannot be written to.
        """
        with as_output_error(self.shown):
            where = f"{self.uri}/{STORE_STATE}"
            if self._store.is_folder(where) is not None:
                with self._store.open(where) as file:
                    self.state = read_state(file.read(), self.shown)
            self.clear()

    def commit(self, state: StoreState) -> None:
        """Replace the state: from here on, the files of the next night count."""
        with as_output_error(self.shown), self._store.here(self.uri, ()) as here:
            temporary = here / f".{STORE_STATE}"
            temporary.write_bytes(state.as_bytes())
            self._store.upload(temporary, f"{self.uri}/{STORE_STATE}")
        self.state = state

    def clear(self) -> None:
        """Delete files that do not count: of a killed process, or replaced."""
        counted = {file.path for file in self.files()}
        tables = f"{self.uri}/{TABLES_FOLDER}"
        if self._store.is_folder(tables):
            for entry in self._store.files(tables):
                if "/".join(entry.below) not in counted:
                    self._store.delete(f"{tables}/{'/'.join(entry.below)}")
            for table in self._store.folders(tables):
                for cluster in self._store.folders(table):
                    for day in self._store.folders(cluster):
                        self._store.delete_empty(day)
        for folder in self._store.folders(f"{self.uri}/{CARRY_FOLDER}"):
            if name_of(folder) != carry_name(self.state.night):
                self._store.delete(folder)

    # The carry.

    def carried(self) -> list[SourceFile]:
        """Return the files with the records and topics of earlier nights."""
        if not self.state.night:
            return []
        return [self._carried(name) for name in (_RECORDS, _TOPICS)]

    def write_carry(self, carry: Carry) -> None:
        """Write the carry for the night after the next."""
        target = self._carry(self.state.night + 1)
        with as_output_error(self.shown), self._scratch() as scratch:
            (folder := scratch / name_of(target)).mkdir()
            with pq.ParquetWriter(
                folder / _RECORDS, ROWS, compression="zstd"
            ) as records:
                for table in carry.records:
                    records.write_table(table)
            pq.write_table(
                pa.Table.from_pylist([*carry.topics], ROWS), folder / _TOPICS
            )
            for name, table in carry.context.tables.items():
                pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
            self._store.make_folder(f"{self.uri}/{CARRY_FOLDER}")
            self._store.delete(target)
            self._store.upload(folder, target)

    def context(self) -> CauseContext:
        """Return the rebalances before those of the next night."""
        if not self.state.night:
            return no_context()
        folder = self._carry(self.state.night)
        found = {}
        for name in COLUMNS:
            with (
                as_output_error(self.shown),
                self._store.open(f"{folder}/{name}.parquet") as file,
            ):
                found[name] = pq.read_table(pa.BufferReader(file.read()))
        return CauseContext(found)

    # The tables.

    def files(self) -> list[TableFile]:
        """Return the files of the tables that count, in the order of paths."""
        return counted(self.all_files(), self.state.night, self.state.first_day)

    def many(self, first: date | None) -> Iterator[list[TableFile]]:
        """Yield the files to merge of a table and day, in the order of nights.

        Those of the next night are among them; ``first`` is the first day that it
        keeps.
        """
        files = counted(self.all_files(), self.state.night + 1, first)
        final = (file for file in files if file.kind == FINAL)
        for _, same in groupby(sorted(final), attrgetter("place")):
            if found := nights_to_merge(same):
                yield found

    def rows(self, files: Sequence[TableFile], cluster: str) -> Iterator[pa.Table]:
        """Read files of one table; ``cluster`` is the store's."""
        with self.here(files) as there:
            for file in files:
                schema = SCHEMAS[file.table]
                rows = pq.ParquetFile(there / file.path).read()
                for name, value in (("cluster", cluster), ("date", file.day_text)):
                    values = pa.repeat(pa.scalar(value, pa.string()), len(rows))
                    rows = rows.append_column(name, values)
                yield rows.select(schema.names).cast(schema)

    def write(
        self,
        table: str,
        kind: str,
        rows: Iterable[pa.Table],
        since: int | None = None,
    ) -> None:
        """Write rows of the next night, in their order; ``kind`` is final or open.

        They are all rows of their days of the nights from ``since`` on, if it is given.
        """
        night = self.state.night + 1
        with as_output_error(self.shown), self._scratch() as scratch:
            write_files(folder := scratch / table, rows)
            for path in sorted(folder.rglob("*.parquet")):
                below = path.parent.relative_to(folder)
                number = int(path.stem.rpartition("-")[2])
                target = f"{self.uri}/{TABLES_FOLDER}/{table}/{below}"
                self._store.make_folder(target)
                name = file_name(kind, night, number, since)
                self._store.upload(path, f"{target}/{name}")

    @contextmanager
    def here(self, files: Iterable[TableFile]) -> Iterator[Path]:
        """Open the folder of tables on this machine, with these files."""
        paths = [file.path for file in files]
        tables = f"{self.uri}/{TABLES_FOLDER}"
        with as_output_error(self.shown), self._store.here(tables, paths) as folder:
            yield folder

    def all_files(self) -> list[TableFile]:
        """Return all files of the tables, those of the next night included."""
        tables = f"{self.uri}/{TABLES_FOLDER}"
        if not self._store.is_folder(tables):
            return []
        found = (
            table_file(entry.below, entry.length) for entry in self._store.files(tables)
        )
        return [file for file in found if file is not None]

    def _carried(self, name: str) -> SourceFile:
        uri = f"{self._carry(self.state.night)}/{name}"
        with (
            as_output_error(self.shown),
            self._store.open(uri) as file,
            pq.ParquetFile(pa.PythonFile(file, mode="r")) as parquet,
        ):
            stored, length = parquet.metadata, file.seek(0, os.SEEK_END)
            groups = map(stored.row_group, range(stored.num_row_groups))
            return SourceFile(
                name=uri,
                uri=uri,
                kind=SourceKind.RECORDS,
                layout=FileLayout.STORED,
                length=length,
                modified_ms=0,
                group_rows=tuple(group.num_rows for group in groups),
            )

    def _carry(self, night: int) -> str:
        return f"{self.uri}/{CARRY_FOLDER}/{carry_name(night)}"

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """Open a temporary folder from which files are moved into the store."""
        with self._store.here(self.uri, ()) as here:
            folder = here / _SCRATCH
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def opened_store(location: Location, store: FileStore) -> Iterator[HistoryStore]:
    """Open a store, or begin one, and lock it against other processes.

    Raises
    ------
    OutsideError
        If another process writes to it.
    SourceError, OutputError
        If it is not a store, or cannot be written to.
    """
    opened = HistoryStore(location, store)
    with ExitStack() as stack:
        with as_output_error(opened.shown):
            store.make_folder(opened.uri)
            try:
                stack.enter_context(store.locked(opened.uri, _LOCK))
            except BlockingIOError:
                reason = "another audit is writing to this store"
                raise OutsideError(f"{opened.shown}: {reason}") from None
        opened.load()
        yield opened
