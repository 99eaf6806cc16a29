"""Folder of an unfinished audit: work that a later run with the same request continues.

The folder is named for the request (`pipeline.audit.fingerprint`):

    cases-TOKEN/        the reconstructed cases, in numbered parts
    judged-TOKEN-N/     the judged parts of these cases, by the N-th run
    TABLE/              a table

``cases-TOKEN.done`` and ``TABLE.done``, empty folders, say that these are complete.

Spark moves the file of a task into ``judged-…`` when the task is complete
(`pipeline.audit.stored_work`), so each file there has all rows of its parts, also after
a kill. A run writes into a folder of its own, and reads of the others only the files
that it found when it began: processes of a killed run can still write to theirs.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pipeline.files import FileStore, name_of

_CASES: Final = "cases-"
_DONE: Final = ".done"


class Unfinished:
    """An unfinished audit; ``folder`` is a URI."""

    def __init__(self, folder: str, store: FileStore) -> None:
        self.folder = folder
        self._store = store

    @property
    def is_begun(self) -> bool:
        """Whether there is anything that a later run can continue."""
        with suppress(OSError):
            return self._token() is not None
        return False

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.length for entry in self._store.files(self.folder))

    def cases(self) -> str | None:
        """Return the location of the complete cases, if there are any."""
        token = self._token()
        return None if token is None else f"{self.folder}/{_CASES}{token}"

    def saved_cases(self) -> list[str]:
        """Return the files of the complete cases."""
        location = self.cases()
        return [] if location is None else self.files(location)

    def new_cases(self) -> str:
        """Delete the unfinished work; return a new location for cases."""
        self.clear()
        return f"{self.folder}/{_CASES}{secrets.token_hex(4)}"

    def new_judged(self) -> str:
        """Return a new location for judged parts of the complete cases."""
        taken, number = self._names(), 1
        while (name := f"judged-{self._token()}-{number}") in taken:
            number += 1
        return f"{self.folder}/{name}"

    def judged_files(self) -> list[str]:
        """Return all files with judged parts of the complete cases."""
        mine = f"judged-{self._token()}-"
        return [
            uri
            for folder in self._store.folders(self.folder)
            if name_of(folder).startswith(mine)
            for uri in self.files(folder)
        ]

    def files(self, folder: str) -> list[str]:
        """Return the complete files of a folder, of Parquet or of Arrow."""
        return [
            f"{folder}/{entry.below[0]}"
            for entry in self._store.files(folder)
            if len(entry.below) == 1 and entry.uri.endswith((".parquet", ".arrow"))
        ]

    @contextmanager
    def here(self, files: Iterable[str]) -> Iterator[list[Path]]:
        """Open files of the folder on this machine."""
        names = [file.removeprefix(f"{self.folder}/") for file in files]
        with self._store.here(self.folder, names) as folder:
            yield [folder / name for name in names]

    def tables(self) -> set[str]:
        """Return the names of the complete tables."""
        names = self._names()
        whole = {name for name in names if name + _DONE in names}
        return {name for name in whole if not name.startswith(_CASES)}

    def finish(self, name: str) -> None:
        """Note that the cases or a table of this name are complete."""
        self._store.make_folder(f"{self.folder}/{name}{_DONE}")

    def clear(self) -> None:
        """Delete everything in the folder."""
        for folder in self._store.folders(self.folder):
            self._store.delete(folder)

    def _token(self) -> str | None:
        """Return the token of the complete cases; the first, if there are several."""
        names = self._names()
        for name in sorted(names):
            if name.startswith(_CASES) and name + _DONE in names:
                return name.removeprefix(_CASES)
        return None

    def _names(self) -> set[str]:
        return {name_of(folder) for folder in self._store.folders(self.folder)}
