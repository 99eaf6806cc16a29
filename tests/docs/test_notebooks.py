"""The notebooks run without a kernel; the site executes them with one (test_site)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
ALL = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


@cache
def cells(name: str) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    content = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", ALL)
def test_outputs_are_cleared(name: str) -> None:
    for cell in cells(name):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_a_finding_is_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the prose states holds for the records of today."""
    monkeypatch.chdir(NOTEBOOKS)
    names: dict[str, Any] = {}
    for cell in cells("a-finding.ipynb"):
        exec("".join(cell["source"]), names)  # noqa: S102 - our own pages
    members = names["finding"]["instance"]["members"]
    empty = [name for name, member in members.items() if not member["subscription"]]
    (violation,) = names["verdict"]["violations"]
    assert names["verdict"]["verdict"] == "invalid"
    assert (violation["rule"], [violation["member"]]) == ("unsubscribed", empty)
    loads = names["verdict"]["figures"]["loads"]
    assert max(loads) - min(loads) == 1
    assert names["checked"]["status"] == {"claimed": "optimal", "found": "proved"}
    best = [
        objective
        for objective in names["best"].objectives
        if objective.value != objective.bound
    ]
    assert best == []
    uneven, others = names["uneven_verdict"], names["uneven_instance"]
    assert uneven["verdict"] == "valid"
    assert uneven["figures"]["kip54_balanced"]
    assert not uneven["figures"]["dec_min_balanced"]
    assert len(uneven["evidence"]["dec_min_balanced"]) > 2
    sticky = names["members_of"](others, names["assign"](others, "sticky"))
    assert sticky == names["answer"]["members"]
    chained = names["assign"](others, "chain-sticky").loads(others)
    optimal = names["uneven_best"].require_assignment().loads(others)
    assert sorted(chained) == sorted(optimal)
