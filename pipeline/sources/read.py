"""Read a split of any source kind into rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pyarrow as pa

from pipeline.records import decode_record
from pipeline.sources.describe_files import read_describe
from pipeline.sources.documents import (
    is_in_lines,
    read_document_file,
    read_document_lines,
    read_document_table,
)
from pipeline.sources.find import Split
from pipeline.sources.lines import read_lines
from pipeline.sources.record_lines import row_of_line
from pipeline.sources.record_parquet import read_records
from pipeline.sources.rows import (
    RECORD,
    UNREADABLE,
    Row,
    quarantine_row,
)
from pipeline.sources.source_kind import SourceKind
from rebalance import MAX_PARTITIONS, OracleError, WireError


def rows_of(split: Split, max_partitions: int = MAX_PARTITIONS) -> Iterator[Row]:
    """Yield the rows of a split; an error becomes a row of quarantine."""
    source = split.files[0][0]
    try:
        for row in _reader(split, max_partitions):
            yield keyed(row) if row["what"] == RECORD else row
    except (OSError, EOFError, zlib.error, pa.ArrowException, OracleError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        yield quarantine_row(UNREADABLE, f"breaks off here: {first}", source=source)


def _reader(split: Split, max_partitions: int) -> Iterator[Row]:
    if split.kind is SourceKind.DESCRIBE:
        return read_describe(split.files)
    source, path = split.files[0]
    if split.kind is SourceKind.RECORDS:
        if split.row_group is not None:
            return read_records(path, split.row_group, source)
        lines = read_lines(path, split.extent)
        return (row_of_line(line, source) for line in lines if line.text.strip())
    if split.row_group is not None:
        return read_document_table(path, split.row_group, source, max_partitions)
    if split.extent.is_whole and not is_in_lines(path):
        return read_document_file(path, source, max_partitions)
    return read_document_lines(path, split.extent, source, max_partitions)


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
