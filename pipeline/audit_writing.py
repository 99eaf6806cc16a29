"""Atomic writing of an audit, its tables and its page: all of them, or none.

A folder contains a complete audit if and only if it contains ``audit.json``, which is
written last and removed first. An unfinished audit is in a hidden folder next to the
tables, under the name of its request. If it is interrupted, the next run with the same
request continues it (`pipeline.unfinished`), and any other run deletes it. The audit
that a killed run was about to replace is restored.

Files are put in place by renaming. Where a rename copies, as in object stores, it takes
longer, and a kill in the middle leaves a folder without ``audit.json``, which is not an
audit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
import pyarrow as pa

from pipeline.files import FileStore, Location, as_given, shown, uri_of
from pipeline.table_files import write_files
from pipeline.tables import MANIFEST, PAGE, SCHEMAS, TABLES
from pipeline.unfinished import Unfinished
from rebalance import OutputError

UNFINISHED: Final = ".unfinished"
_LOCK: Final = ".lock"
OLD: Final = ".replaced"
_MEBIBYTE: Final = 1 << 20
WHOLE: Final = (MANIFEST, PAGE, *TABLES)
"""Files and folders of an audit, in the order in which they are removed."""


WritePage: TypeAlias = Callable[[Path], None]
"""Writes `PAGE` into a folder with the tables and the manifest of an audit."""

Tell: TypeAlias = Callable[[str], None]
"""Receives one line for the user."""


def no_report(_line: str) -> None:
    """Ignore a line for the user."""


class Staging:
    """A hidden folder for one audit, inside the output folder."""

    def __init__(self, out: Location, store: FileStore, request_name: str) -> None:
        self.out = uri_of(out)
        self.shown = as_given(out)
        self.folder = f"{self.out}/{UNFINISHED}/{request_name}"
        self.work = Unfinished(self.folder, store)
        self.is_committed = False
        self._store = store

    def write(self, name: str, tables: Iterable[pa.Table]) -> None:
        """Write a table from its rows in order (`pipeline.table_files`)."""
        self.fill(name, partial(write_files, tables=tables))

    def fill(self, name: str, make: Callable[[Path], None]) -> None:
        """Write a table by a function that makes its folder."""
        target = f"{self.folder}/{name}"
        with as_output_error(self.shown), self._store.here(self.folder, ()) as here:
            self._store.delete(target)
            make(here / name)
            self._store.upload(here / name, target)

    def commit(self, manifest: dict[str, Any], page: WritePage | None) -> None:
        """Write the page, and replace the existing audit by the staged one.

        Raises
        ------
        OutputError
            If writing fails; the existing audit is then restored.
        """
        read = () if page is None else SCHEMAS
        old = f"{self.out}/{OLD}"
        with as_output_error(self.shown), self._store.here(self.folder, read) as here:
            (here / MANIFEST).write_bytes(manifest_bytes(manifest))
            self._store.upload(here / MANIFEST, f"{self.folder}/{MANIFEST}")
            if page is not None:
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
        """Restore the audit that a killed run was replacing, and remove leftovers."""
        old = f"{self.out}/{OLD}"
        if not self._exists(self.out, MANIFEST) and self._exists(old, MANIFEST):
            for name in reversed(WHOLE):
                if self._exists(old, name):
                    self._store.delete(f"{self.out}/{name}")
                    self._move([name], old, self.out)
        self._store.delete(old)
        for folder in self._store.folders(f"{self.out}/{UNFINISHED}"):
            if not (keeps_work and folder == self.folder):
                self._store.delete(folder)
        self._store.delete_empty(f"{self.out}/{UNFINISHED}")

    def _move(self, names: Iterable[str], source: str, target: str) -> None:
        """Rename existing files of these names."""
        for name in names:
            if self._exists(source, name):
                self._store.rename(f"{source}/{name}", f"{target}/{name}")

    def _exists(self, folder: str, name: str) -> bool:
        return self._store.is_folder(f"{folder}/{name}") is not None


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return the content of ``audit.json``."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(manifest, option=options)


@contextmanager
def staging(
    out: Location, store: FileStore, request_name: str = "audit", tell: Tell = no_report
) -> Iterator[Staging]:
    """Open a staging folder; if the block fails, keep work that can be continued.

    ``store`` is the file system of ``out``; the remains of requests of other names are
    deleted. ``tell`` receives the place and the size of the work that is kept.

    Raises
    ------
    OutputError
        If the folder cannot be created or written to, or another audit is writing to
        it.
    """
    place = Staging(out, store, request_name)
    with ExitStack() as stack:
        with as_output_error(place.shown):
            if store.is_folder(place.out) is None:
                stack.callback(store.delete_empty, place.out)
            store.make_folder(place.out)
            try:
                stack.enter_context(store.locked(place.out, _LOCK))
            except BlockingIOError:
                reason = "another audit is writing to this folder"
                raise OutputError(reason, target=place.shown) from None
        try:
            with as_output_error(place.shown):
                place.clear(keeps_work=True)
                if store.is_folder(f"{place.out}/{PAGE}"):
                    target = f"{place.shown}/{PAGE}"
                    raise OutputError("cannot write: is a folder", target=target)
                store.make_folder(place.folder)
            yield place
        finally:
            keeps_work = not place.is_committed and place.work.is_begun
            with suppress(OSError):  # a signal can arrive while the audit is replaced
                place.clear(keeps_work=keeps_work)
            if keeps_work:
                tell(_kept(place))


def refuse_replaced(out: Location, read: Iterable[Location]) -> None:
    """Check that no file that is read has the place of a table, page, or manifest.

    Raises
    ------
    OutputError
        If one has.
    """
    for location in read:
        if is_part_of_audit(out, location):
            named = shown(uri_of(location))
            reason = f"{named} is read by this audit, which would replace it"
            raise OutputError(f"{reason}: write to another folder", target=str(out))


def is_part_of_audit(out: Location, location: Location) -> bool:
    """Return whether a file has the place of a table, page, or manifest."""
    uri = uri_of(location)
    places = [f"{uri_of(out)}/{name}" for name in WHOLE]
    return any(uri == place or uri.startswith(f"{place}/") for place in places)


def _kept(place: Staging) -> str:
    """Describe work that is kept."""
    size = ""
    with suppress(OSError):  # Java can still be deleting unfinished files
        size = f" ({place.work.size / _MEBIBYTE:.1f} MiB)"
    where = f"{place.shown}/{UNFINISHED}"
    return f"finished work is kept in {where}{size}; the same command continues it"


@contextmanager
def as_output_error(target: Path | str) -> Iterator[None]:
    """Convert a failure of the folder to an `OutputError`."""
    try:
        yield
    except OutputError:
        raise
    except (OSError, pa.ArrowInvalid) as error:
        reason = str(error)
        if isinstance(error, OSError) and error.errno and error.strerror:
            reason = os.strerror(error.errno)  # pyarrow says more than the reason
        raise OutputError(reason, target=str(target)) from error
