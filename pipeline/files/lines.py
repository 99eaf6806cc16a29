"""Text as numbered lines: plain or gzip, of any line ends, with a limit per line.

UTF-16, and a byte-order mark of UTF-8, are read as UTF-8 without a mark: PowerShell's
``>`` writes UTF-16 with a mark, and some editors write UTF-8 with one.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

GZIP_MAGIC: Final = b"\x1f\x8b"
LINE_LIMIT: Final = 128 << 20
"""A longer line is not read into memory; it is reported by its first bytes."""
_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
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


def has_utf16_mark(head: bytes) -> bool:
    """Return whether a text that starts with these bytes is UTF-16, by its mark."""
    return head.startswith(_MARKS)


def as_utf8(stream: BinaryIO) -> BinaryIO:
    """Return a stream from its start, as UTF-8 without a mark.

    A text without a mark is passed on as it is. A code unit that is not a character in
    UTF-16, as half of one at the end, is replaced by U+FFFD.
    """
    head = stream.read(len(codecs.BOM_UTF8))
    stream.seek(0)
    if has_utf16_mark(head):
        return cast("BinaryIO", io.BufferedReader(_Utf16(stream), _CHUNK))
    if head == codecs.BOM_UTF8:
        stream.read(len(codecs.BOM_UTF8))
    return stream


class _Utf16(io.RawIOBase):
    """A stream of UTF-16 as UTF-8; of a damaged one, the part before the damage."""

    def __init__(self, stream: BinaryIO) -> None:
        # Unlike `read`, `read1` keeps the bytes before when the next ones are damaged.
        read = getattr(stream, "read1", stream.read)
        self._read = cast("Callable[[int], bytes]", read)
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        self._left = b""
        self._is_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._left and not self._is_ended:
            chunk = self._read(_CHUNK)
            self._is_ended = not chunk
            text = self._decoder.decode(chunk, final=self._is_ended)
            self._left = text.encode()
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count
