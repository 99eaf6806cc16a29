"""The packages, each above those that it imports, and the judge at their side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tools.pictures.canvas import (
    ABSENT,
    CALM,
    PLAIN,
    SOFT,
    Box,
    Mark,
    Segment,
    Words,
    svg_of,
)

_COLUMN: Final = 230
_ROW: Final = 104
_WIDE: Final = 200  # of one column; the rest is the gap
_HIGH: Final = 66
_MIDDLE: Final = _WIDE // 2

DESCRIPTION: Final = (
    "each package imports from the rows below it: oracle; pipeline and conformance; "
    "heuristics and solver; rebalance. The upper two rows judge with verify, which "
    "imports none of them"
)


class GridPlace(NamedTuple):
    """A package in the grid: where it begins, and how many columns and rows it has."""

    name: str
    about: str
    column: int
    row: int
    columns: int = 1
    rows: int = 1
    fill: str = PLAIN

    @property
    def box(self) -> Box:
        """The rectangle of the package."""
        return Box(
            self.column * _COLUMN + 1,
            self.row * _ROW + 1,
            (self.columns - 1) * _COLUMN + _WIDE,
            (self.rows - 1) * _ROW + _HIGH,
            self.fill,
            ABSENT,
        )

    def marks(self) -> Iterator[Mark]:
        """Yield the rectangle with its name and the lines of its description."""
        box = self.box
        lines = self.about.split("\n")
        x, y = box.x + box.width / 2, box.y + box.height / 2 - 8 * len(lines)
        yield box
        yield Words(x, y, self.name, size=14, bold=True, align="center")
        for number, line in enumerate(lines, start=1):
            yield Words(x, y + 17 * number, line, SOFT, align="center")


PACKAGES: Final = (
    GridPlace("verify", "the judge:\nstandard library only", 0, 0, rows=2, fill=CALM),
    GridPlace("oracle", "command line, HTML page, plug-ins", 1, 0, columns=3),
    GridPlace(
        "pipeline", "sources, reconstruction, evaluation (Spark)", 1, 1, columns=2
    ),
    GridPlace("conformance", "corpus, Kafka's own\nassignors, a broker", 3, 1),
    GridPlace("heuristics", "KIP algorithms,\ngroup protocol", 1, 2),
    GridPlace("solver", "one solve, six engines", 2, 2, columns=2),
    GridPlace("rebalance", "instances, documents, columns", 1, 3, columns=3),
)
_DOWN: Final = tuple((column, row) for row in range(3) for column in (1, 2, 3))
"""Imports, each as a column and the row from which it leads to the next one."""

_ACROSS: Final = ((0, 0, True), (0, 1, True), (2, 1, False))
"""Uses to the next column: column, row, and whether it is for judging."""


def architecture() -> str:
    """Draw the packages as an SVG."""
    marks: list[Mark] = [mark for place in PACKAGES for mark in place.marks()]
    for column, row in _DOWN:
        x, y = column * _COLUMN + _MIDDLE + 1, row * _ROW + _HIGH + 1
        marks.append(Segment(x, y, x, (row + 1) * _ROW + 1, SOFT, 1.5))
    for column, row, is_judging in _ACROSS:
        left, middle = column * _COLUMN + _WIDE + 1, row * _ROW + _HIGH / 2 + 1
        right = (column + 1) * _COLUMN + 1
        marks.append(Segment(left, middle, right, middle, SOFT, 1.5, dashed=is_judging))
    width, height = 3 * _COLUMN + _WIDE + 2, 3 * _ROW + _HIGH + 2
    return svg_of(marks, width=width, height=height, description=DESCRIPTION)
