"""Byte-order marks: UTF-8 without its mark, from UTF-8 or UTF-16 that have one.

PowerShell's ``>`` writes UTF-16 with a mark, and some editors write UTF-8 with one.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from typing import BinaryIO, Final, cast

_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK: Final = 1 << 20


def has_utf16_mark(head: bytes) -> bool:
    """Return whether a text that starts with these bytes is UTF-16, by its mark."""
    return head.startswith(_MARKS)


def as_utf8(stream: BinaryIO) -> BinaryIO:
    """Return a stream from its start, as UTF-8 without a mark.

    A text without a mark is passed on as it is. What is no character in UTF-16, as half
    of one at the end, is replaced by U+FFFD.
    """
    head = stream.read(len(codecs.BOM_UTF8))
    stream.seek(0)
    if has_utf16_mark(head):
        return cast("BinaryIO", io.BufferedReader(_Utf16(stream), _CHUNK))
    if head == codecs.BOM_UTF8:
        stream.read(len(codecs.BOM_UTF8))
    return stream


class _Utf16(io.RawIOBase):
    """A stream of UTF-16 as UTF-8; of a damaged one, what precedes the damage."""

    def __init__(self, stream: BinaryIO) -> None:
        # Unlike `read`, `read1` keeps what it has read when the next bytes are damaged.
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
