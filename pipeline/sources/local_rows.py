"""Rows of local files without Spark: the same rows as Spark's readers yield.

For one group of a source of moderate size, starting Spark would take longer than
reading. Files are read as a whole, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.files import local_path
from pipeline.sources.documents import document_of_row
from pipeline.sources.find import Found
from pipeline.sources.read import (
    TextPiece,
    keyed,
    rows_of_dumps,
    rows_of_folder,
    rows_of_formatters,
    rows_of_logs,
    rows_of_piece,
)
from pipeline.sources.record_format import COLUMNS
from pipeline.sources.record_parquet import record_columns, record_of_fields
from pipeline.sources.rows import RECORD, Row
from pipeline.sources.sink_rows import rows_of_pair
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from rebalance import MAX_PARTITIONS


def read_found(found: Found, max_partitions: int = MAX_PARTITIONS) -> list[Row]:
    """Read local files that were found; rows as in `ROWS`, in no particular order."""
    describes = [file for file in found.files if file.kind is SourceKind.DESCRIBE]
    sinks = [file for file in found.files if file.layout is FileLayout.SINK]
    printed = [file for file in found.files if file.layout is FileLayout.CONSOLE_JSON]
    logs = [file for file in found.files if file.layout is FileLayout.LOG]
    apart = {file.uri for file in (*describes, *sinks, *printed, *logs)}
    others = [file for file in found.files if file.uri not in apart]
    rows = [row for file in others for row in _rows(file, max_partitions)]
    sinks.sort(key=lambda file: (file.pair, file.name))
    for _, pair in groupby(sinks, key=lambda file: file.pair):
        rows += rows_of_pair([_piece(file) for file in pair])
    printed.sort(key=lambda file: file.name)
    rows += rows_of_formatters(_piece(file) for file in printed)
    logs.sort(key=lambda file: (file.folder, file.name))
    rows += rows_of_logs(_piece(file) for file in logs)
    describes.sort(key=lambda file: (file.folder, file.name))
    for _, folder in groupby(describes, key=lambda file: file.folder):
        rows += rows_of_folder(_piece(file) for file in folder)
    return rows


def _rows(file: SourceFile, most: int) -> Iterable[Row]:
    if file.layout is FileLayout.DUMP:
        return rows_of_dumps([_piece(file)])
    if file.layout is not FileLayout.PARQUET:
        return rows_of_piece(_piece(file), most)
    table = pq.read_table(pa.BufferReader(local_path(file.uri).read_bytes()))
    if file.kind is SourceKind.RECORDS:
        return _records(table, file)
    return (
        document_of_row(table.slice(at, 1), file.name, at + 1, most)
        for at in range(table.num_rows)
    )


def _records(table: pa.Table, file: SourceFile) -> Iterator[Row]:
    columns = record_columns(table.schema, file.written)
    for number, read in enumerate(_in_milliseconds(table).to_pylist(), start=1):
        fields = dict.fromkeys(COLUMNS) | {
            ours: read[name] for ours, name in columns.items()
        }
        row = record_of_fields(fields, file.name, number, file.written.encoding)
        yield keyed(row) if row["what"] == RECORD else row


def _in_milliseconds(table: pa.Table) -> pa.Table:
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            kind = pa.timestamp("ms", tz=field.type.tz)
            column = pc.cast(table.column(at), kind, safe=False).cast(pa.int64())
            table = table.set_column(at, field.name, column)
    return table


def _piece(file: SourceFile) -> TextPiece:
    return TextPiece(file=file, first=1, text=local_path(file.uri).read_bytes())
