"""Source kind of a file, detected from its content."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.describe.messages import note_of
from pipeline.describe.text_tables import heading_of
from pipeline.sources.lines import Line, open_bytes, read_lines
from pipeline.sources.record_lines import REQUIRED
from pipeline.sources.record_parquet import missing_columns
from rebalance import SourceError

PARQUET_MAGIC: Final = b"PAR1"
_LINES_LOOKED_AT: Final = 200
_BYTES_LOOKED_AT: Final = 4 << 20  # of a line, or of a document in several lines
_LONG_LINES: Final = 4
_FORMAT_PREFIX: Final = "rebalance/"
_FORMAT: Final = re.compile(rb'"format"\s*:\s*"rebalance/')


class SourceKind(Enum):
    """A source format; the values are those of ``source_format``."""

    RECORDS = "consumer-offsets"
    DESCRIBE = "describe"
    REBALANCES = "rebalance"


class UnknownFormatError(SourceError):
    """A file that is no source; the reason describes it."""


def is_parquet(path: Path) -> bool:
    """Return whether a file starts like Parquet."""
    with path.open("rb") as file:
        return file.read(4) == PARQUET_MAGIC


def kind_of(path: Path, name: str) -> SourceKind:
    """Recognize a file.

    Raises
    ------
    UnknownFormatError
        If it is empty, unreadable, or of no known kind.
    """
    if is_parquet(path):
        return _kind_of_parquet(path, name)
    try:
        lines = list(_first_lines(path))
    except (OSError, EOFError, zlib.error) as error:
        raise UnknownFormatError(f"unreadable: {error}", source=name) from None
    if not lines:
        raise UnknownFormatError("an empty file", source=name)
    kind = _kind_of_lines(lines) or _kind_of_document(path)
    if kind is None:
        reason = f"unknown format{_hint(path, lines[0])}; known are {known_formats()}"
        raise UnknownFormatError(reason, source=name)
    return kind


def _first_lines(path: Path) -> Iterator[Line]:
    """Yield the first non-blank lines, up to a limit."""
    left = _LONG_LINES * _BYTES_LOOKED_AT
    lines = read_lines(path, limit=_BYTES_LOOKED_AT)
    for line in islice(lines, _LINES_LOOKED_AT):
        left -= len(line.text)
        if line.text.strip():
            yield line
        if left < 0:
            return


def known_formats() -> str:
    """List the formats for a message."""
    return ", ".join(kind.value for kind in SourceKind)


def _kind_of_parquet(path: Path, name: str) -> SourceKind:
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        first = str(error).splitlines()[0]
        raise UnknownFormatError(f"unreadable Parquet: {first}", source=name) from None
    if {"group", "topics", "members"} <= set(schema.names):
        return SourceKind.REBALANCES
    reason = missing_columns(schema)
    if reason is not None:
        raise UnknownFormatError(reason, source=name)
    return SourceKind.RECORDS


def _kind_of_lines(lines: Iterable[Line]) -> SourceKind | None:
    """Recognize the first line of a known kind; earlier ones can be damaged."""
    for line in lines:
        if line.text.lstrip().startswith(b"{"):
            kind = _kind_of_object(_object(line.text))
            if kind is None and _FORMAT.search(line.text):
                kind = SourceKind.REBALANCES
        else:
            text = line.text.decode("utf-8", errors="replace")
            found = heading_of(text) or note_of(text, line.number)
            kind = SourceKind.DESCRIBE if found else None
        if kind is not None:
            return kind
    return None


def _kind_of_document(path: Path) -> SourceKind | None:
    """Recognize one rebalance/1 document in several lines."""
    with open_bytes(path) as file:
        head = file.read(_BYTES_LOOKED_AT)
    if head.lstrip().startswith(b"{") and _FORMAT.search(head):
        return SourceKind.REBALANCES
    return None


def _kind_of_object(fields: Any) -> SourceKind | None:
    if not isinstance(fields, dict):
        return None
    if str(fields.get("format", "")).startswith(_FORMAT_PREFIX):
        return SourceKind.REBALANCES
    if len(fields.keys() & set(REQUIRED)) > len(REQUIRED) - 2 and "key" in fields:
        return SourceKind.RECORDS
    return None


def _object(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _hint(path: Path, first: Line) -> str:
    """Describe an unknown file, if it is one of our own side files."""
    with open_bytes(path) as file:
        whole = _object(file.read(_BYTES_LOOKED_AT))
    if isinstance(whole, dict) and "offsets" in whole:
        return " (log ends? give them with --offsets)"
    if isinstance(whole, dict) and all(isinstance(n, int) for n in whole.values()):
        return " (partition counts? give them with --topics)"
    shown = first.text[:40].decode("utf-8", errors="replace")
    return f", starting {shown!r}"
