"""rebalance/1 documents as a source: JSON Lines, one document, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import pyarrow as pa

from pipeline.cases import GIVEN, Case
from pipeline.sources.lines import Line
from pipeline.sources.rows import UNREADABLE, Row, case_row, quarantine_row
from rebalance import (
    DocumentError,
    Rebalance,
    parse_rebalance,
    rebalances_in,
    to_json,
)
from rebalance.arrow import from_table


def read_document_lines(
    lines: Iterable[Line], source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield the documents of lines."""
    for line in lines:
        if line.text.strip():
            yield _row_of_line(line, source, max_partitions)


def read_document_file(
    file: BinaryIO, source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield the documents of a file that is not JSON Lines."""
    documents = rebalances_in(file, source, max_partitions=max_partitions)
    for number, found in enumerate(documents, start=1):
        if isinstance(found, DocumentError):
            line = number if found.line is None else found.line
            yield _unreadable(found, source, line, None)
        else:
            yield case_row(_case(found, source, number))


def document_of_row(table: pa.Table, source: str, number: int, most: int) -> Row:
    """Return the document of a table of one row, with at most ``most`` partitions."""
    (found,) = from_table(table, max_partitions=most)
    if isinstance(found, DocumentError):
        return _unreadable(found, source, number, None)
    return case_row(_case(found, source, number))


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
