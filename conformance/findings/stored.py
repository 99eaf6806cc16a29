"""Stored records: findings and runs per client version, compressed JSON Lines."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.runs.run_records import Finding, RunSummary, parse_finding, parse_run
from rebalance import DocumentError, OutsideError

FOLDER: Final = Path(__file__).parents[2] / "docs" / "findings"
RECORDS: Final = FOLDER / "records"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Records of all clients, in the order of their files and lines."""

    findings: tuple[Finding, ...]
    runs: tuple[RunSummary, ...]


@cache
def stored_records(folder: Path = RECORDS) -> Stored:
    """Read all records of a folder, ``CLIENT@VERSION.jsonl.gz`` each.

    Raises
    ------
    OutsideError
        If a line is not a record; the message has the file and the line.
    """
    findings: list[Finding] = []
    runs: list[RunSummary] = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        for record in _records_of(path):
            if isinstance(record, Finding):
                findings.append(record)
            else:
                runs.append(record)
    return Stored(findings=tuple(findings), runs=tuple(runs))


def smallest_instance(finding: Finding) -> dict[str, Any]:
    """Return the shrunk instance of a finding, or its own, as plain values.

    A group without members has no leader, so a search that ended there left the
    mechanism behind: such an instance does not count.
    """
    shrunk = finding.shrunk
    case = shrunk if shrunk is not None and shrunk.instance.members else finding
    return case.instance.model_dump(exclude_none=True)


def _records_of(path: Path) -> Iterator[Finding | RunSummary]:
    for number, line in enumerate(gzip.decompress(path.read_bytes()).splitlines(), 1):
        try:
            form = orjson.loads(line).get("format")
            yield parse_run(line) if form == "run/1" else parse_finding(line)
        except (DocumentError, orjson.JSONDecodeError) as error:
            raise OutsideError(f"{path.name}, line {number}: {error}") from None
