"""Tables of records or documents as Parquet, read by Arrow, one row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.files import local_path
from pipeline.rows import (
    ROWS_PER_BATCH,
    UNREADABLE,
    Row,
    batches_of,
    quarantine_row,
)
from pipeline.sources.document_source import document_of_row
from pipeline.sources.record_batches import batches_of_records
from pipeline.sources.record_format import RecordFormat
from pipeline.sources.record_parquet import record_columns
from pipeline.sources.source_file import SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.source_pieces import SourcePiece

Batches: TypeAlias = Iterator[pa.RecordBatch]

BATCH_BYTES: Final = 4 << 20
"""Bytes of a batch, by the mean of its row group."""
MOST_ROWS: Final = 8_192
_KINDS: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "partition": pa.int64(),
    "offset": pa.int64(),
    "timestamp": pa.string(),
    "topic": pa.string(),
}
_PER_MILLISECOND: Final = {"ms": 1, "us": 1_000, "ns": 1_000_000}


def batches_of_table(piece: SourcePiece, max_partitions: int) -> Batches:
    """Yield the rows of a piece, as in `ROWS`; the last one states the damage."""
    file, unread, number, reason = piece.file, 0, piece.first, None
    is_of_records = file.kind is SourceKind.RECORDS
    path = local_path(file.uri)
    try:
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as parquet:
            every = range(parquet.metadata.num_row_groups)
            for group in every if piece.group is None else [piece.group]:
                left = parquet.metadata.row_group(group).num_rows
                try:
                    for batch in _batches(parquet, group, piece):
                        if is_of_records:
                            records = with_our_columns(batch, file.written)
                            yield from batches_of_records(records, file, number)
                        else:
                            documents = _documents(batch, file, number, max_partitions)
                            yield from batches_of(documents)
                        left -= batch.num_rows
                        number += batch.num_rows
                except (OSError, pa.ArrowException):
                    unread += left
                    number += left
            if unread:
                total = parquet.metadata.num_rows
                reason = f"breaks off here: {unread:,} of {total:,} rows cannot be read"
    except (OSError, IndexError, pa.ArrowException):  # or is another one by now
        reason = "the file cannot be read"
    if reason is not None:
        yield from batches_of([quarantine_row(UNREADABLE, reason, source=file.name)])


def stored_batches(piece: SourcePiece) -> Batches:
    """Yield the rows of a piece that has them as in `ROWS`."""
    with pq.ParquetFile(local_path(piece.file.uri)) as parquet:
        groups = None if piece.group is None else [piece.group]
        yield from parquet.iter_batches(ROWS_PER_BATCH, row_groups=groups)


def _batches(parquet: pq.ParquetFile, group: int, piece: SourcePiece) -> Batches:
    """Read a row group, of records the columns that are used."""
    columns = None
    if piece.file.kind is SourceKind.RECORDS:
        columns = [*record_columns(parquet.schema_arrow, piece.file.written).values()]
    stored = parquet.metadata.row_group(group)
    mean = stored.total_byte_size // max(1, stored.num_rows)
    size = max(1, min(MOST_ROWS, BATCH_BYTES // max(1, mean)))
    yield from parquet.iter_batches(size, row_groups=[group], columns=columns)


def _documents(
    batch: pa.RecordBatch, file: SourceFile, first: int, most: int
) -> Iterator[Row]:
    table = pa.Table.from_batches([batch])
    for at in range(len(table)):
        yield document_of_row(table.slice(at, 1), file.name, first + at, most)


def with_our_columns(batch: pa.RecordBatch, written: RecordFormat) -> pa.RecordBatch:
    """Return records in the columns key, value, partition, offset, timestamp, topic.

    Key and value are binary, partition and offset int64, the timestamp is text, in
    milliseconds if the file has a time or a number, and the topic is text. Columns that
    the file lacks are null.
    """
    names = record_columns(batch.schema, written)
    arrays = [
        _as(kind, batch.column(names[ours]))
        if ours in names
        else pa.nulls(batch.num_rows, kind)
        for ours, kind in _KINDS.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, [*_KINDS])


def _as(kind: pa.DataType, column: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        column = _milliseconds(column)
    try:
        return column.cast(kind, safe=False)  # 2**63 becomes negative: no offset
    except pa.ArrowException:  # a topic of an odd type
        return pa.array(
            [None if value is None else str(value) for value in column.to_pylist()]
        )


def _milliseconds(times: pa.Array) -> pa.Array:
    """Return times as milliseconds, rounded down."""
    units = _PER_MILLISECOND[times.type.unit]
    counts = times.cast(pa.int64())
    rest = pc.subtract(counts, pc.multiply(pc.divide(counts, units), units))
    down = pc.if_else(pc.less(rest, 0), 1, 0)
    return pc.subtract(pc.divide(counts, units), down)
