"""Records of ``__consumer_offsets`` as JSON Lines, key and value in hex or base64.

One object per line: ``partition``, ``offset``, ``key``, ``value`` (null is a
tombstone), and optionally ``timestamp`` (milliseconds, or a date and time in UTC) and
``topic``; names and encoding as `pipeline.sources.record_format` has them.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from pipeline.files.lines import Line
from pipeline.records import OFFSETS_TOPIC
from pipeline.records.record_times import milliseconds
from pipeline.rows import UNREADABLE, Row, quarantine_row, record_row
from pipeline.sources.record_format import (
    AS_SPARK,
    REQUIRED,
    Encoding,
    RecordFormat,
    decoded,
)
from rebalance import INT64_MAX

INT32_MAX: Final = 2**31 - 1


class _UnsoundError(ValueError):
    """A line that is not a record; the message states why."""


def row_of_line(line: Line, source: str, written: RecordFormat = AS_SPARK) -> Row:
    """Read one line: a record, or a row of quarantine with the reason."""
    try:
        return _row(line, source, written)
    except _UnsoundError as error:
        return quarantine_row(
            UNREADABLE, str(error), source=source, line=line.number, raw=line.text
        )


def _row(line: Line, source: str, written: RecordFormat) -> Row:
    if not line.whole:
        raise _UnsoundError("a line too long to be read")
    try:
        fields = orjson.loads(line.text)
    except orjson.JSONDecodeError as error:
        raise _UnsoundError(f"not JSON: {error.msg}") from None
    if not isinstance(fields, dict):
        raise _UnsoundError("not a JSON object")
    missing = [
        written.name(column)
        for column in REQUIRED
        if written.name(column) not in fields
    ]
    # Spark writes bytes as base64, and leaves out null values: a tombstone's value.
    omitted = [written.name("value")] if written.encoding is Encoding.BASE64 else []
    if missing and missing != omitted:
        raise _UnsoundError(f"no {', '.join(missing)}")
    topic = fields.get(written.name("topic"), OFFSETS_TOPIC)
    if topic != OFFSETS_TOPIC:
        raise _UnsoundError(f"a record of topic {topic!r}, not {OFFSETS_TOPIC}")
    key = _bytes(fields, "key", written)
    if key is None:
        raise _UnsoundError("key: a record without one")
    try:
        at = milliseconds(fields.get(written.name("timestamp")))
    except ValueError as error:
        raise _UnsoundError(f"not a time: {error}") from None
    place = {
        "source_partition": _number(fields, written.name("partition"), INT32_MAX),
        "source_offset": _number(fields, written.name("offset"), INT64_MAX),
        "at": at,
    }
    return record_row(source, place, key=key, value=_bytes(fields, "value", written))


def _bytes(fields: dict[str, Any], column: str, written: RecordFormat) -> bytes | None:
    name, encoding = written.name(column), written.encoding or Encoding.HEX
    text = fields.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise _UnsoundError(f"{name} is not a text of {encoding.value}")
    try:
        return decoded(text, encoding)
    except ValueError:
        raise _UnsoundError(f"{name} is not {encoding.value}") from None


def _number(fields: dict[str, Any], name: str, most: int) -> int:
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise _UnsoundError(f"{name} is not a number from 0 to {most}")
    return value
