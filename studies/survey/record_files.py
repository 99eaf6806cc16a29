"""Stored records: one compressed file of JSON Lines per client version."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Final

SUFFIX: Final = ".jsonl.gz"


def record_file(folder: Path, client: str, version: str) -> Path:
    """Return the file of a client version."""
    return folder / f"{client}@{version}{SUFFIX}"


def write_records(file: Path, lines: Iterable[bytes]) -> None:
    """Write lines; equal lines are equal bytes, because no time is stored."""
    data = gzip.compress(b"".join(line + b"\n" for line in lines), 9, mtime=0)
    write_whole(file, data)


def write_whole(file: Path, data: bytes) -> None:
    """Write a file that other processes see complete or not at all."""
    partial_file = file.with_name(file.name + ".part")
    partial_file.write_bytes(data)
    partial_file.replace(file)
