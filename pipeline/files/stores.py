"""The interface of a file system for the audit, and the choice of one by a location."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from pipeline.files.location import is_local
from rebalance import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file: location, path below the folder it was found in, bytes, ms since 1970."""

    uri: str
    below: tuple[str, ...]
    length: int
    modified_ms: int


class FileStore(Protocol):
    """A file system; failures are ``OSError``."""

    def is_folder(self, uri: str) -> bool | None:
        """Return whether a location is a folder; None if there is nothing."""

    def files(self, uri: str) -> list[FileEntry]:
        """Return the file, or all files below the folder, in the order of paths."""

    def folders(self, uri: str) -> list[str]:
        """Return the locations of the folders in a folder, in the order of names."""

    def open(self, uri: str) -> BinaryIO:
        """Open a file for reading; the stream can seek."""

    def make_folder(self, uri: str) -> None:
        """Create a folder and its parents."""

    def rename(self, uri: str, target: str) -> None:
        """Move a file or a folder within its file system; nothing is at the target."""

    def delete(self, uri: str) -> None:
        """Delete a file, or a folder with all that is in it, if it exists."""

    def delete_empty(self, uri: str) -> None:
        """Delete a folder if there is nothing in it."""

    def locked(self, uri: str, name: str) -> AbstractContextManager[None]:
        """Lock a folder against other writers by a file, where there are locks."""

    def here(self, uri: str, names: Iterable[str]) -> AbstractContextManager[Path]:
        """Open a folder of this machine with these files and folders of a folder."""

    def upload(self, source: Path, uri: str) -> None:
        """Move a file or a folder from `here` to its place, replacing a file."""


def _no_remote() -> FileStore:
    raise SourceError("needs a Spark session", source="URI")


class Stores:
    """File systems by location; Hadoop's are opened when one is needed."""

    def __init__(
        self, local: FileStore, remote: Callable[[], FileStore] = _no_remote
    ) -> None:
        self._local = local
        self._open_remote = remote
        self._remote: FileStore | None = None

    def of(self, uri: str) -> FileStore:
        """Return the file system of a location."""
        if is_local(uri):
            return self._local
        if self._remote is None:
            self._remote = self._open_remote()
        return self._remote
