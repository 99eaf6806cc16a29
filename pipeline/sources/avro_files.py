"""Records of ``__consumer_offsets`` as Avro: object container files.

Sinks write this by default. Each file is read as a whole with fastavro, so that Spark's
package for Avro, which is not part of its distribution, is not needed. Columns are as
in Parquet; a time is ``timestamp-millis``, ``timestamp-micros``, or a long.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Final

import fastavro

from pipeline.rows import Row, broken_off_row
from pipeline.sources.record_format import (
    COLUMNS,
    REQUIRED,
    Encoding,
    RecordFormat,
    encoding_of_key,
)
from pipeline.sources.record_parquet import record_of_fields
from rebalance import SourceError

AVRO_MAGIC: Final = b"Obj\x01"
_SHOWN: Final = 12
"""Fields that a message lists."""


def check_avro(file: BinaryIO, name: str, written: RecordFormat) -> None:
    """Check that a file has the fields of records, by its header.

    Raises
    ------
    SourceError
        If it has not, or the header cannot be read.
    """
    try:
        schema = fastavro.reader(file).writer_schema
    except Exception as error:  # noqa: BLE001  # of damaged bytes, anything
        reason = f"unreadable Avro: {error}"
        raise SourceError(reason, source=name, cause=error) from None
    fields = schema.get("fields", ()) if isinstance(schema, dict) else ()
    names = [field["name"] for field in fields]
    missing = [column for column in map(written.name, REQUIRED) if column not in names]
    if missing:
        there = ", ".join(names[:_SHOWN]) or "none"
        reason = f"Avro without field {', '.join(missing)}; its fields are {there}"
        raise SourceError(reason, source=name)


def rows_of_avro(data: bytes, source: str, written: RecordFormat) -> Iterator[Row]:
    """Yield the records of a file, with numbers from 1; broken ones are quarantined."""
    number = 0
    try:
        for number, record in enumerate(fastavro.reader(io.BytesIO(data)), start=1):
            yield _row(record, source, number, written)
    except Exception as error:  # noqa: BLE001  # of damaged bytes, anything
        yield broken_off_row(error, source, number + 1)


def _row(record: Any, source: str, number: int, written: RecordFormat) -> Row:
    fields = {column: record.get(written.name(column)) for column in COLUMNS}
    key = fields["key"]
    if written.encoding is None and isinstance(key, str):
        written = replace(written, encoding=encoding_of_key(key) or Encoding.HEX)
    for column in ("key", "value"):
        if isinstance(fields[column], str):
            fields[column] = fields[column].encode()
    return record_of_fields(fields, source, number, written.encoding)
