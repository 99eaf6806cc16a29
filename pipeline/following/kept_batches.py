"""Folders of kept records, of which each batch of the stream is in exactly one.

    batch=N             the records of batch N, as Parquet
    batches=N-M         those of the batches N to M, merged
    _merged/batches=N-M an empty folder: this merged folder is complete, and counts
    .NAME-TOKEN         written at present, or left by a process that was killed

A folder is written under a hidden name of its own and then renamed, so that it is
always whole, and a Java process that outlives its killed parent for a moment cannot add
to it. If a batch is read again, its folder is replaced.

A merged folder counts from the moment at which its note in ``_merged`` exists, and the
folders that it replaces count up to this moment. They are deleted afterwards; files
that do not count are never read, and the next process deletes the files of a killed
one. A rename that copies, as in object stores, can leave part of a merged folder, but
not its note.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final

from pipeline.audit_writing import as_output_error
from pipeline.files import FileStore, name_of, shown
from pipeline.following.batch_ranges import BatchRange, merges, outermost, range_of

_NOTES: Final = "_merged"


class KeptBatches:
    """The folders below ``records``, which is a URI."""

    def __init__(self, records: str, store: FileStore) -> None:
        self._records = records
        self._store = store

    def folder(self, batches: BatchRange) -> str:
        """Return the URI of the folder with these batches."""
        return f"{self._records}/{batches.name}"

    def folders(self) -> list[str]:
        """Return the URIs of all folders that count, in order."""
        return [self.folder(range_) for range_ in self.ranges()]

    def ranges(self) -> list[BatchRange]:
        """Return the batches of each folder that counts, in order."""
        notes = set(self._ranges(f"{self._records}/{_NOTES}"))
        found = self._ranges(self._records)
        return outermost(
            range_ for range_ in found if range_.size == 1 or range_ in notes
        )

    def temporary_folder(self, batches: BatchRange) -> str:
        """Return the URI of a new hidden folder to write batches in."""
        return f"{self._records}/.{batches.name}-{uuid.uuid4().hex}"

    def place(self, temporary_folder: str, batches: BatchRange) -> None:
        """Put a folder that was written aside in place."""
        target = self.folder(batches)
        self._delete(target)
        self._store.rename(temporary_folder, target)

    def merge(self, count: int, write: Callable[[list[str], str], None]) -> int:
        """Merge adjacent small folders; return the number of new ones.

        ``count`` batches are committed. Later ones are not merged, because they will be
        written again. ``write`` reads folders, and writes all their records to another.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        with as_output_error(shown(self._records)):
            due = list(merges(self._lengths(count)))
            for whole, parts in due:
                temporary_folder = self.temporary_folder(whole)
                write([self.folder(part) for part in parts], temporary_folder)
                self.place(temporary_folder, whole)
                # From here on it counts, instead of those that it replaces.
                self._store.make_folder(f"{self._records}/{_NOTES}/{whole.name}")
                self._clear()
        return len(due)

    def clear(self) -> None:
        """Delete files that do not count: those that a killed process has left.

        Raises
        ------
        OutputError
            If it cannot be deleted.
        """
        with as_output_error(shown(self._records)):
            self._clear()

    def _clear(self) -> None:
        counted = self.ranges()
        for folder in self._store.folders(self._records):
            found = range_of(name_of(folder))
            is_left = found is not None and found not in counted
            if is_left or name_of(folder).startswith("."):
                self._delete(folder)
        for folder in self._store.folders(f"{self._records}/{_NOTES}"):
            noted = range_of(name_of(folder))
            if noted is not None and noted not in counted:
                self._delete(folder)

    def _lengths(self, count: int) -> dict[BatchRange, int]:
        """Return the bytes of each folder with committed batches."""
        lengths = {range_: 0 for range_ in self.ranges() if range_.last < count}
        for entry in self._store.files(self._records) if lengths else ():
            found = range_of(entry.below[0])
            if found in lengths:
                lengths[found] += entry.length
        return lengths

    def _ranges(self, folder: str) -> list[BatchRange]:
        names = map(name_of, self._store.folders(folder))
        return [found for name in names if (found := range_of(name)) is not None]

    def _delete(self, folder: str) -> None:
        self._store.delete(folder)
        if self._store.is_folder(folder):
            raise OSError(f"cannot delete {shown(folder)}")
