"""rebalance/1 documents as a source: JSON Lines, one document, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import pyarrow as pa

from pipeline.cases import GIVEN, Case
from pipeline.files.lines import Line
from pipeline.rows import UNREADABLE, Row, case_row, quarantine_row
from rebalance import DocumentError, Rebalance, parse_rebalance, rebalances_in, to_json
from rebalance.arrow import from_table


def read_document_lines(
    lines: Iterable[Line], source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield the documents of lines."""
    for line in lines:
        if not line.text.strip():
            continue
        found: Rebalance | DocumentError = DocumentError("a line too long to be read")
        if line.whole:
            try:
                found = parse_rebalance(line.text, max_partitions=max_partitions)
            except DocumentError as error:
                found = error
        yield _row(found, source, line.number, line.text)


def read_document_file(
    file: BinaryIO, source: str, max_partitions: int
) -> Iterator[Row]:
    """Yield the documents of a file that is not JSON Lines."""
    documents = rebalances_in(file, source, max_partitions=max_partitions)
    for number, found in enumerate(documents, start=1):
        stated = found.line if isinstance(found, DocumentError) else None
        yield _row(found, source, number if stated is None else stated)


def document_of_row(table: pa.Table, source: str, number: int, most: int) -> Row:
    """Return the document of a table of one row, with at most ``most`` partitions."""
    (found,) = from_table(table, max_partitions=most)
    return _row(found, source, number)


def _row(
    found: Rebalance | DocumentError,
    source: str,
    number: int,
    raw: bytes | None = None,
) -> Row:
    if isinstance(found, DocumentError):
        reason = f"{found.path}: {found.reason}"
        return quarantine_row(UNREADABLE, reason, source=source, line=number, raw=raw)
    return case_row(
        Case(
            rebalance_id=f"{source}:{number}",
            group_id=found.group,
            source_kind="rebalance",
            source=source,
            source_offset=number,
            owned_from=GIVEN,
            document=to_json(found).decode(),
        )
    )
