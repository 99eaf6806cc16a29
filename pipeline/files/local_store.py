"""The file system of this machine, without Java."""

from __future__ import annotations

import errno
import os
import shutil
import stat
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
        local_path(uri).mkdir(parents=True, exist_ok=True)

    def delete(self, uri: str) -> None:
        """Delete a folder with all that is in it, as far as that is possible."""
        shutil.rmtree(local_path(uri), ignore_errors=True)


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
"""For what is read without Spark."""
