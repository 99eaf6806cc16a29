"""The file system of this machine, without Java."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

from pipeline.files.location import LOCAL, local_path
from pipeline.files.stores import FileEntry


class LocalStore:
    """Files of this machine; see `pipeline.files.stores.FileStore`."""

    def is_folder(self, uri: str) -> bool | None:
        """Return whether a location is a folder; None if there is nothing."""
        path = local_path(uri)
        return path.is_dir() if path.exists() else None

    def files(self, uri: str) -> list[FileEntry]:
        """Return the file, or all files below the folder, in the order of paths."""
        top = local_path(uri)
        if not top.is_dir():
            return [_entry(top, ())]
        return [
            _entry(path, path.relative_to(top).parts)
            for path in sorted(top.rglob("*"))
            if path.is_file()
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


def _entry(path: Path, below: tuple[str, ...]) -> FileEntry:
    status = path.stat()
    return FileEntry(
        uri=LOCAL + str(path.resolve()),
        below=below,
        length=status.st_size,
        modified_ms=status.st_mtime_ns // 1_000_000,
    )
