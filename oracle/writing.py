"""Atomic writing: write to a temporary file, then rename it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rebalance import OracleError, OutputError


class ReaderLeftError(Exception):
    """The reader closed the pipe (``| head``), which is not an error."""


@dataclass(frozen=True, slots=True)
class OutputWriter:
    """A stream whose errors name the target."""

    stream: BinaryIO
    name: str

    def write(self, data: bytes) -> None:
        """Write all of ``data``; raise OutputError or ReaderLeftError."""
        with naming(self.name):
            self.stream.write(data)
            self.stream.flush()


@contextmanager
def replacing(target: Path) -> Iterator[OutputWriter]:
    """Open a file that replaces ``target`` when the block ends without an error.

    A device or a pipe is written to directly, because renaming would replace it.

    Raises
    ------
    OutputError
        If the target cannot be written to. An existing file is then unchanged.
    """
    with naming(str(target)):
        real = target if _is_special(target) else target.resolve()
        partial_file = real if _is_special(target) else _created_partial_file(real)
        stream = partial_file.open("wb")
    try:
        yield OutputWriter(stream, str(target))
        with naming(str(target)):
            stream.close()
            if partial_file != real:
                partial_file.replace(real)
    except BaseException:
        with suppress(OSError):  # closing flushes the buffer, which can fail again
            stream.close()
        if partial_file != real:
            partial_file.unlink(missing_ok=True)
        raise


@contextmanager
def naming(target: str) -> Iterator[None]:
    """Convert an OSError into an `OutputError` that names the target."""
    try:
        yield
    except OracleError:
        raise
    except BrokenPipeError:
        raise ReaderLeftError from None
    except (OSError, ValueError) as error:
        raise refused(error, target) from None


def refused(error: OSError | ValueError, target: str) -> OutputError:
    """Return an `OutputError` for an OSError."""
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(f"cannot write: {reason[:1].lower()}{reason[1:]}", target=target)


def _is_special(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


def _created_partial_file(target: Path) -> Path:
    """Create an empty file next to ``target``, with the mode ``target`` will have."""
    if target.is_dir():
        raise OutputError("cannot write: is a folder", target=str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    try:
        os.fchmod(handle, _mode(target))
    finally:
        os.close(handle)
    return Path(name)


def _mode(target: Path) -> int:
    """Return the mode of the existing file, else that of any new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
