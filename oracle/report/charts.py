"""Charts as SVG without scripts; colors are the page's own variables.

Vega-Lite draws them, through Altair. The numbers are in the pictures and in a table
next to each, so that color is not needed to read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from oracle.report.gaps import Gaps
from oracle.report.outcomes import OutcomeCounts
from oracle.summary import OUTCOMES
from oracle.wording import percent

Row = dict[str, Any]

_BAR: Final = 26  # height of a bar, pixels
_CELL: Final = 26
_TEXT: Final = 12  # font size
_ROOM: Final = 9  # pixels that a digit needs
_SHADES: Final = 5
_SVG: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_CLIP: Final = re.compile(r'(\bid="|url\(#)clip([0-9]+)\b')
_unchecked = debug_mode(False)
"""Altair would check every part of a chart against its schema, which takes as long as
to draw it; tests check the charts as a whole."""


@_unchecked
def outcome_bars(
    rows: Sequence[tuple[str, OutcomeCounts]], *, width: int, share: bool = True
) -> str:
    """Draw one bar per row: its rebalances by outcome, as shares, labeled with counts.

    Parameters
    ----------
    rows
        Label and counts; labels are distinct.
    width
        Pixels, labels included.
    share
        Whether the share at the optimum is written behind each bar.
    """
    labels = [label for label, _ in rows]
    room = width - _label_width(labels) - 52
    data = [piece for label, counts in rows for piece in _pieces(label, counts, room)]
    base = _base(data, labels)
    across = alt.X("start:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    bars = base.mark_bar(height=_BAR - 6, cornerRadius=2).encode(
        x=across, x2="end:Q", color=_named_colour("outcome", OUTCOMES, "--{}")
    )
    written = base.mark_text(fontSize=_TEXT).encode(
        x=alt.X("middle:Q"),
        text="written:N",
        color=_named_colour("outcome", OUTCOMES, "--on-{}"),
    )
    totals = [
        {
            "label": label,
            "share": percent(counts.optimum, counts.judged) if share else "",
        }
        for label, counts in rows
    ]
    beside = (
        _base(totals, labels)
        .mark_text(align="left", fontSize=_TEXT, fontWeight="bold", fill="var(--ink)")
        .encode(x=alt.value(room + 8), text="share:N")
    )
    return _svg(alt.layer(bars, written, beside), width=room, height=_BAR * len(rows))


@_unchecked
def columns(
    values: Sequence[tuple[str, int]],
    *,
    width: int,
    height: int = 120,
    color: str = "--optimum",
    labels: int = 12,
) -> str:
    """Draw one column per label, of which every few are written; the largest number is.

    Parameters
    ----------
    values
        Label, distinct, and a number of at least 0, in order.
    labels
        Labels written, at most about this many.
    """
    names = [name for name, _ in values]
    largest = max((value for _, value in values), default=0)
    room = width - 12
    data = [
        {"label": name, "value": value, "written": f"{value:,}"}
        for name, value in values
    ]
    axis = _sparse_axis(names[:: -(-len(names) // labels)])
    base = alt.Chart(alt.InlineData(values=data)).encode(
        x=alt.X("label:N", sort=names, axis=axis, scale=alt.Scale(paddingInner=0.15)),
        y=alt.Y(
            "value:Q", axis=None, scale=alt.Scale(domain=[0, max(1, largest) * 1.15])
        ),
    )
    bars = base.mark_bar(fill=f"var({color})", cornerRadius=1)
    texts = base.mark_text(dy=-7, fontSize=_TEXT - 2, fill="var(--ink)").encode(
        text="written:N"
    )
    if len(f"{largest:,}") * (_ROOM - 1) * len(names) >= room:
        place = next((n for n, (_, value) in enumerate(values) if value == largest), 0)
        name = names[place] if names else ""
        texts = texts.transform_filter(alt.datum.label == name)
    return _svg(alt.layer(bars, texts), width=room, height=height)


def _sparse_axis(written: Sequence[str]) -> alt.Axis:
    """Return an axis with these labels."""
    return alt.Axis(
        title=None,
        values=written,
        labelAngle=0,
        labelOverlap=True,
        ticks=False,
        domainColor="var(--line)",
        labelColor="var(--ink)",
        labelFontSize=_TEXT - 2,
    )


@_unchecked
def gap_cells(gaps: Gaps, names: dict[str, str], *, width: int) -> str:
    """Draw one row per assignor: the share of rebalances per bin, darker is more."""
    labels = [names.get(row.name, row.name) for row in gaps.rows]
    room = width - _label_width(labels) - 10
    data = [
        {"label": names.get(row.name, row.name), **cell}
        for row in gaps.rows
        for cell in _cells(row.counts, gaps.bins)
    ]
    columns = alt.X(
        "bin:N",
        sort=list(gaps.bins),
        axis=alt.Axis(
            orient="top",
            labelAngle=0,
            labelColor="var(--ink)",
            labelFontSize=_TEXT - 2,
            domain=False,
            ticks=False,
            title=None,
        ),
    )
    base = _base(data, labels)
    shades = [str(shade) for shade in range(_SHADES + 1)]
    cells = base.mark_rect(stroke="var(--paper)", strokeWidth=2, cornerRadius=3).encode(
        x=columns, color=_named_colour("shade", shades, "--shade-{}")
    )
    written = base.mark_text(fontSize=_TEXT - 1).encode(
        x=columns,
        text="written:N",
        color=_named_colour("shade", shades, "--on-shade-{}"),
    )
    return _svg(alt.layer(cells, written), width=room, height=_CELL * len(labels))


def _pieces(label: str, counts: OutcomeCounts, room: int) -> Iterator[Row]:
    """Yield the segments of one bar, as shares of its total."""
    start = 0
    for outcome in OUTCOMES:
        count = counts.of(outcome)
        if not count:
            continue
        middle = (start + count / 2) / counts.total
        fits = count / counts.total * room > _ROOM * len(str(count))
        yield {
            "label": label,
            "outcome": outcome,
            "start": start / counts.total,
            "end": (start + count) / counts.total,
            "middle": middle,
            "written": str(count) if fits else "",
        }
        start += count


def _cells(counts: Sequence[int], bins: Sequence[str]) -> Iterator[Row]:
    total = sum(counts)
    for name, count in zip(bins, counts, strict=True):
        shade = -(-count * _SHADES // total) if total else 0
        written = percent(count, total).removesuffix(" %") if count else "·"
        yield {"bin": name, "shade": str(shade), "written": written}


def _base(data: list[Row], labels: Sequence[str]) -> alt.Chart:
    axis = alt.Axis(
        title=None,
        domain=False,
        ticks=False,
        labelPadding=8,
        labelColor="var(--ink)",
        labelFontSize=_TEXT,
        labelLimit=0,  # names are already shortened in the middle
    )
    return alt.Chart(alt.InlineData(values=data)).encode(
        y=alt.Y("label:N", sort=list(labels), axis=axis)
    )


def _label_width(labels: Sequence[str]) -> int:
    """Return the width of the longest label, at about seven pixels per letter."""
    return 7 * max((len(label) for label in labels), default=0) + 10


def _named_colour(field: str, names: Sequence[str], variable: str) -> alt.Color:
    """Map each name to the page's color variable of that name."""
    colours = [f"var({variable.format(name)})" for name in names]
    scale = alt.Scale(domain=list(names), range=colours)
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def _svg(chart: alt.LayerChart | alt.FacetChart, *, width: int, height: int) -> str:
    drawn = (
        chart.properties(width=width, height=height, padding=2)
        .configure(font="inherit", background="transparent", aria=False)
        .configure_view(stroke=None)
        .resolve_scale(color="independent")
    )
    svg: str = vl_convert.vegalite_to_svg(drawn.to_dict(validate=False))
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def with_numbered_clips(html: str) -> str:
    """Give the clip paths of a page's charts numbers from 1.

    Vega numbers them over all charts of the process, so that the second of two equal
    pages would differ from the first.
    """
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"{found[1]}clip{numbers.setdefault(found[2], len(numbers) + 1)}"

    return _SVG.sub(lambda svg: _CLIP.sub(numbered, svg[0]), html)
