"""Atomic writing of an audit, its tables and its page: all of them, or none.

A folder contains a complete audit if and only if it contains ``audit.json``, which is
written last and removed first. An unfinished audit is in a hidden folder next to the
tables, under the name of its request. If it is interrupted, the next run with the same
request continues it (`pipeline.unfinished`), and any other run deletes it. The audit
that a killed run was about to replace is restored.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
from pyspark.sql import DataFrame

from pipeline.files import LocalStore, uri_of
from pipeline.tables import MANIFEST, PAGE, PARTITION_COLUMNS, TABLES
from pipeline.unfinished import Unfinished
from rebalance import OutputError

ASIDE: Final = ".unfinished"
OLD: Final = ".replaced"
_LOCK: Final = ".lock"
_MEBIBYTE: Final = 1 << 20
PART: Final = "part-{:05d}.parquet"
WHOLE: Final = (MANIFEST, PAGE, *TABLES)
"""Files and folders of an audit, in the order in which they are removed."""


WritePage: TypeAlias = Callable[[Path], None]
"""Writes `PAGE` into a folder with the tables and the manifest of an audit."""

Tell: TypeAlias = Callable[[str], None]
"""Receives one line for the user."""


def untold(_line: str) -> None:
    """Ignore a line for the user."""


class Staging:
    """A hidden folder for one audit, inside the output folder."""

    def __init__(self, out: Path, asked: str) -> None:
        self.out = out
        self.folder = out / ASIDE / asked
        self.work = Unfinished(uri_of(self.folder), LocalStore())
        self.is_committed = False

    def write(self, table: DataFrame, name: str) -> int:
        """Write one table; return its length in bytes."""
        target = self.folder / name
        # Rows are already sorted by the partition columns, so Spark keeps their order.
        table.write.mode("overwrite").partitionBy(*PARTITION_COLUMNS).parquet(
            uri_of(target)
        )
        with as_output_error(self.out):
            return _tidy(target)

    def commit(self, manifest: dict[str, Any], page: WritePage | None) -> None:
        """Write the page, and replace the existing audit by the staged one.

        Raises
        ------
        OutputError
            If writing fails; the existing audit is then restored.
        """
        aside = self.folder / MANIFEST
        with as_output_error(self.out):
            aside.write_bytes(manifest_bytes(manifest))
            _sync(aside)
            if page is not None:
                page(self.folder)
                _sync(self.folder / PAGE)
            (self.out / OLD).mkdir()
            try:
                _move(WHOLE, self.out, self.out / OLD)
                _move(reversed(WHOLE), self.folder, self.out)
            except OSError:
                _move(WHOLE, self.out, self.folder)
                _move(reversed(WHOLE), self.out / OLD, self.out)
                raise
            self.is_committed = True


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    """Return the content of ``audit.json``."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(manifest, option=options)


@contextmanager
def staging(out: Path, asked: str = "audit", tell: Tell = untold) -> Iterator[Staging]:
    """Open a staging folder; if the block fails, keep what can be continued.

    Parameters
    ----------
    asked
        Name of the request; what others have left is deleted.
    tell
        Told the place and the size of what is kept.

    Raises
    ------
    OutputError
        If the folder cannot be created or written to, or another audit is writing to
        it.
    """
    made = not out.exists()
    with as_output_error(out):
        out.mkdir(parents=True, exist_ok=True)
        lock = _locked(out)
    place = Staging(out, asked)
    try:
        with as_output_error(out):
            _recover(out)
            _clear(out, but=asked)
            if (out / PAGE).is_dir():
                raise OutputError("cannot write: is a folder", target=str(out / PAGE))
            place.folder.mkdir(parents=True, exist_ok=True)
        yield place
    finally:
        with suppress(OSError):
            _recover(out)  # a signal can arrive while the audit is replaced
        if not place.is_committed and place.work.is_begun:
            _clear(out, but=asked)
            tell(kept(str(out / ASIDE), place.work))
        else:
            _clear(out)
        with suppress(OSError):
            (out / _LOCK).unlink()
        os.close(lock)
        if made:
            with suppress(OSError):  # not empty: it contains the audit
                out.rmdir()


def kept(folder: str, work: Unfinished) -> str:
    """Describe work that is kept."""
    size = ""
    with suppress(OSError):  # Java can still be deleting what it has not finished
        size = f" ({work.size / _MEBIBYTE:.1f} MiB)"
    return f"finished work is kept in {folder}{size}; the same command continues it"


@contextmanager
def as_output_error(target: Path | str) -> Iterator[None]:
    """Convert a failure of the folder to an `OutputError`."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(reason, target=str(target)) from error


def _locked(out: Path) -> int:
    """Lock the folder against a second audit."""
    lock = os.open(out / _LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        reason = "another audit is writing to this folder"
        raise OutputError(reason, target=str(out)) from None
    return lock


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    """Rename existing files of these names."""
    for name in names:
        if (source / name).exists():
            (source / name).rename(target / name)


def _recover(out: Path) -> None:
    """Restore the audit that a killed run was about to replace."""
    if (out / MANIFEST).exists() or not (out / OLD / MANIFEST).exists():
        return
    for name in reversed(WHOLE):
        if (out / OLD / name).exists():
            shutil.rmtree(out / name, ignore_errors=True)
            (out / OLD / name).rename(out / name)


def _clear(out: Path, but: str | None = None) -> None:
    """Delete what audits have left, but the folder of one request."""
    shutil.rmtree(out / OLD, ignore_errors=True)
    for folder in (out / ASIDE).glob("*"):
        if folder.name != but:
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # not empty, or not there
        (out / ASIDE).rmdir()


def _tidy(target: Path) -> int:
    """Rename Spark's files; delete its checksums and markers.

    Returns
    -------
    int
        Total size of the files, in bytes.
    """
    target.mkdir(exist_ok=True)
    size = 0
    for folder in sorted({target, *(path.parent for path in target.rglob("*"))}):
        parts = []
        for path in sorted(folder.iterdir()):
            if path.suffix == ".parquet":
                parts.append(path)
            elif path.is_file():
                path.unlink()
        for number, path in enumerate(parts):
            size += path.stat().st_size
            path.rename(folder / PART.format(number))
    return size


def _sync(path: Path) -> None:
    """Flush the file to disk, where a full disk is reported."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
