"""Text files as numbered lines, read in splits."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

GZIP_MAGIC: Final = b"\x1f\x8b"
SPLIT_BYTES: Final = 32 << 20
LINE_LIMIT: Final = 512 << 20
"""A longer line is not read into memory; it is reported by its first bytes."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Whole lines of a file: start byte, length in bytes, and number of the first line.

    ``length`` None means up to the end; a compressed file is always one such extent.
    """

    start: int = 0
    length: int | None = None
    first_line: int = 1

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.start == 0 and self.length is None


WHOLE: Final = Extent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line without its end; ``whole`` is False if it exceeds `LINE_LIMIT`."""

    number: int
    text: bytes
    whole: bool = True
    ended: bool = True  # with a line feed


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file; decompress gzip."""
    file = path.open("rb")
    packed = file.read(2) == GZIP_MAGIC
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value]


def survey(path: Path, *, split_bytes: int = SPLIT_BYTES) -> tuple[str, list[Extent]]:
    """Read a file once; return its sha256 and extents of whole lines.

    Returns
    -------
    str, list of Extent
        The hex digest is that of the bytes on disk, compressed or not.
    """
    digest = hashlib.sha256()
    extents: list[Extent] = []
    start, line = 0, 1  # of the current extent
    position, lines = 0, 1  # of the chunk
    packed = False
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if position == 0:
                packed = chunk.startswith(GZIP_MAGIC)
            digest.update(chunk)
            if not packed and position + len(chunk) - start >= split_bytes:
                end = chunk.rfind(b"\n") + 1
                if end:
                    extents.append(
                        Extent(
                            start=start,
                            length=position + end - start,
                            first_line=line,
                        )
                    )
                    start, line = position + end, lines + chunk.count(b"\n", 0, end)
            lines += chunk.count(b"\n")
            position += len(chunk)
    if position > start or not extents:
        extents.append(Extent(start=start, length=None, first_line=line))
    return digest.hexdigest(), extents


def read_lines(
    path: Path, extent: Extent = WHOLE, *, limit: int = LINE_LIMIT
) -> Iterator[Line]:
    """Yield the lines of an extent.

    Raises
    ------
    OSError, EOFError, zlib.error
        If the file cannot be read, or is truncated gzip; the lines before are yielded.
    """
    with open_bytes(path) as file:
        file.seek(extent.start)
        left, number = extent.length, extent.first_line
        while left is None or left > 0:
            text = file.readline(limit)
            if not text:
                return
            taken = len(text)
            ended, whole = text.endswith(b"\n"), True
            while not ended and len(text) == limit:
                rest = file.readline(_CHUNK)
                taken += len(rest)
                whole = whole and not rest.strip(b"\r\n")
                if not rest or rest.endswith(b"\n"):
                    ended = bool(rest)
                    break
            yield Line(
                number=number, text=text.rstrip(b"\r\n"), whole=whole, ended=ended
            )
            number += 1
            left = None if left is None else left - taken
