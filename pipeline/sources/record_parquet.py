"""Records of ``__consumer_offsets`` as Parquet, in the columns of Spark's Kafka source.

``key`` and ``value`` are binary, or text with a given encoding; ``partition`` and
``offset`` are integers; optional columns are ``timestamp`` (a timestamp, in UTC unless
it has a zone, or milliseconds) and ``topic``. Names are as
`pipeline.sources.record_format` has them.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from pipeline.records import OFFSETS_TOPIC
from pipeline.records.record_times import milliseconds
from pipeline.rows import UNREADABLE, Row, quarantine_row, record_row
from pipeline.sources.record_format import (
    OPTIONAL,
    REQUIRED,
    Encoding,
    RecordFormat,
    decoded,
)

_SHOWN: Final = 12
"""Columns that a message lists."""


def missing_columns(schema: pa.Schema, written: RecordFormat) -> str | None:
    """Return why a schema is not that of records; None if it is."""
    names = {column: written.name(column) for column in REQUIRED}
    missing = [name for name in names.values() if name not in schema.names]
    if missing:
        there = ", ".join(schema.names[:_SHOWN]) or "none"
        return f"Parquet without column {', '.join(missing)}; its columns are {there}"
    for column in ("key", "value"):
        kind = schema.field(names[column]).type
        if not is_bytes(kind) and (written.encoding is None or not is_text(kind)):
            hint = "; add --encoding hex or base64" if is_text(kind) else ""
            return f"Parquet whose column {names[column]} is {kind}, not binary{hint}"
    for column in ("partition", "offset"):
        kind = schema.field(names[column]).type
        if not pa.types.is_integer(kind):
            return f"Parquet whose column {names[column]} is {kind}, not an integer"
    name = written.name("timestamp")
    if name in schema.names and not _is_time(schema.field(name).type):
        return f"Parquet whose column {name} is {schema.field(name).type}, not a time"
    return None


def record_columns(schema: pa.Schema, written: RecordFormat) -> dict[str, str]:
    """Return the columns to read, by our names, with their names in the file."""
    wanted = {column: written.name(column) for column in (*REQUIRED, *OPTIONAL)}
    return {column: name for column, name in wanted.items() if name in schema.names}


def is_bytes(kind: pa.DataType) -> bool:
    """Return whether a column holds bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_time(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) or pa.types.is_integer(kind) or is_text(kind)


def record_of_fields(
    fields: dict[str, Any], source: str, number: int, encoding: Encoding | None
) -> Row:
    """Return the row of a record; any other value becomes quarantine.

    ``fields`` are the columns of `COLUMNS` with our names, as read.
    """
    reason, at = _why_unsound(fields), None
    try:
        at = milliseconds(fields.get("timestamp"))
    except ValueError as error:
        reason = f"not a time: {error}"
    parts: dict[str, bytes | None] = {}
    for column in ("key", "value"):
        try:
            parts[column] = _bytes(fields[column], encoding)
        except ValueError:
            reason = f"{column} is not {encoding.value if encoding else 'bytes'}"
            parts[column] = fields[column]
    if reason is not None:
        return quarantine_row(
            UNREADABLE,
            reason,
            source=source,
            line=number,
            raw=parts["value"],
            key=parts["key"],
        )
    place = {
        "source_partition": fields["partition"],
        "source_offset": fields["offset"],
        "at": at,
    }
    return record_row(source, place, key=parts["key"] or b"", value=parts["value"])


def _why_unsound(fields: dict[str, Any]) -> str | None:
    """Return why a record is not one of a group, or has no place; None if neither."""
    topic = fields.get("topic")
    if topic is not None and topic != OFFSETS_TOPIC:
        return f"a record of topic {topic!r}, not {OFFSETS_TOPIC}"
    if fields["key"] is None:
        return "key: a record without one"
    if not all(_is_sound(fields[name], bits) for name, bits in _BITS.items()):
        return "partition or offset missing or out of range"
    return None


def _bytes(data: bytes | None, encoding: Encoding | None) -> bytes | None:
    if data is None or encoding in (None, Encoding.BYTES):
        return data
    return decoded(data.decode("ascii"), encoding)


_BITS: Final = {"partition": 31, "offset": 63}


def _is_sound(value: object, bits: int) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << bits
