"""Refuse to write an output over a file that the same command reads.

The type of each parameter that names a file states its `FileRole`. Before a command
runs, every file that it writes is compared with every file that it reads, and with the
other files that it writes.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, Final, get_type_hints

import typer


class FileRole(Enum):
    """Use of the file that a parameter names."""

    READ = "read"  # a file, a folder with all that is in it, or - for standard input
    PROGRAM = "program"  # a command line, of which words can be files
    WRITTEN = "written"  # a file, or - for standard output
    FOLDER = "folder"  # a folder; its files are compared once their names are known


STANDARD: Final = "-"


@dataclass(frozen=True, slots=True)
class _StatedFile:
    """A file or folder as a parameter states it."""

    path: str
    is_read: bool

    @property
    def status(self) -> os.stat_result | None:
        """Status of the file; None if there is none."""
        with suppress(OSError, ValueError, AttributeError):  # no file, or closed
            if self.path == STANDARD:
                return os.fstat((sys.stdin if self.is_read else sys.stdout).fileno())
            return Path(self.path).stat()
        return None


_READ: Final[ContextVar[tuple[_StatedFile, ...]]] = ContextVar(
    "files that the running command reads", default=()
)


def with_kept_input(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the command, which then refuses to write over its input."""

    @wraps(verb)
    def checked(**parameters: Any) -> None:
        roles = roles_of(verb)
        read = tuple(_stated(parameters, roles, FileRole.READ, FileRole.PROGRAM))
        written = tuple(_stated(parameters, roles, FileRole.WRITTEN))
        _READ.set(read)
        for position, file in enumerate(written):
            _refuse_input(file)
            for other in written[:position]:
                if _is_one_file(file, other):
                    reason = f"{file.path} is written twice: name two files"
                    raise typer.BadParameter(reason)
        verb(**parameters)

    return checked


def roles_of(verb: Callable[..., None]) -> dict[str, FileRole]:
    """Return the role of each parameter of a command that names files."""
    found = {}
    for name, hint in get_type_hints(verb, include_extras=True).items():
        for stated in getattr(hint, "__metadata__", ()):
            if isinstance(stated, FileRole):
                found[name] = stated
    return found


def refuse_input(target: Path | str) -> None:
    """Check that a file that no parameter names is not one that the command reads.

    Links to one file are that file. Outside a command, nothing is checked.

    Raises
    ------
    typer.BadParameter
        If the command reads this file.
    """
    _refuse_input(_StatedFile(str(target), is_read=False))


def _refuse_input(target: _StatedFile) -> None:
    status = target.status
    if status is None or not stat.S_ISREG(status.st_mode):
        return
    for read in _READ.get():
        if _reads(read, target, status):
            shown = "standard output" if target.path == STANDARD else target.path
            reason = f"{shown} is read by this command: write to another file"
            raise typer.BadParameter(reason)


def _reads(read: _StatedFile, target: _StatedFile, status: os.stat_result) -> bool:
    """Return whether a file to be written is read, by itself or with its folder."""
    found = read.status
    if found is None:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return os.path.samestat(found, status)
    if target.path == STANDARD:
        return False
    folder, place = Path(read.path).resolve(), Path(target.path).resolve()
    return place.is_relative_to(folder) and _is_input(folder, place)


def _is_input(folder: Path, place: Path) -> bool:
    """Return whether a file in a folder is read with it; an audit has its own files."""
    if not (folder / "audit.json").is_file():
        return True
    from pipeline.tables import MANIFEST, PAGE, TABLES

    return place.relative_to(folder).parts[0] in (MANIFEST, PAGE, *TABLES)


def _is_one_file(file: _StatedFile, other: _StatedFile) -> bool:
    if STANDARD in (file.path, other.path):
        return False
    first, second = file.status, other.status
    if first is not None and second is not None:
        return stat.S_ISREG(first.st_mode) and os.path.samestat(first, second)
    with suppress(OSError, ValueError):
        return Path(file.path).resolve() == Path(other.path).resolve()
    return False


def _stated(
    parameters: Mapping[str, Any], roles: Mapping[str, FileRole], *wanted: FileRole
) -> Iterator[_StatedFile]:
    """Yield the files that parameters of these roles name."""
    for name, role in roles.items():
        given = parameters.get(name)
        if role not in wanted or given is None:
            continue
        for value in given if isinstance(given, list | tuple) else [given]:
            words = _words(value) if role is FileRole.PROGRAM else [str(value)]
            for word in words:
                yield _StatedFile(word, is_read=role is not FileRole.WRITTEN)


def _words(command: str) -> list[str]:
    """Return the words of a command line that can be files."""
    with suppress(ValueError):  # reported where the program is started
        return [word for word in shlex.split(command) if word != STANDARD]
    return []
