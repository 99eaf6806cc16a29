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
    """Whoever read our output has had enough (``| head``): no fault of anybody's."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A stream that says whose it is when it cannot be written to."""

    stream: BinaryIO
    name: str

    def write(self, data: bytes) -> None:
        """Write all of ``data`` out; raises OutputError, or ReaderLeftError."""
        with naming(self.name):
            self.stream.write(data)
            self.stream.flush()


@contextmanager
def written_aside(target: Path) -> Iterator[Writer]:
    """Open a file that takes the place of ``target`` when the block ends well.

    A device or a pipe is written to as it is: renaming over it would take it away.

    Raises
    ------
    OutputError
        If the place cannot be written to. What was there before stays.
    """
    with naming(str(target)):
        real = target if _is_special(target) else target.resolve()
        aside = real if _is_special(target) else _created_aside(real)
        stream = aside.open("wb")
    try:
        yield Writer(stream, str(target))
        with naming(str(target)):
            stream.close()
            if aside != real:
                aside.replace(real)
    except BaseException:
        with suppress(OSError):  # closing writes out what is left: it may fail again
            stream.close()
        if aside != real:
            aside.unlink(missing_ok=True)
        raise


@contextmanager
def naming(target: str) -> Iterator[None]:
    """Convert errors of the system into an `OutputError` that names the target."""
    try:
        yield
    except OracleError:
        raise
    except BrokenPipeError:
        raise ReaderLeftError from None
    except (OSError, ValueError) as error:
        raise refused(error, target) from None


def refused(error: OSError | ValueError, target: str) -> OutputError:
    """Return the `OutputError` of a system error."""
    reason = getattr(error, "strerror", None) or str(error)
    return OutputError(f"cannot write: {reason[:1].lower()}{reason[1:]}", target=target)


def _is_special(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


def _created_aside(target: Path) -> Path:
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
