"""The file system of this machine, without Java.

A file that is put in place is on the disk when a function returns: a file system can
write a deletion to the disk before the data that replaces the deleted file, and after a
loss of power both would be gone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from pipeline.files.location import LOCAL, local_path
from pipeline.files.stores import FileEntry, Stores
from rebalance import is_device_failure

_NOTHING: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EBADF)


class LocalStore:
    """Files of this machine; see `pipeline.files.stores.FileStore`."""

    def is_folder(self, uri: str) -> bool | None:
        """Return whether a location is a folder; None if there is nothing."""
        status = status_of(local_path(uri))
        return None if status is None else stat.S_ISDIR(status.st_mode)

    def files(self, uri: str) -> list[FileEntry]:
        """Return the file, or all files below the folder, in the order of paths."""
        top = local_path(uri)
        if not top.is_dir():
            return [_entry(top, (), top.stat())]
        found = sorted(
            Path(folder, name)
            for folder, _, names in os.walk(top, onerror=_unless_skipped)
            for name in names
        )
        return [
            _entry(path, path.relative_to(top).parts, status)
            for path in found
            if (status := status_of(path)) and stat.S_ISREG(status.st_mode)
        ]

    def open(self, uri: str) -> BinaryIO:
        """Open a file for reading."""
        return local_path(uri).open("rb")

    def folders(self, uri: str) -> list[str]:
        """Return the locations of the folders in a folder, in the order of names."""
        top = local_path(uri)
        if not top.is_dir():
            return []
        return [f"{uri}/{path.name}" for path in sorted(top.iterdir()) if path.is_dir()]

    def make_folder(self, uri: str) -> None:
        """Create a folder and its parents."""
        path = local_path(uri)
        path.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError):  # a parent that may not be read
            _flush(path.parent)

    def rename(self, uri: str, target: str) -> None:
        """Move a file or a folder within its file system; nothing is at the target."""
        _move_flushed(local_path(uri), local_path(target))

    def delete(self, uri: str) -> None:
        """Delete a file, or a folder with all that is in it, as far as possible."""
        path = local_path(uri)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def delete_empty(self, uri: str) -> None:
        """Delete a folder if there is nothing in it."""
        with suppress(OSError):
            local_path(uri).rmdir()

    @contextmanager
    def locked(self, uri: str, name: str) -> Iterator[None]:
        """Lock a folder against other processes; a killed one holds no lock.

        Raises
        ------
        BlockingIOError
            If it is locked.
        """
        path = local_path(uri) / name
        lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                yield
            finally:
                with suppress(OSError):
                    path.unlink()
        finally:
            os.close(lock)

    @contextmanager
    def here(self, uri: str, _names: Iterable[str]) -> Iterator[Path]:
        """Return the path of a folder: its files are on this machine."""
        yield local_path(uri)

    def upload(self, source: Path, uri: str) -> None:
        """Flush a file or a folder to the disk, which can be full, and move it."""
        _move_flushed(source, local_path(uri))


def status_of(path: Path) -> os.stat_result | None:
    """Return the status of a file or a folder; None if there is nothing.

    ``Path.exists`` of Python 3.14 is False also where a disk fails.

    Raises
    ------
    OSError
        If that cannot be known.
    """
    try:
        return path.stat()
    except ValueError:  # a name that no file can have
        return None
    except OSError as error:
        if error.errno in _NOTHING:
            return None
        raise


def _move_flushed(source: Path, target: Path) -> None:
    for folder, _, names in os.walk(source):
        for name in names:
            _flush(Path(folder, name))
        _flush(Path(folder))
    if not source.is_dir():
        _flush(source)
    source.replace(target)
    _flush(target.parent)


def _flush(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _unless_skipped(error: OSError) -> None:
    """Leave out a folder that cannot be listed, unless a disk fails."""
    if is_device_failure(error):
        raise error


def _entry(path: Path, below: tuple[str, ...], status: os.stat_result) -> FileEntry:
    return FileEntry(
        uri=LOCAL + str(path.resolve()),
        below=below,
        length=status.st_size,
        modified_ms=status.st_mtime_ns // 1_000_000,
    )


LOCAL_STORES: Final = Stores(LocalStore())
"""For files that are read without Spark."""
