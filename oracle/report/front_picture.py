"""Picture of a Pareto frontier, with the part that is not proved.

Vega-Lite draws it, through Altair, as PNG or SVG; the same front gives the same bytes.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import vl_convert

from oracle.chart_theme import AXES, FONT, INK, PAPER, titled
from oracle.names import abridged
from solver.pareto import Front, Measure

LINE: Final = "#1f6feb"
DOUBT: Final = "#d97706"
_WIDTH: Final = 620
_HEIGHT: Final = 340
_SCALE: Final = 2.0  # pixels of a PNG for one of the picture
_NAME_SHOWN: Final = 50
_PROVED: Final = "proved: nothing beats it"
_FOUND: Final = "best found"

Row = dict[str, Any]


def picture_of(front: Front, name: str, *, kind: str) -> bytes:
    """Draw a front, as ``png`` or ``svg``."""
    spec = _chart(front, name).to_dict()
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE))
    return str(vl_convert.vegalite_to_svg(spec)).encode()


def _chart(front: Front, name: str) -> alt.LayerChart:
    layers = [_stairs(front), _points(front)]
    if not front.is_complete:
        layers.insert(0, _doubt(front))
    title = titled(
        f"What each further move buys · {abridged(name, _NAME_SHOWN)}",
        _subtitle(front),
    )
    chart: alt.LayerChart = (
        alt.layer(*layers)
        .properties(width=_WIDTH, height=_HEIGHT, padding=16, title=title)
        .configure(font=FONT, background=PAPER)
        .configure_view(stroke=None)
        .configure_axis(**AXES)
        .configure_legend(
            orient="bottom",  # inside, it would lie on the stairs of some fronts
            direction="horizontal",
            title=None,
            labelColor=INK,
            labelFontSize=12,
        )
    )
    return chart


def _subtitle(front: Front) -> str:
    count = len(front.points)
    points = f"{count} point" + ("" if count == 1 else "s")
    if front.is_complete:
        return f"{points}, all proved: this is the whole front"
    proved = sum(point.is_proved for point in front.points)
    return f"{points}, {proved} proved; shaded: from the bound to the best found"


def _last(front: Front) -> int:
    """Return the budget at which the picture ends."""
    ends = [point.moves for point in front.points] + [run.last for run in front.open]
    furthest = max((point.moves for point in front.points), default=0)
    beyond = max(1, round(furthest * 0.06))
    return min(max(ends, default=0), furthest + 6 * beyond) + beyond


def _x() -> alt.X:
    axis = alt.Axis(tickMinStep=1, format="d", grid=False, labelFlush=False)
    title = "moves (owned partitions that change hands)"
    return alt.X("moves:Q", title=title, axis=axis, scale=alt.Scale(nice=False))


def _y(front: Front, field: str = "value") -> alt.Y:
    words = {
        "kip54-score": "KIP-54 score (0: every load equal)",
        "sum-of-squares": "sum of squares of loads",
    }
    title = "peak lag (records on one member)"
    if front.measure is not None:
        title = words[front.measure.value]
    elif front.scale != 1:
        title = "peak lag ÷ capacity"
    axis = alt.Axis(format=",.2~f" if front.scale != 1 else ",d", tickMinStep=1)
    squares = front.measure is Measure.SQUARES  # never near 0: from there all is flat
    scale = alt.Scale(zero=not squares, nice=True)
    return alt.Y(f"{field}:Q", title=title, axis=axis, scale=scale)


def _stairs(front: Front) -> alt.Chart:
    rows: list[Row] = [
        {"moves": point.moves, "value": point.value / front.scale}
        for point in front.points
    ]
    if rows:
        rows.append({"moves": _last(front), "value": rows[-1]["value"]})
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", color=LINE, strokeWidth=1.5, opacity=0.55)
        .encode(x=_x(), y=_y(front))
    )
    return chart


def _points(front: Front) -> alt.Chart:
    rows = [
        {
            "moves": point.moves,
            "value": point.value / front.scale,
            "status": _PROVED if point.is_proved else _FOUND,
        }
        for point in front.points
    ]
    colours = alt.Scale(domain=[_PROVED, _FOUND], range=[LINE, PAPER])
    edges = alt.Scale(domain=[_PROVED, _FOUND], range=[LINE, DOUBT])
    legend = alt.Legend() if not front.is_complete else None
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=52, opacity=1, strokeWidth=1.6)
        .encode(
            x=_x(),
            y=_y(front),
            fill=alt.Fill("status:N", scale=colours, legend=legend),
            stroke=alt.Stroke("status:N", scale=edges, legend=legend),
        )
    )
    return chart


def _doubt(front: Front) -> alt.Chart:
    """Shade what lies between bound and best found, budget by budget."""
    last = _last(front)
    rows: list[Row] = []
    for run in front.open:
        for budget in range(run.first, min(run.last, last - 1) + 1):
            value = _best(front, budget)
            if value is not None:
                rows.append(
                    {
                        "moves": budget,
                        "until": min(budget + 1, last),
                        "bound": run.bound / front.scale,
                        "value": value / front.scale,
                    }
                )
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect(color=DOUBT, opacity=0.22)
        .encode(
            x=_x(),
            x2="until:Q",
            y=_y(front, "bound"),
            y2="value:Q",
        )
    )
    return chart


def _best(front: Front, budget: int) -> int | None:
    values = [point.value for point in front.points if point.moves <= budget]
    return values[-1] if values else None
