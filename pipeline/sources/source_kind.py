"""Source kind of a file, detected from its first bytes."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa

from pipeline.describe.headings import heading_of, title_of
from pipeline.describe.kafka_ui import is_kafka_ui
from pipeline.describe.text_tables import plain_text
from pipeline.describe.tool_messages import note_of
from pipeline.files.lines import Line, read_lines, unpacked
from pipeline.sources.console_json import is_console_json
from pipeline.sources.console_lines import is_console, why_lossy
from pipeline.sources.leader_logs import is_leader_log
from pipeline.sources.other_tools import why_of_another_tool
from pipeline.sources.record_format import (
    REQUIRED,
    Encoding,
    RecordFormat,
    encoding_of_key,
)
from pipeline.sources.record_parquet import missing_columns
from rebalance import SourceError, is_device_failure

PARQUET_MAGIC: Final = b"PAR1"
_LINES_LOOKED_AT: Final = 200
_BYTES_LOOKED_AT: Final = 4 << 20  # of a line, or of a document in several lines
_LONG_LINES: Final = 4
_LOG_LOOKED_AT: Final = 256 << 20  # bytes of a log, of which few lines matter
_CHUNK: Final = 1 << 20
_SHOWN: Final = 200  # characters of names in a message
UNKNOWN: Final = "unknown format"
_FORMAT_PREFIX: Final = "rebalance/"
_FORMAT: Final = re.compile(rb'"format"\s*:\s*"rebalance/')


class SourceKind(Enum):
    """A source format; the values are those of ``source_format``."""

    RECORDS = "consumer-offsets"
    DESCRIBE = "describe"
    LEADER_LOG = "leader-log"
    REBALANCES = "rebalance"


STATES: Final = (SourceKind.DESCRIBE, SourceKind.LEADER_LOG)
"""Kinds that show states of groups, which records of the same groups can complete."""


class UnknownFormatError(SourceError):
    """A file that is not a source; the reason describes it."""


def first_lines(file: BinaryIO) -> list[Line]:
    """Return the first non-blank lines, up to a limit, or up to where it breaks off.

    Raises
    ------
    OSError, EOFError, zlib.error
        If no line can be read.
    """
    file.seek(0)
    found: list[Line] = []
    left = _LONG_LINES * _BYTES_LOOKED_AT
    lines = islice(read_lines(file, limit=_BYTES_LOOKED_AT), _LINES_LOOKED_AT)
    try:
        while left >= 0 and (line := next(lines, None)) is not None:
            left -= len(line.text)
            if line.text.strip():
                found.append(line)
    except (OSError, EOFError, zlib.error) as error:
        if not found or is_device_failure(error):
            raise
    return found


def kind_of_text(
    file: BinaryIO, lines: list[Line], name: str, written: RecordFormat
) -> SourceKind:
    """Recognize a text by its first lines.

    Raises
    ------
    UnknownFormatError
        If it is empty, or of no known kind.
    """
    if not lines:
        raise UnknownFormatError("an empty file", source=name)
    if is_console(lines) or is_console_json(lines):
        return SourceKind.RECORDS
    kind = _kind_of_lines(lines, written) or _kind_of_document(file)
    if kind is None and (reason := why_lossy(lines)):
        raise UnknownFormatError(reason, source=name)
    if kind is None and is_leader_log(_chunks(file)):
        return SourceKind.LEADER_LOG
    if kind is None:
        raise UnknownFormatError(_why_unknown(file, lines), source=name)
    return kind


def kind_of_schema(schema: pa.Schema, name: str, written: RecordFormat) -> SourceKind:
    """Recognize a Parquet file by its columns.

    Raises
    ------
    UnknownFormatError
        If it is of no known kind.
    """
    if {"group", "topics", "members"} <= set(schema.names):
        return SourceKind.REBALANCES
    reason = missing_columns(schema, written)
    if reason is not None:
        raise UnknownFormatError(reason, source=name)
    return SourceKind.RECORDS


def encoding_of(lines: Iterable[Line], written: RecordFormat) -> Encoding:
    """Return the encoding of records in lines, by the first key that shows it."""
    for line in lines:
        fields = _object(line.text)
        key = fields.get(written.name("key")) if isinstance(fields, dict) else None
        if encoding := encoding_of_key(key):
            return encoding
    return Encoding.HEX


def is_in_lines(lines: Iterable[Line]) -> bool:
    """Return whether a file has one document per line, judging by its first line."""
    return next((line.text.rstrip().endswith(b"}") for line in lines), False)


ACCEPTED: Final = (
    "accepted are records of __consumer_offsets (Parquet, Avro, JSON Lines; see "
    "--columns; or a broker's log segments, or output of kafka-console-consumer, or "
    "files of Kafka Connect's S3 sink with their keys), text of kafka-consumer-groups "
    "--describe, logs of the leaders of groups, and rebalance/1 documents (JSON, "
    "Parquet); for example: kafka-consumer-groups --bootstrap-server localhost:9092 "
    "--describe --all-groups > groups.txt && assignor-oracle audit groups.txt --out "
    "audit"
)
"""Addition to a message when nothing was recognized."""


def _kind_of_lines(lines: Iterable[Line], written: RecordFormat) -> SourceKind | None:
    """Recognize the first line of a known kind; earlier ones can be damaged."""
    for line in lines:
        if line.text.lstrip().startswith(b"{"):
            kind = _kind_of_object(_object(line.text), written)
            if kind is None and _FORMAT.search(line.text):
                kind = SourceKind.REBALANCES
        else:
            text = plain_text(line)
            found = heading_of(text) or title_of(text) or note_of(text, line.number)
            kind = SourceKind.DESCRIBE if found else None
        if kind is not None:
            return kind
    return None


def _kind_of_document(file: BinaryIO) -> SourceKind | None:
    """Recognize one rebalance/1 document in several lines, and JSON of kafka-ui."""
    head = _head(file)
    if head.lstrip().startswith(b"{") and _FORMAT.search(head):
        return SourceKind.REBALANCES
    return SourceKind.DESCRIBE if is_kafka_ui(_object(head)) else None


def _head(file: BinaryIO) -> bytes:
    file.seek(0)
    return unpacked(file).read(_BYTES_LOOKED_AT)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the text of a file up to a limit, or up to where it breaks off."""
    file.seek(0)
    text, left = unpacked(file), _LOG_LOOKED_AT
    try:
        while left > 0 and (chunk := text.read(_CHUNK)):
            left -= len(chunk)
            yield chunk
    except (OSError, EOFError, zlib.error) as error:
        if is_device_failure(error):
            raise


def _kind_of_object(fields: Any, written: RecordFormat) -> SourceKind | None:
    if not isinstance(fields, dict):
        return None
    if str(fields.get("format", "")).startswith(_FORMAT_PREFIX):
        return SourceKind.REBALANCES
    names = {written.name(column) for column in REQUIRED}
    if len(fields.keys() & names) > len(names) - 2 and written.name("key") in fields:
        return SourceKind.RECORDS
    return None


def _object(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _why_unknown(file: BinaryIO, lines: list[Line]) -> str:
    whole = _object(_head(file))
    document = _object(lines[0].text) if whole is None else whole
    reason = why_of_another_tool(lines, document)
    return reason or f"{UNKNOWN}{_hint(whole, lines[0])}"


def _hint(whole: Any, first: Line) -> str:
    """Describe an unknown file; an option is named only if it could help."""
    if isinstance(whole, dict) and "offsets" in whole:
        return " (log ends? give them with --offsets)"
    if whole and isinstance(whole, dict) and all(map(_is_count, whole.values())):
        return " (partition counts? give them with --topics)"
    if isinstance(fields := _object(first.text), dict):
        names = ", ".join(map(str, fields))[:_SHOWN] or "no fields"
        has_key = any(map(encoding_of_key, fields.values()))
        hint = " (records? give their names with --columns)" if has_key else ""
        return f": JSON with {names}{hint}"
    shown = first.text[:40].decode("utf-8", errors="replace")
    return f", starting {shown!r}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
