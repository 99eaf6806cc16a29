"""Rows of local files without Spark: the same rows as Spark's readers yield.

For one group of a source of moderate size, starting Spark would take longer than
reading. Files are read as a whole, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.files import local_path
from pipeline.sources.documents import document_of_row
from pipeline.sources.find import Found
from pipeline.sources.read import TextPiece, keyed
from pipeline.sources.record_format import COLUMNS
from pipeline.sources.record_parquet import record_columns, record_of_fields
from pipeline.sources.rows import Row
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.texts_together import place_of, rows_of_texts
from rebalance import MAX_PARTITIONS


def read_found(found: Found, max_partitions: int = MAX_PARTITIONS) -> list[Row]:
    """Read local files that were found; rows as in `ROWS`, in no particular order."""
    tables = [file for file in found.files if file.layout is FileLayout.PARQUET]
    texts = [file for file in found.files if file.layout is not FileLayout.PARQUET]
    rows = [row for file in tables for row in _rows_of_table(file, max_partitions)]
    texts.sort(key=place_of)
    pieces = (
        TextPiece(file=file, first=1, text=local_path(file.uri).read_bytes())
        for file in texts
    )
    rows += rows_of_texts(pieces, max_partitions)
    return rows


def _rows_of_table(file: SourceFile, most: int) -> Iterable[Row]:
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
        yield keyed(record_of_fields(fields, file.name, number, file.written.encoding))


def _in_milliseconds(table: pa.Table) -> pa.Table:
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            kind = pa.timestamp("ms", tz=field.type.tz)
            column = pc.cast(table.column(at), kind, safe=False).cast(pa.int64())
            table = table.set_column(at, field.name, column)
    return table
