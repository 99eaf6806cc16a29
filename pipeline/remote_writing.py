"""Atomic writing of an audit to a file system of Hadoop, as `pipeline.writing`.

Unfinished tables are in a hidden folder of the same file system and are put in place by
renaming. Where a rename copies, as in object stores, it takes longer and a kill in the
middle leaves a folder without ``audit.json``, which is no audit. There is no lock: two
runs must not write to one folder at the same time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from pipeline.files import HadoopStore, name_of
from pipeline.tables import MANIFEST, PAGE, PARTITION_COLUMNS, SCHEMAS
from pipeline.unfinished import Unfinished
from pipeline.writing import (
    ASIDE,
    OLD,
    PART,
    WHOLE,
    Tell,
    WritePage,
    as_output_error,
    kept,
    manifest_bytes,
)
from rebalance import OutputError


class RemoteStaging:
    """A hidden folder for one audit, inside the output folder."""

    def __init__(self, out: str, store: HadoopStore, asked: str) -> None:
        self.out = out
        self.folder = f"{out}/{ASIDE}/{asked}"
        self.work = Unfinished(self.folder, store)
        self.is_committed = False
        self._store = store

    def write(self, table: DataFrame, name: str) -> int:
        """Write one table; return its length in bytes."""
        target = f"{self.folder}/{name}"
        writer = table.write.mode("overwrite").partitionBy(*PARTITION_COLUMNS)
        writer.parquet(target)
        with as_output_error(self.out):
            return self._tidy(target)

    def commit(self, manifest: dict[str, Any], page: WritePage | None) -> None:
        """Write the page, and replace the existing audit by the staged one.

        The page is written on this machine, next to a copy of the tables.

        Raises
        ------
        OutputError
            If writing fails; the existing audit is then restored.
        """
        old = f"{self.out}/{OLD}"
        with as_output_error(self.out), tempfile.TemporaryDirectory() as scratch:
            here = Path(scratch)
            (here / MANIFEST).write_bytes(manifest_bytes(manifest))
            self._store.upload(here / MANIFEST, f"{self.folder}/{MANIFEST}")
            if page is not None:
                for name in SCHEMAS:
                    self._store.download(f"{self.folder}/{name}", here / name)
                page(here)
                self._store.upload(here / PAGE, f"{self.folder}/{PAGE}")
            self._store.make_folder(old)
            try:
                self._move(WHOLE, self.out, old)
                self._move(reversed(WHOLE), self.folder, self.out)
            except OSError:
                self._move(WHOLE, self.out, self.folder)
                self._move(reversed(WHOLE), old, self.out)
                raise
            self.is_committed = True

    def clear(self, *, keeps_work: bool) -> None:
        """Restore the audit that a killed run was about to replace, then tidy up."""
        exists, old = self._store.is_folder, f"{self.out}/{OLD}"
        lost = exists(f"{self.out}/{MANIFEST}") is None
        if lost and exists(f"{old}/{MANIFEST}") is not None:
            for name in WHOLE:
                if exists(f"{old}/{name}") is not None:
                    self._store.delete(f"{self.out}/{name}")
            self._move(reversed(WHOLE), old, self.out)
        self._store.delete(old)
        for folder in self._store.folders(f"{self.out}/{ASIDE}"):
            if not (keeps_work and folder == self.folder):
                self._store.delete(folder)
        if not keeps_work:
            self._store.delete(f"{self.out}/{ASIDE}")

    def _move(self, names: Iterable[str], source: str, target: str) -> None:
        for name in names:
            if self._store.is_folder(f"{source}/{name}") is not None:
                self._store.rename(f"{source}/{name}", f"{target}/{name}")

    def _tidy(self, target: str) -> int:
        """Rename Spark's files, delete its markers; return the size of the files."""
        self._store.make_folder(target)  # Spark writes no folder for no rows
        size, counts = 0, dict[str, int]()
        for entry in self._store.files(target):
            if not entry.uri.endswith(".parquet"):
                self._store.delete(entry.uri)
                continue
            folder = entry.uri.removesuffix(name_of(entry.uri))
            number = counts[folder] = counts.get(folder, -1) + 1
            self._store.rename(entry.uri, folder + PART.format(number))
            size += entry.length
        return size


@contextmanager
def remote_staging(
    out: str, store: HadoopStore, asked: str, tell: Tell
) -> Iterator[RemoteStaging]:
    """Open a staging folder, as `pipeline.writing.staging`.

    Raises
    ------
    OutputError
        If the folder cannot be created or written to.
    """
    place = RemoteStaging(out, store, asked)
    with as_output_error(out):
        made = store.is_folder(out) is None
        store.make_folder(out)
        place.clear(keeps_work=True)
        if store.is_folder(f"{out}/{PAGE}"):
            raise OutputError("cannot write: is a folder", target=f"{out}/{PAGE}")
        store.make_folder(place.folder)
    try:
        yield place
    finally:
        with suppress(OSError):
            keeps_work = not place.is_committed and place.work.is_begun
            place.clear(keeps_work=keeps_work)
            if keeps_work:
                tell(kept(f"{out}/{ASIDE}", place.work))
            elif made and store.is_folder(f"{out}/{MANIFEST}") is None:
                store.delete(out)
