"""Boxes, lines, and words at pixels, as an SVG for light and dark backgrounds.

Vega-Lite draws it, through Altair. The layout does not depend on text widths, so the
same marks give the same bytes on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final, Literal, NamedTuple

import altair as alt
import vl_convert

from oracle.chart_theme import FONT, INK, PAPER

SOFT: Final = "#5b6773"
FAINT: Final = "#d3d9df"
CALM: Final = "#a9c7ea"
PLAIN: Final = "#e1e6eb"
ALARM: Final = "#f0a04b"
DANGER: Final = "#b42318"
ABSENT: Final = "#8a96a3"
LEAVING: Final = "#b58bd6"
GROWN: Final = "#2e8b63"
DARK: Final = {
    PAPER: "#0d1117",
    INK: "#e6edf3",
    SOFT: "#9aa7b4",
    FAINT: "#39424c",
    CALM: "#2c5282",
    PLAIN: "#313a44",
    ALARM: "#a85a10",
    DANGER: "#ff8f85",
    ABSENT: "#6b7783",
    LEAVING: "#7a4fa3",
    GROWN: "#4fc08d",
}
"""Colors in dark mode."""

Row = dict[str, Any]
Tables = dict[str, list[Row]]
Align = Literal["left", "center", "right"]


class Box(NamedTuple):
    """A rectangle; left, top, width and height in pixels."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str = PAPER
    thick: float = 1.0
    dashed: bool = False


class Segment(NamedTuple):
    """A line from one point to another."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str = FAINT
    thick: float = 1.0
    dashed: bool = False


class Words(NamedTuple):
    """A line of text, vertically centered at a point."""

    x: float
    y: float
    text: str
    colour: str = INK
    size: int = 12
    bold: bool = False
    align: Align = "left"


Mark = Box | Segment | Words


def svg_of(marks: Iterable[Mark], *, width: int, height: int, description: str) -> str:
    """Draw marks: boxes, then lines, then words.

    Parameters
    ----------
    description : str
        Description for screen readers.
    """
    listed = list(marks)
    boxes = [mark for mark in listed if isinstance(mark, Box)]
    lines = [mark for mark in listed if isinstance(mark, Segment)]
    words = [mark for mark in listed if isinstance(mark, Words)]
    tables: Tables = {}
    layers = [
        *_boxes(boxes, tables, width, height),
        *_lines(lines, tables, width, height),
        *_words(words, tables, width, height),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=width, height=height, padding=0, autosize="none")
        .configure(font=FONT, background=PAPER, aria=False)
        .configure_view(stroke=None)
    )
    spec = chart.to_dict(validate=False) | {"datasets": tables}
    svg: str = vl_convert.vegalite_to_svg(spec)
    head, _, body = svg.partition(">")
    title = f"<title>{escape(description)}</title>"
    return f'{head} role="img">{title}{_dark_style()}{body}\n'


def png_of(svg: str) -> bytes:
    """Render a picture in light mode, for viewing."""
    return bytes(vl_convert.svg_to_png(svg, scale=2))


def _dark_style() -> str:
    """Return CSS that replaces each color in dark mode."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in DARK.items()
    )
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def _at(field: str, end: int, *, down: bool = False) -> dict[str, alt.X | alt.Y]:
    """Encode a field as pixels, from the left or from the top."""
    domain = [end, 0] if down else [0, end]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    if down:
        return {"y": alt.Y(f"{field}:Q", axis=None, scale=scale)}
    return {"x": alt.X(f"{field}:Q", axis=None, scale=scale)}


def _boxes(
    boxes: Sequence[Box], tables: Tables, width: int, height: int
) -> list[alt.Chart]:
    """Draw solid boxes, then dashed ones."""
    layers = []
    for dashed in (False, True):
        rows = [
            {**box._asdict(), "right": box.x + box.width, "below": box.y + box.height}
            for box in boxes
            if box.dashed is dashed
        ]
        dash = [4, 3] if dashed else [1, 0]
        mark = _over(rows, tables).mark_rect(strokeDash=dash)
        layers.append(
            mark.encode(
                **_at("x", width),
                x2="right:Q",
                **_at("y", height, down=True),
                y2="below:Q",
                fill=alt.Fill("fill:N", scale=None, legend=None),
                stroke=alt.Stroke("edge:N", scale=None, legend=None),
                strokeWidth=alt.StrokeWidth("thick:Q", scale=None, legend=None),
            )
        )
    return layers


def _lines(
    lines: Sequence[Segment], tables: Tables, width: int, height: int
) -> list[alt.Chart]:
    layers = []
    for dashed in (False, True):
        rows = [line._asdict() for line in lines if line.dashed is dashed]
        mark = _over(rows, tables).mark_rule(strokeDash=[4, 3] if dashed else [1, 0])
        layers.append(
            mark.encode(
                **_at("x", width),
                x2="x2:Q",
                **_at("y", height, down=True),
                y2="y2:Q",
                stroke=alt.Stroke("colour:N", scale=None, legend=None),
                strokeWidth=alt.StrokeWidth("thick:Q", scale=None, legend=None),
            )
        )
    return layers


def _words(
    words: Sequence[Words], tables: Tables, width: int, height: int
) -> list[alt.Chart]:
    """Draw texts, one layer per style."""
    styles = sorted({(word.align, word.bold, word.size) for word in words})
    layers = []
    for align, bold, size in styles:
        rows = [
            word._asdict()
            for word in words
            if (word.align, word.bold, word.size) == (align, bold, size)
        ]
        weight: Literal["bold", "normal"] = "bold" if bold else "normal"
        mark = _over(rows, tables).mark_text(
            align=align, baseline="middle", fontSize=size, fontWeight=weight, limit=0
        )
        layers.append(
            mark.encode(
                **_at("x", width),
                **_at("y", height, down=True),
                text="text:N",
                fill=alt.Fill("colour:N", scale=None, legend=None),
            )
        )
    return layers


def _over(rows: list[Row], tables: Tables) -> alt.Chart:
    """Begin a layer over rows by name, because Altair would copy them repeatedly."""
    name = f"rows{len(tables)}"
    tables[name] = rows
    return alt.Chart(alt.NamedData(name=name))
