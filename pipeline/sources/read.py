"""Rows of pieces of source files: records, cases, and quarantine.

All files are read here, by Python and Arrow: in the tasks of an audit, and in the
process that reads one group without Spark.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator

import pyarrow as pa

from pipeline.files.lines import Line, unpacked
from pipeline.rows import Row, batches_of, broken_off_row, keyed
from pipeline.sources.avro_files import rows_of_avro
from pipeline.sources.console_json import rows_of_console_json
from pipeline.sources.console_lines import is_remark, row_of_console_line
from pipeline.sources.describe_files import read_describe
from pipeline.sources.document_source import read_document_file, read_document_lines
from pipeline.sources.find import FoundSources
from pipeline.sources.leader_logs import rows_of_leader_logs
from pipeline.sources.log_segments import rows_of_segment
from pipeline.sources.parquet_tables import batches_of_table, stored_batches
from pipeline.sources.record_lines import row_of_line
from pipeline.sources.sink_rows import rows_of_pair
from pipeline.sources.source_file import FileLayout
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.source_pieces import Pieces, SourcePiece, pieces_of, place_of
from rebalance import MAX_PARTITIONS, OracleError


def read_found(found: FoundSources, max_partitions: int = MAX_PARTITIONS) -> list[Row]:
    """Read local files that were found; rows as in `ROWS`, in no particular order."""
    rows: list[Row] = []
    for pieces in pieces_of(found.files):
        if pieces[0].file.layout is FileLayout.PARQUET:
            for batch in batches_of_table(pieces[0], max_partitions):
                rows += batch.to_pylist()
        else:
            rows += rows_of_texts(pieces, max_partitions)
    return rows


def batches_of_pieces(
    found: Iterable[Pieces], max_partitions: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of pieces of files of this machine; batches as in `ROWS`."""
    texts: list[Pieces] = []
    for pieces in found:
        if pieces[0].file.layout is FileLayout.PARQUET:
            yield from batches_of_table(pieces[0], max_partitions)
        elif pieces[0].file.layout is FileLayout.STORED:
            yield from stored_batches(pieces[0])
        else:
            texts.append(pieces)
    yield from batches_of(
        row for pieces in texts for row in rows_of_texts(pieces, max_partitions)
    )


def rows_of_texts(pieces: Pieces, max_partitions: int) -> Iterator[Row]:
    """Yield the rows of texts that are read together; damage becomes quarantine."""
    first, failures = pieces[0].file, list[Row]()
    if not place_of(first)[0]:
        yield from _rows_of_piece(pieces[0], max_partitions)
    elif first.layout is FileLayout.SINK:
        yield from rows_of_pair((piece.file, piece.data()) for piece in pieces)
    elif first.layout is FileLayout.LOG:
        yield from rows_of_leader_logs(_texts(pieces, failures))
    elif first.layout is FileLayout.CONSOLE_JSON:
        yield from rows_of_console_json(
            (name, b"\n".join(line.text for line in lines))
            for name, lines in _texts(pieces, failures)
        )
    else:
        texts = _texts(pieces, failures)
        yield from read_describe(texts, group_name=first.group_name)
    yield from failures


def _texts(pieces: Pieces, failures: list[Row]) -> Iterator[tuple[str, Iterable[Line]]]:
    for piece in pieces:
        yield piece.file.name, _until_failure(piece, failures)


def _until_failure(piece: SourcePiece, failures: list[Row]) -> Iterator[Line]:
    """Yield the lines of a file; where it breaks off, an empty line marks the place."""
    number = 0
    try:
        for line in piece.lines():
            number = line.number
            yield line
    except (OSError, EOFError, zlib.error) as error:
        failures.append(broken_off_row(error, piece.file.name, number + 1))
        yield Line(number=number + 1, text=b"", whole=False, ended=False)


def _rows_of_piece(piece: SourcePiece, max_partitions: int) -> Iterator[Row]:
    """Yield the rows of records or documents."""
    try:
        yield from map(keyed, _rows(piece, max_partitions))
    except (OSError, EOFError, zlib.error, OracleError) as error:
        yield broken_off_row(error, piece.file.name)


def _rows(piece: SourcePiece, max_partitions: int) -> Iterator[Row]:
    file = piece.file
    if file.partition is not None:
        return rows_of_segment(piece.data(), file.name, file.partition)
    if file.layout is FileLayout.AVRO:
        return rows_of_avro(piece.data(), file.name, file.written)
    if file.layout is FileLayout.CONSOLE:
        lines = (line for line in piece.lines() if not is_remark(line.text))
        return (row_of_console_line(line, file.name) for line in lines)
    if file.kind is SourceKind.RECORDS:
        written = file.written
        lines = (line for line in piece.lines() if line.text.strip())
        return (row_of_line(line, file.name, written) for line in lines)
    if file.layout is FileLayout.DOCUMENT:
        text = unpacked(io.BytesIO(piece.data()))
        return read_document_file(text, file.name, max_partitions)
    return read_document_lines(piece.lines(), file.name, max_partitions)
