"""Files of documents, and pairs of an instance with its assignment."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from verify.schema import Unreadable, parse

Read = Callable[[bytes], dict[str, Any]]


class Mismatch(ValueError):  # noqa: N818 - a finding, not a fault
    """Instances and assignments that do not belong together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One document of a file, or why it cannot be read; ``line`` counts from 1."""

    source: str
    line: int
    document: dict[str, Any]
    error: Unreadable | None = None

    @property
    def id(self) -> str | None:
        """The document's id; None where it has none or cannot be read."""
        found: str | None = self.document.get("id")
        return found


def read_entries(source: str, read: Read) -> list[Entry]:
    """Read a file, ``-`` for standard input: one document, or one per line.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    try:
        if source == "-":
            content = binary(sys.stdin, "standard input").read()
        else:
            content = Path(source).read_bytes()
    except OSError as error:
        error.filename = error.filename or "standard input"
        raise
    return [_entry(source, line, text, read) for line, text in _texts(content)]


def binary(stream: TextIO | None, name: str) -> BinaryIO:
    """Return the bytes of a standard stream, which may have been closed at start."""
    if stream is None:
        raise OSError(errno.EBADF, "closed", name)
    return stream.buffer


def paired(
    instances: Sequence[Entry], assignments: Sequence[Entry]
) -> list[tuple[Entry, Entry]]:
    """Pair by position, or by id where all carry one and the order differs.

    Raises
    ------
    Mismatch
        If the numbers of documents differ, or the ids do not match.
    """
    if len(instances) != len(assignments):
        counts = f"{len(instances)} instances, {len(assignments)} assignments"
        raise Mismatch(f"{counts}: one assignment is needed for each instance")
    by_id = {entry.id: entry for entry in assignments}
    wanted = {entry.id for entry in instances}
    pairs = list(zip(instances, assignments, strict=True))
    if None not in wanted and wanted == by_id.keys() and len(by_id) == len(pairs):
        return [(entry, by_id[entry.id]) for entry in instances]
    for instance, assignment in pairs:
        ids = (instance.id, assignment.id)
        if None not in ids and ids[0] != ids[1]:
            place = f"{assignment.source}:{assignment.line}"
            raise Mismatch(f"{place}: id {ids[1]!r}, but the instance has {ids[0]!r}")
    return pairs


def _texts(content: bytes) -> list[tuple[int, bytes]]:
    """Split JSON Lines, with line numbers; one document may span many lines.

    A file has lines if its first line is JSON, or if it is not JSON as a whole but
    some line is an object that names its format. Only the first brace of a document
    opens such an object, so no line within a document is one.
    """
    numbered = enumerate(content.split(b"\n"), start=1)
    lines = [(number, line) for number, line in numbered if line.strip()]
    if len(lines) > 1 and (
        _is_json(lines[0][1])
        or (any(_is_document(line) for _, line in lines) and not _is_json(content))
    ):
        return lines
    return [(1, content)]


def _is_document(line: bytes) -> bool:
    is_object = line.lstrip().startswith(b"{") and b'"format"' in line
    return is_object and _is_json(line)


def _is_json(content: bytes) -> bool:
    try:
        parse(content)
    except Unreadable:
        return False
    return True


def _entry(source: str, line: int, text: bytes, read: Read) -> Entry:
    try:
        return Entry(source=source, line=line, document=read(text))
    except Unreadable as error:
        return Entry(source=source, line=line, document={}, error=error)
