"""Which texts are read together, and how: for Spark and for the local reader.

Describe texts of one folder show the groups at one moment, files of Kafka Connect's
sink have the values of others' keys, and output of formatters, and logs of
applications, have the records of one group in any file. All other texts are read by
themselves.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from typing import Final, TypeAlias

from pipeline.sources.console_json import rows_of_console_json
from pipeline.sources.describe_files import read_describe
from pipeline.sources.leader_logs import rows_of_leader_logs
from pipeline.sources.lines import Line
from pipeline.sources.read import TextPiece, rows_of_piece
from pipeline.sources.rows import Row, broken_off_row
from pipeline.sources.sink_rows import rows_of_pair
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from rebalance import MAX_PARTITIONS

_Pieces: TypeAlias = Iterator[TextPiece]


def set_of(file: SourceFile) -> str:
    """Return the name of the set that a text is read with; empty: by itself."""
    if file.kind is SourceKind.DESCRIBE:
        return f"{file.kind.value} {file.folder}"
    if file.layout is FileLayout.SINK and file.sink is not None:
        return f"{file.layout.value} {file.sink.pair}"
    return file.layout.value if file.layout.value in _READERS else ""


def place_of(file: SourceFile) -> tuple[str, str, str]:
    """Return the set, the folder, and the name, by which texts are to be sorted."""
    return set_of(file), file.folder, file.name


def rows_of_texts(
    pieces: Iterable[TextPiece], max_partitions: int = MAX_PARTITIONS
) -> Iterator[Row]:
    """Yield the rows of pieces that are sorted by `place_of`, and by line."""
    for name, together in groupby(pieces, key=lambda piece: set_of(piece.file)):
        if name:
            yield from _READERS[name.split()[0]](together)
        else:
            for piece in together:
                yield from rows_of_piece(piece, max_partitions)


def _rows_of_folder(pieces: _Pieces) -> Iterator[Row]:
    """Yield the rows of describe texts, which have the same `SourceFile.group_name`."""
    first = next(pieces)
    texts = _texts(chain([first], pieces))
    return read_describe(texts, group_name=first.file.group_name)


def _rows_of_formatters(pieces: _Pieces) -> Iterator[Row]:
    """Yield the records of all output of formatters, by names of files."""
    failures: list[Row] = []
    texts = (
        (name, b"\n".join(line.text for line in _until_failure(lines, name, failures)))
        for name, lines in _texts(sorted(pieces, key=lambda piece: piece.file.name))
    )
    yield from rows_of_console_json(texts)
    yield from failures


def _rows_of_logs(pieces: _Pieces) -> Iterator[Row]:
    """Yield the assignments in logs of applications."""
    failures: list[Row] = []
    yield from rows_of_leader_logs(
        (name, _until_failure(lines, name, failures)) for name, lines in _texts(pieces)
    )
    yield from failures


_READERS: Final[dict[str, Callable[[_Pieces], Iterator[Row]]]] = {
    SourceKind.DESCRIBE.value: _rows_of_folder,
    FileLayout.SINK.value: rows_of_pair,
    FileLayout.CONSOLE_JSON.value: _rows_of_formatters,
    FileLayout.LOG.value: _rows_of_logs,
}


def _texts(pieces: Iterable[TextPiece]) -> Iterator[tuple[str, Iterator[Line]]]:
    """Yield the name and the lines of each file."""
    for name, of_file in groupby(pieces, key=lambda piece: piece.file.name):
        yield name, chain.from_iterable(piece.lines() for piece in of_file)


def _until_failure(
    lines: Iterator[Line], source: str, failures: list[Row]
) -> Iterator[Line]:
    """Yield the lines before the place where a file cannot be read."""
    try:
        yield from lines
    except (OSError, EOFError, zlib.error) as error:
        failures.append(broken_off_row(error, source))
