"""How a process ended: its exit code or signal, and its last words."""

from __future__ import annotations

import os
import signal
from typing import IO, Final

LAST_WORDS: Final = 2000
"""Bytes of output that are kept of a process that has ended."""


def cause_of_death(code: int, said: str) -> str:
    """Format an exit code, or the signal that ended a process, and its last words."""
    return f"{_cause(code)}: {said}" if said else _cause(code)


def _cause(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def last_words(said: IO[bytes]) -> str:
    """Close a file that a process wrote to; return the end of it."""
    with said:
        said.seek(max(0, said.seek(0, os.SEEK_END) - LAST_WORDS))
        return said.read().decode(errors="replace").strip()
