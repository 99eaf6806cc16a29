"""Stored records: one compressed file of JSON Lines per client version."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from conformance.runs import Finding, RunSummary, parse_finding, parse_run

SUFFIX: Final = ".jsonl.gz"
_FINDING: Final = b'"format":"finding/1"'


def record_file(folder: Path, client: str, version: str) -> Path:
    """Return the file of a client version."""
    return folder / f"{client}@{version}{SUFFIX}"


def write_records(file: Path, lines: Iterable[bytes]) -> None:
    """Write lines; equal lines are equal bytes, because no time is stored."""
    data = gzip.compress(b"".join(line + b"\n" for line in lines), 9, mtime=0)
    partial_file = file.with_name(file.name + ".part")
    partial_file.write_bytes(data)
    partial_file.replace(file)


def stored_records(file: Path) -> Iterator[Finding | RunSummary]:
    """Yield the records of a file.

    Raises
    ------
    OSError
        If the file cannot be read.
    DocumentError
        If a line is neither finding/1 nor run/1.
    """
    for line in gzip.decompress(file.read_bytes()).splitlines():
        yield parse_finding(line) if _FINDING in line else parse_run(line)
