"""rebalance/1 documents as a source: JSON Lines, one document, or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.cases import GIVEN, Case
from pipeline.sources.lines import Extent, Line, read_lines
from pipeline.sources.rows import UNREADABLE, Row, case_row, quarantine_row
from rebalance import (
    DocumentError,
    Rebalance,
    parse_rebalance,
    read_rebalances,
    to_json,
)
from rebalance.arrow import from_table


def is_in_lines(path: Path) -> bool:
    """Return whether a file has one document per line, judging by its first line."""
    for line in read_lines(path):
        if line.text.strip():
            return line.text.rstrip().endswith(b"}")
    return False


def read_document_lines(
    path: Path, extent: Extent, source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield the documents of an extent of lines."""
    for line in read_lines(path, extent):
        if line.text.strip():
            yield _row_of_line(line, source, max_partitions)


def read_document_file(path: Path, source: str, max_partitions: int) -> Iterator[Row]:
    """Yield the documents of a file that is not JSON Lines."""
    documents = read_rebalances(str(path), max_partitions=max_partitions)
    for number, found in enumerate(documents, start=1):
        if isinstance(found, DocumentError):
            line = number if found.line is None else found.line
            yield _unreadable(found, source, line, None)
        else:
            yield case_row(_case(found, source, number))


def read_document_table(
    path: Path, row_group: int, source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield one row group's documents.

    Raises
    ------
    OSError, pyarrow.ArrowException, DocumentError
        If the file is damaged, or has unknown columns.
    """
    with pq.ParquetFile(path) as file:
        number = sum(file.metadata.row_group(i).num_rows for i in range(row_group))
        for batch in file.iter_batches(row_groups=[row_group], batch_size=256):
            table = pa.Table.from_batches([batch])
            for found in from_table(table, max_partitions=max_partitions):
                number += 1
                if isinstance(found, DocumentError):
                    yield _unreadable(found, source, number, None)
                else:
                    yield case_row(_case(found, source, number))


def _row_of_line(line: Line, source: str, max_partitions: int) -> Row:
    try:
        if line.whole:
            document = parse_rebalance(line.text, max_partitions=max_partitions)
            return case_row(_case(document, source, line.number))
        error = DocumentError("a line too long to be read")
    except DocumentError as found:
        error = found
    return _unreadable(error, source, line.number, line.text)


def _unreadable(
    error: DocumentError, source: str, number: int, raw: bytes | None
) -> Row:
    reason = f"{error.path}: {error.reason}"
    return quarantine_row(UNREADABLE, reason, source=source, line=number, raw=raw)


def _case(document: Rebalance, source: str, number: int) -> Case:
    return Case(
        rebalance_id=f"{source}:{number}",
        group_id=document.group,
        source_kind="rebalance",
        source=source,
        source_offset=number,
        owned_from=GIVEN,
        document=to_json(document).decode(),
    )
