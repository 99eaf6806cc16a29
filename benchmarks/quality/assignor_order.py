"""Order of assignors in tables and figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from benchmarks.quality.answering import REFUSED

Line = dict[str, Any]

MARK: Final = " †"
"""Follows the name of an assignor that refuses instances."""


def ranked(lines: Iterable[Line]) -> list[Line]:
    """Return the assignors with results: most optimal answers first.

    Those that refuse instances are last, because they are measured on the others.
    """
    found = [line for line in lines if "optimal" in line.get("total", {})]
    assignors = [line for line in found if "assignor" in line]
    return sorted(assignors, key=_place)


def refusals(line: Line) -> int:
    """Return how many instances an assignor refused."""
    rows = line["families"].values()
    return sum(row["outcomes"].get(REFUSED, 0) for row in rows)


def marked(line: Line) -> str:
    """Return the name, marked if the assignor refuses instances."""
    name: str = line["assignor"]
    return name + (MARK if refusals(line) else "")


def _place(line: Line) -> tuple[bool, float, str]:
    return refusals(line) > 0, -line["total"]["optimal"][0], line["assignor"]
