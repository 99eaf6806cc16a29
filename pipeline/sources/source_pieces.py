"""Pieces of source files, and which of them are read together.

A piece is a row group of a table, a run of whole lines of a large text, or a file. Of
texts, some are read together: describe texts of one folder show the groups at one
moment, files of Kafka Connect's sink have the values of others' keys, and output of
formatters, and logs of applications, have the records of one group in any file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import BinaryIO, Final, TypeAlias

from pipeline.files import is_local, local_path
from pipeline.files.lines import LINE_LIMIT, Line, read_lines
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind

BLOCK_BYTES: Final = 32 << 20
"""Bytes of a large text that are one piece, and more to the end of its last line."""
_CHUNK: Final = 1 << 20
_TOGETHER: Final = (FileLayout.CONSOLE_JSON, FileLayout.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePiece:
    """A part of a file, of about ``length`` bytes.

    It begins at byte ``start`` with the line or row ``first``. ``count`` is the number
    of its lines, None: all; ``group`` is its row group, None: all of them.
    """

    file: SourceFile
    length: int
    start: int = 0
    first: int = 1
    count: int | None = None
    group: int | None = None

    def open(self) -> BinaryIO:
        """Open the file, which is on this machine."""
        return local_path(self.file.uri).open("rb")

    def data(self) -> bytes:
        """Return the whole file."""
        with self.open() as stream:
            return stream.read()

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the piece."""
        with self.open() as stream:
            stream.seek(self.start)
            lines = read_lines(stream, first=self.first, limit=LINE_LIMIT)
            yield from islice(lines, self.count)


Pieces: TypeAlias = tuple[SourcePiece, ...]
"""Pieces that are read together, in order: whole texts, or one piece."""


def pieces_of(files: Iterable[SourceFile], most: int | None = None) -> list[Pieces]:
    """Divide files into pieces: first tables, then texts in the order of `place_of`.

    Pieces of a large text have ``most`` bytes, by default `BLOCK_BYTES`, and the end of
    their last line. Files of other machines are not divided.
    """
    tables: list[Pieces] = []
    texts: list[SourceFile] = []
    for file in files:
        if file.layout in (FileLayout.PARQUET, FileLayout.STORED):
            tables += [(piece,) for piece in _row_groups(file)]
        else:
            texts.append(file)
    found: list[Pieces] = []
    for together, some in groupby(
        sorted(texts, key=place_of), key=lambda file: place_of(file)[0]
    ):
        if together:
            found.append(tuple(map(_whole, some)))
        else:
            found += [
                (piece,)
                for file in some
                for piece in _blocks(file, most or BLOCK_BYTES)
            ]
    return tables + found


def place_of(file: SourceFile) -> tuple[str, str]:
    """Return the set that a text is read with, and its name: the order of reading.

    The set is empty for texts that are read by themselves.
    """
    together = ""
    if file.kind is SourceKind.DESCRIBE:
        together = f"{file.kind.value} {file.folder}"
    elif file.sink is not None:
        together = f"{file.layout.value} {file.sink.pair}"
    elif file.layout in _TOGETHER:
        together = file.layout.value
    return together, file.name


def _whole(file: SourceFile) -> SourcePiece:
    """Return a file as a piece, without fields that only the division needs."""
    return SourcePiece(file=replace(file, group_rows=()), length=file.length)


def _row_groups(file: SourceFile) -> Iterator[SourcePiece]:
    whole, total = _whole(file), max(1, sum(file.group_rows))
    if not is_local(file.uri):
        yield whole
        return
    first = 1
    for group, rows in enumerate(file.group_rows):
        length = file.length * rows // total
        yield replace(whole, length=length, first=first, group=group)
        first += rows


def _blocks(file: SourceFile, most: int) -> list[SourcePiece]:
    """Divide a large text at ends of lines, whose numbers are counted."""
    whole, found = _whole(file), list[SourcePiece]()
    if not (file.is_large and is_local(file.uri)):
        return [whole]
    try:
        with whole.open() as stream:
            start = first = 0
            while block := stream.read(most):
                count, is_ended = block.count(b"\n"), block.endswith(b"\n")
                while not is_ended and (rest := stream.readline(_CHUNK)):
                    is_ended = rest.endswith(b"\n")
                    count += is_ended
                count += not is_ended
                length = stream.tell() - start
                found.append(
                    replace(
                        whole, length=length, start=start, first=first + 1, count=count
                    )
                )
                start, first = start + length, first + count
    except OSError:
        return [whole]  # it is noted when the piece is read
    return found
