"""Rows of what Spark's readers return: pieces of text, records, and documents.

A piece is a run of whole lines of one file with the number of its first line: a small
file as it is, plain or gzip, or one line of a large file. A log segment is one piece.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby

from pipeline.records import decode_record
from pipeline.sources.avro_files import rows_of_avro
from pipeline.sources.console_json import rows_of_console_json
from pipeline.sources.console_lines import is_remark, row_of_console_line
from pipeline.sources.describe_files import read_describe
from pipeline.sources.documents import read_document_file, read_document_lines
from pipeline.sources.dump_files import rows_of_dump
from pipeline.sources.leader_logs import rows_of_leader_logs
from pipeline.sources.lines import Line, read_lines, unpacked
from pipeline.sources.log_segments import rows_of_segment
from pipeline.sources.record_lines import row_of_line
from pipeline.sources.rows import (
    RECORD,
    UNREADABLE,
    Row,
    quarantine_row,
)
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from rebalance import MAX_PARTITIONS, OracleError, WireError


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """Whole lines of a file; ``first`` is the number of the first."""

    file: SourceFile
    first: int
    text: bytes

    def lines(self) -> Iterator[Line]:
        """Yield the lines."""
        return read_lines(io.BytesIO(self.text), first=self.first)


def rows_of_piece(
    piece: TextPiece, max_partitions: int = MAX_PARTITIONS
) -> Iterator[Row]:
    """Yield the rows of records or documents; an error becomes a row of quarantine."""
    source = piece.file.name
    try:
        for row in _rows(piece, max_partitions):
            yield keyed(row) if row["what"] == RECORD else row
    except (OSError, EOFError, zlib.error, OracleError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        yield quarantine_row(UNREADABLE, f"breaks off here: {first}", source=source)


def rows_of_folder(pieces: Iterable[TextPiece]) -> Iterator[Row]:
    """Yield the rows of the describe texts of one folder, sorted by file and line.

    All files of a folder have the same `SourceFile.group_name`.
    """
    pieces = iter(pieces)
    first = next(pieces, None)
    if first is None:
        return iter(())
    texts = (
        (name, (line for piece in group for line in piece.lines()))
        for name, group in groupby(
            chain((first,), pieces), key=lambda piece: piece.file.name
        )
    )
    return read_describe(texts, group_name=first.file.group_name)


def rows_of_dumps(pieces: Iterable[TextPiece]) -> Iterator[Row]:
    """Yield the rows of outputs of ``kafka-dump-log``, sorted by file and line."""
    for name, group in groupby(pieces, key=lambda piece: piece.file.name):
        failures: list[Row] = []
        lines = (line for piece in group for line in piece.lines())
        for row in rows_of_dump(_until_failure(lines, name, failures), name):
            yield keyed(row) if row["what"] == RECORD else row
        yield from failures


def rows_of_formatters(pieces: Iterable[TextPiece]) -> Iterator[Row]:
    """Yield the records of all output of formatters, in files of any order."""
    failures: list[Row] = []

    def texts() -> Iterator[tuple[str, bytes]]:
        for piece in sorted(pieces, key=lambda piece: piece.file.name):
            name = piece.file.name
            whole = _until_failure(piece.lines(), name, failures)
            yield name, b"\n".join(line.text for line in whole)

    for row in rows_of_console_json(texts()):
        yield keyed(row) if row["what"] == RECORD else row
    yield from failures


def rows_of_logs(pieces: Iterable[TextPiece]) -> Iterator[Row]:
    """Yield the assignments in logs of applications, sorted by file and line."""
    failures: list[Row] = []

    def logs() -> Iterator[tuple[str, Iterator[Line]]]:
        for name, group in groupby(pieces, key=lambda piece: piece.file.name):
            lines = (line for piece in group for line in piece.lines())
            yield name, _until_failure(lines, name, failures)

    yield from rows_of_leader_logs(logs())
    yield from failures


def _until_failure(
    lines: Iterator[Line], source: str, failures: list[Row]
) -> Iterator[Line]:
    """Yield the lines before the place where a file cannot be read."""
    try:
        yield from lines
    except (OSError, EOFError, zlib.error) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        reason = f"breaks off here: {first}"
        failures.append(quarantine_row(UNREADABLE, reason, source=source))


def _rows(piece: TextPiece, max_partitions: int) -> Iterator[Row]:
    file = piece.file
    if file.partition is not None:
        return rows_of_segment(piece.text, file.name, file.partition)
    if file.layout is FileLayout.AVRO:
        return rows_of_avro(piece.text, file.name, file.written)
    if file.layout is FileLayout.CONSOLE:
        lines = (line for line in piece.lines() if not is_remark(line.text))
        return (row_of_console_line(line, file.name) for line in lines)
    if file.kind is SourceKind.RECORDS:
        written = file.written
        lines = (line for line in piece.lines() if line.text.strip())
        return (row_of_line(line, file.name, written) for line in lines)
    if file.layout is FileLayout.DOCUMENT:
        text = unpacked(io.BytesIO(piece.text))
        return read_document_file(text, file.name, max_partitions)
    return read_document_lines(piece.lines(), file.name, max_partitions)


def keyed(row: Row) -> Row:
    """Add the group of a record, from its key."""
    try:
        group_id = decode_record(row["key"], None).group_id
    except WireError as error:
        return quarantine_row(
            UNREADABLE,
            str(error),
            source=row["source"],
            line=row["source_offset"],
            raw=row["value"],
            key=row["key"],
            source_partition=row["source_partition"],
            at=row["at"],
        )
    return row | {"group_id": group_id}
