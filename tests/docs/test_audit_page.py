"""docs/audit.md lists the columns of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.sources.source_kind import SourceKind
from pipeline.tables import TABLES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audit.md").read_text()


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented_in_order(table: str) -> None:
    section = PAGE.split(f"\n### `{table}`", 1)[1].split("\n### ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{field.name}` | {field.type} | {field.metadata[b'doc'].decode()} |"
        for field in TABLES[table]
    ]


def test_every_kind_of_source_is_documented() -> None:
    for kind in SourceKind:
        assert f"| `{kind.value}` |" in PAGE
