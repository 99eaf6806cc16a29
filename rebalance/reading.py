"""Files of documents: one document, or JSON Lines; ``-`` is standard input.

An unreadable line is yielded as a `DocumentError` with its place, and the other lines
are still read. Lines are read one by one, so a file can have any size.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeVar, cast

from rebalance.documents import MAX_PARTITIONS, Rebalance
from rebalance.errors import DocumentError, SourceError
from rebalance.parsing import (
    parse_rebalance,
    parse_rebalance_or_columns,
)

if TYPE_CHECKING:  # documents are read without numpy
    from rebalance.claims import ClaimRule
    from rebalance.instance import Instance

STDIN = "-"
STDIN_NAME = "<stdin>"
MAX_DOCUMENT_BYTES = 512 * 2**20  # 10,000,000 partitions with lag and claims fit
_GZIP_MAGIC = b"\x1f\x8b"
_SKIPPED_AT_ONCE = 2**20

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class _Parse(Protocol[_T_co]):
    def __call__(
        self, text: bytes, *, source: str | None, line: int | None
    ) -> _T_co: ...


class _DocumentLine(NamedTuple):
    number: int  # from 1
    text: bytes | None  # None: longer than a document may be

    @property
    def is_blank(self) -> bool:
        return self.text is not None and not self.text.strip()


def read_rebalances(
    source: str, *, max_partitions: int = MAX_PARTITIONS
) -> Iterator[Rebalance | DocumentError]:
    """Read the rebalance/1 documents of a file, plain or gzip, in its order.

    The file is one document in any layout, or has one document per line.

    Yields
    ------
    Rebalance or DocumentError
        The error states source, line and JSON path of the offending value. A document
        of more than ``max_partitions`` partitions is an error, too.

    Raises
    ------
    SourceError
        If the file cannot be read, or is empty.
    """
    return read_documents(
        source, partial(parse_rebalance, max_partitions=max_partitions)
    )


def read_rebalances_or_columns(
    source: str, *, claim_rule: ClaimRule, max_partitions: int = MAX_PARTITIONS
) -> Iterator[Instance | Rebalance | DocumentError]:
    """Read rebalances, large ones straight into columns; as `read_rebalances`."""
    return read_documents(
        source,
        partial(
            parse_rebalance_or_columns,
            claim_rule=claim_rule,
            max_partitions=max_partitions,
        ),
    )


def read_documents(source: str, parse: _Parse[_T]) -> Iterator[_T | DocumentError]:
    """Read the documents of a file with ``parse``; as `read_rebalances`."""
    name = STDIN_NAME if source == STDIN else source
    with _readable(name), _opened(source) as stream:
        yield from _documents_in(stream, name, parse)


def rebalances_in(
    stream: BinaryIO, name: str, *, max_partitions: int = MAX_PARTITIONS
) -> Iterator[Rebalance | DocumentError]:
    """Read the rebalance/1 documents of an open file; as `read_rebalances`."""
    parse = partial(parse_rebalance, max_partitions=max_partitions)
    with _readable(name):
        yield from _documents_in(stream, name, parse)


def _documents_in(
    stream: BinaryIO, name: str, parse: _Parse[_T]
) -> Iterator[_T | DocumentError]:
    lines = (line for line in _lines(_unzipped(stream)) if not line.is_blank)
    first = next(lines, None)
    if first is None:
        raise SourceError("empty: holds no document", source=name)
    found = _parsed(parse, first, name)
    if isinstance(found, DocumentError) and not _is_json(first.text):
        yield from _of_broken_start(parse, first, lines, name)
    else:
        yield found
    for line in lines:
        yield _parsed(parse, line, name)


def _of_broken_start(
    parse: _Parse[_T], first: _DocumentLine, lines: Iterator[_DocumentLine], name: str
) -> Iterator[_T | DocumentError]:
    """Continue after a first line that is not JSON by itself.

    It starts a document of several lines, unless a later line is a document by itself:
    then the file consists of lines, of which the first are unreadable.
    """
    start = [first]
    size = 0
    for line in lines:
        start.append(line)
        size += len(line.text or b"")
        if line.text is None or size > MAX_DOCUMENT_BYTES or _is_document(line.text):
            break
    else:
        number = 1 if len(start) == 1 else None
        yield _attempt(parse, _whole(start), name, number)
        return
    for line in start:
        yield _parsed(parse, line, name)


def _whole(lines: list[_DocumentLine]) -> bytes:
    """Join lines with blank ones restored, so that line numbers hold."""
    text = io.BytesIO()
    for number, line in enumerate(lines):
        previous = lines[number - 1].number if number else 0
        text.write(b"\n" * (line.number - previous - 1))
        text.write(line.text or b"")
    return text.getvalue()


def _parsed(parse: _Parse[_T], line: _DocumentLine, name: str) -> _T | DocumentError:
    if line.text is None:
        reason = f"longer than {_mebibytes(MAX_DOCUMENT_BYTES)} MiB"
        return DocumentError(reason, source=name, line=line.number)
    return _attempt(parse, line.text.rstrip(b"\r\n"), name, line.number)


def _attempt(
    parse: _Parse[_T], text: bytes, name: str, line: int | None
) -> _T | DocumentError:
    try:
        return parse(text, source=name, line=line)
    except DocumentError as error:
        return error


def _is_json(text: bytes | None) -> bool:
    """Return whether a line is JSON by itself."""
    if text is None:
        return True  # too long to look at: it can only be a line
    try:
        json.loads(text.decode("utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False
    except (RecursionError, ValueError):  # JSON, if of absurd depth or numbers
        return True
    return True


def _is_document(text: bytes | None) -> bool:
    """Return whether a line is an object with a format.

    Inside a document of several lines there is none: only its own first brace opens an
    object with a format.
    """
    is_object = text is not None and text.lstrip().startswith(b"{")
    return is_object and b'"format"' in (text or b"") and _is_json(text)


def _lines(stream: BinaryIO) -> Iterator[_DocumentLine]:
    """Yield the lines of a stream, none longer than the limit for documents."""
    number = 0
    while text := stream.readline(MAX_DOCUMENT_BYTES + 1):
        number += 1
        if len(text) <= MAX_DOCUMENT_BYTES:
            yield _DocumentLine(number, text)
            continue
        while text and not text.endswith(b"\n"):
            text = stream.readline(_SKIPPED_AT_ONCE)
        yield _DocumentLine(number, None)


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input, which is left open."""
    if "\0" in source:
        raise SourceError("no file has a NUL byte in its name", source=source)
    if source != STDIN:
        with Path(source).open("rb") as stream:
            yield stream
    elif sys.stdin is None or sys.stdin.closed:
        raise SourceError("standard input is closed", source=STDIN_NAME)
    else:
        yield sys.stdin.buffer


def _unzipped(stream: BinaryIO) -> BinaryIO:
    """Decompress gzip, detected by its first bytes so that pipes work too."""
    peeked = cast("io.BufferedReader", stream)
    if not hasattr(stream, "peek"):
        peeked = io.BufferedReader(cast("io.RawIOBase", stream))
    is_gzip = peeked.peek(2)[:2] == _GZIP_MAGIC
    return cast("BinaryIO", gzip.GzipFile(fileobj=peeked) if is_gzip else peeked)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Convert errors of a file into a `SourceError` that names it."""
    try:
        yield
    except IsADirectoryError:
        raise SourceError("is a folder; expected a file", source=name) from None
    except EOFError:
        raise SourceError("gzip data end too early", source=name) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"broken gzip data: {error}", source=name) from None
    except OSError as error:
        reason = error.strerror or str(error)
        shown = reason[:1].lower() + reason[1:]
        raise SourceError(shown, source=name, cause=error) from None


def _mebibytes(size: int) -> int:
    return size // 2**20
