"""Names and encoding of the columns of records, as various programs write them.

A record of ``__consumer_offsets`` has the columns of Spark's Kafka source: ``key`` and
``value`` in bytes, ``partition``, ``offset``, and optionally ``timestamp`` and
``topic``. Other programs name them otherwise, or write bytes as hex or base64.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from rebalance import SourceError

REQUIRED: Final = ("partition", "offset", "key", "value")
OPTIONAL: Final = ("timestamp", "topic")
COLUMNS: Final = (*REQUIRED, *OPTIONAL)


class Encoding(Enum):
    """How key and value are written."""

    BYTES = "bytes"
    HEX = "hex"
    BASE64 = "base64"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat:
    """Names of the columns that differ from ours, and the encoding.

    Without an encoding, binary columns are bytes, and text is hex or base64 as the
    first key of the file shows (`encoding_of_key`).
    """

    names: Mapping[str, str] = field(default_factory=dict)
    encoding: Encoding | None = None

    def name(self, column: str) -> str:
        """Return the name of a column in the file."""
        return self.names.get(column, column)


AS_SPARK: Final = RecordFormat()


def record_format(columns: str | None, encoding: str | None) -> RecordFormat:
    """Parse ``--columns`` and ``--encoding``.

    ``columns`` are pairs such as ``value=payload,key=k``; None for our own names.

    Raises
    ------
    SourceError
        If a column or the encoding is unknown, or a column is named twice.
    """
    names: dict[str, str] = {}
    for pair in columns.split(",") if columns is not None else ():
        column, sign, name = (part.strip() for part in pair.partition("="))
        if not (sign and name) or column not in COLUMNS:
            reason = f"{pair!r} is not a pair such as value=payload"
            known = f"columns are {', '.join(COLUMNS)}"
            raise SourceError(f"{reason}; {known}", source="--columns")
        if column in names:
            raise SourceError(f"column {column} is named twice", source="--columns")
        names[column] = name
    if encoding is None:
        return RecordFormat(names=names)
    try:
        return RecordFormat(names=names, encoding=Encoding(encoding))
    except ValueError:
        known = ", ".join(choice.value for choice in Encoding)
        reason = f"no such encoding: {encoding!r}; known are {known}"
        raise SourceError(reason, source="--encoding") from None


def encoding_of_key(text: object) -> Encoding | None:
    """Return how a key is written; None if this is neither hex nor base64.

    Keys start with the type of the record as two bytes, of which the first is 0: in hex
    this is ``00``, and in base64 it is ``AA``.
    """
    start = text[:2] if isinstance(text, str) else ""
    return {"00": Encoding.HEX, "AA": Encoding.BASE64}.get(start)


def decoded(text: str, encoding: Encoding) -> bytes:
    """Decode a text of hex digits or base64.

    Raises
    ------
    ValueError
        If it is not of this encoding.
    """
    if encoding is Encoding.HEX:
        return bytes.fromhex(text)
    if encoding is Encoding.BASE64:
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error as error:
            raise ValueError(str(error)) from None
    raise ValueError("text in a column of bytes")
