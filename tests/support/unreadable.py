"""Documents that cannot be read, each beside the error of both readers.

``NAME.json`` is the document, byte by byte; ``NAME.judge.txt`` is the error of
`verify`, and ``NAME.reader.txt`` that of `rebalance`, which accepts any policy.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.snapshots import TESTS, check_snapshot

FOLDER = TESTS / "data" / "unreadable"
REBALANCES = sorted(FOLDER.glob("rebalances/*.json"))
ASSIGNMENTS = sorted(FOLDER.glob("assignments/*.json"))


def check_error(document: Path, party: str, error: str) -> None:
    """Compare an error with that beside the document."""
    check_snapshot(document.with_suffix(f".{party}.txt"), f"{error}\n")
