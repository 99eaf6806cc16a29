"""Text as numbered lines: plain or gzip, of any line ends, with a limit per line.

UTF-16, and a byte-order mark of UTF-8, are read as UTF-8 without a mark.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from pipeline.sources.text_encodings import as_utf8

GZIP_MAGIC: Final = b"\x1f\x8b"
LINE_LIMIT: Final = 128 << 20
"""A longer line is not read into memory; it is reported by its first bytes."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line without its end; ``whole`` is False if it exceeds `LINE_LIMIT`."""

    number: int
    text: bytes
    whole: bool = True
    ended: bool = True  # with a line feed


def unpacked(stream: BinaryIO) -> BinaryIO:
    """Return the text of a stream from its start: gzip decompressed, as UTF-8."""
    return as_utf8(decompressed(stream))


def decompressed(stream: BinaryIO) -> BinaryIO:
    """Return the stream from its start, with gzip decompressed."""
    stream.seek(0)
    packed = stream.read(2) == GZIP_MAGIC
    stream.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if packed else stream


def read_lines(
    stream: BinaryIO, *, first: int = 1, limit: int = LINE_LIMIT
) -> Iterator[Line]:
    """Yield the lines of a stream, numbered from ``first``.

    Only the first line of a text can tell that it is gzip, or how it is encoded.

    Raises
    ------
    OSError, EOFError, zlib.error
        If the stream cannot be read, or is truncated gzip; the lines before are
        yielded.
    """
    file, number = unpacked(stream) if first == 1 else stream, first
    while text := file.readline(limit):
        ended, whole = text.endswith(b"\n"), True
        while not ended and len(text) == limit:
            rest = file.readline(_CHUNK)
            whole = whole and not rest.strip(b"\r\n")
            if not rest or rest.endswith(b"\n"):
                ended = bool(rest)
                break
        yield Line(number=number, text=text.rstrip(b"\r\n"), whole=whole, ended=ended)
        number += 1
