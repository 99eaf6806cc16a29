"""Which texts are read together, and how: for Spark and for the local reader.

Describe texts of one folder show the groups at one moment, files of Kafka Connect's
sink have the values of others' keys, and output of formatters, and logs of
applications, have the records of one group in any file. All other texts are read by
themselves.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Final

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

_TOGETHER: Final = (FileLayout.CONSOLE_JSON, FileLayout.LOG)


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


def rows_of_texts(
    pieces: Iterable[TextPiece], max_partitions: int = MAX_PARTITIONS
) -> Iterator[Row]:
    """Yield the rows of pieces that are sorted by `place_of`, and by line."""
    for together, found in groupby(pieces, key=lambda piece: place_of(piece.file)[0]):
        if together:
            yield from _rows_of_set(found)
        else:
            for piece in found:
                yield from rows_of_piece(piece, max_partitions)


def _rows_of_set(pieces: Iterator[TextPiece]) -> Iterator[Row]:
    """Yield the rows of one set; what breaks off is used up to there."""
    first = next(pieces)
    file, pieces = first.file, chain([first], pieces)
    failures: list[Row] = []
    if file.layout is FileLayout.SINK:
        yield from rows_of_pair(pieces)
    elif file.layout is FileLayout.LOG:
        yield from rows_of_leader_logs(_texts(pieces, failures))
    elif file.layout is FileLayout.CONSOLE_JSON:
        texts = _texts(pieces, failures)
        yield from rows_of_console_json(
            (name, b"\n".join(line.text for line in lines)) for name, lines in texts
        )
    else:
        texts = _texts(pieces, failures)
        yield from read_describe(texts, group_name=file.group_name)
    yield from failures


def _texts(
    pieces: Iterable[TextPiece], failures: list[Row]
) -> Iterator[tuple[str, Iterator[Line]]]:
    """Yield the name and the lines of each file."""
    for name, of_file in groupby(pieces, key=lambda piece: piece.file.name):
        lines = chain.from_iterable(piece.lines() for piece in of_file)
        yield name, _until_failure(name, lines, failures)


def _until_failure(
    name: str, lines: Iterable[Line], failures: list[Row]
) -> Iterator[Line]:
    """Yield the lines of a file; where it breaks off, an empty line marks the place."""
    number = 0
    try:
        for line in lines:
            number = line.number
            yield line
    except (OSError, EOFError, zlib.error) as error:
        failures.append(broken_off_row(error, name, number + 1))
        yield Line(number=number + 1, text=b"", whole=False, ended=False)
