"""Snapshots: texts that the repository keeps, and that tests compare with.

``make snapshots`` (``ORACLE_RENEW=1``) writes those that differ anew; read the
difference before you commit it.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "data" / "snapshots"


def check_snapshot(name: str | Path, text: str) -> None:
    """Fail with the difference if a text is not the one that is kept.

    Spaces in the last part of the name are hyphens in that of the file.
    """
    path = FOLDER / name
    path = path.with_name(path.name.replace(" ", "-"))
    kept = path.read_text("utf-8") if path.exists() else ""
    if os.environ.get("ORACLE_RENEW") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    elif text != kept:
        file = path.relative_to(TESTS.parent).as_posix()
        lines = unified_diff(
            kept.splitlines(), text.splitlines(), file, "now", lineterm=""
        )
        pytest.fail("\n".join((*lines, "make snapshots renews it")), pytrace=False)
