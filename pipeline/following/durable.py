"""Changes of folders on this machine that are on the disk when a function returns.

A file system can write a deletion to the disk before the data that replaces what was
deleted; after a loss of power, both would be gone.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def flush(folder: Path) -> None:
    """Write all files below a folder, and the folder itself, to the disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            _sync(Path(parent) / name)
        _sync(Path(parent))


def rename(folder: Path, target: Path) -> None:
    """Move a folder within its file system; nothing is at the target."""
    folder.rename(target)
    _sync(target.parent)


def make(folder: Path) -> None:
    """Create a folder and its parents."""
    folder.mkdir(parents=True, exist_ok=True)
    _sync(folder.parent)


def delete(folder: Path) -> None:
    """Delete a folder with all that is in it, if it exists."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
