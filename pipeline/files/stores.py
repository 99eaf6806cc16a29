"""What the audit needs of a file system, and the choice of one by a location."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

    def open(self, uri: str) -> BinaryIO:
        """Open a file for reading; the stream can seek."""


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
