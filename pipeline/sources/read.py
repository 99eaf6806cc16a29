"""Rows of what Spark's readers return: pieces of text, records, and documents.

A piece is a run of whole lines of one file with the number of its first line: a small
file as it is, plain or gzip, or one line of a large file. A log segment is one piece.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.records import decode_record
from pipeline.sources.avro_files import rows_of_avro
from pipeline.sources.console_lines import is_remark, row_of_console_line
from pipeline.sources.documents import read_document_file, read_document_lines
from pipeline.sources.lines import Line, read_lines, unpacked
from pipeline.sources.log_segments import rows_of_segment
from pipeline.sources.record_lines import row_of_line
from pipeline.sources.rows import (
    RECORD,
    UNREADABLE,
    Row,
    broken_off_row,
    record_quarantined,
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
    try:
        for row in _rows(piece, max_partitions):
            yield keyed(row)
    except (OSError, EOFError, zlib.error, OracleError) as error:
        yield broken_off_row(error, piece.file.name)


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
    """Add the group of a record, from its key; return other rows as they are."""
    if row["what"] != RECORD:
        return row
    try:
        group_id = decode_record(row["key"], None).group_id
    except WireError as error:
        return record_quarantined(UNREADABLE, row, str(error))
    return row | {"group_id": group_id}
