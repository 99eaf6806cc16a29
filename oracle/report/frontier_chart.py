"""Chart of a Pareto frontier: its points as a step line, and the unproved part.

Vega-Lite draws it, through Altair, as PNG or SVG; equal frontiers give equal bytes.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import vl_convert

from oracle.chart_theme import AXES, FONT, INK, PAPER, titled
from oracle.names import abridged
from solver.pareto import Frontier, FrontierPoint

LINE: Final = "#1f6feb"
UNPROVED: Final = "#d97706"
_WIDTH: Final = 620
_HEIGHT: Final = 340
_SCALE: Final = 2.0  # pixels of a PNG per pixel of the picture
_NAME_SHOWN: Final = 50
_PROVED: Final = "proved: Pareto-optimal"
_FOUND: Final = "best found"

Row = dict[str, Any]


def picture_of(frontier: Frontier, name: str, *, kind: str) -> bytes:
    """Draw a frontier, as ``png`` or ``svg``."""
    spec = _chart(frontier, name).to_dict()
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE))
    return str(vl_convert.vegalite_to_svg(spec)).encode()


def _chart(frontier: Frontier, name: str) -> alt.LayerChart:
    layers = [_steps(frontier), _points(frontier)]
    if not frontier.is_complete:
        layers.insert(0, _open_ranges(frontier))
    title = titled(
        f"Pareto frontier · {abridged(name, _NAME_SHOWN)}",
        _subtitle(frontier),
    )
    chart: alt.LayerChart = (
        alt.layer(*layers)
        .properties(width=_WIDTH, height=_HEIGHT, padding=16, title=title)
        .configure(font=FONT, background=PAPER)
        .configure_view(stroke=None)
        .configure_axis(**AXES)
        .configure_legend(
            orient="bottom",  # inside the chart, it would cover parts of some frontiers
            direction="horizontal",
            title=None,
            labelColor=INK,
            labelFontSize=12,
        )
    )
    return chart


def _subtitle(frontier: Frontier) -> str:
    count = len(frontier.points)
    points = f"{count} point" + ("" if count == 1 else "s")
    if frontier.is_complete:
        return f"{points}, all proved: the frontier is complete"
    proved = sum(point.is_proved for point in frontier.points)
    return f"{points}, {proved} proved; shaded: between the bound and the best found"


def _last(frontier: Frontier) -> int:
    """Return the number of moves at which the chart ends."""
    ends = [point.moves for point in frontier.points] + [
        run.last for run in frontier.open
    ]
    furthest = max((point.moves for point in frontier.points), default=0)
    beyond = max(1, round(furthest * 0.06))
    return min(max(ends, default=0), furthest + 6 * beyond) + beyond


def _x() -> alt.X:
    axis = alt.Axis(tickMinStep=1, format="d", grid=False, labelFlush=False)
    title = "moves (owned partitions that leave their owner)"
    return alt.X("moves:Q", title=title, axis=axis, scale=alt.Scale(nice=False))


def _y(frontier: Frontier, field: str = "value") -> alt.Y:
    title = "peak lag (records of one member)"
    if frontier.measure is not None:
        title = "sum of squares of loads"
    elif frontier.scale != 1:
        title = "peak lag ÷ capacity"
    axis = alt.Axis(format=",.2~f" if frontier.scale != 1 else ",d", tickMinStep=1)
    # A sum of squares is far from 0; an axis from 0 would make all differences small.
    scale = alt.Scale(zero=frontier.measure is None, nice=True)
    return alt.Y(f"{field}:Q", title=title, axis=axis, scale=scale)


def _steps(frontier: Frontier) -> alt.Chart:
    rows: list[Row] = [
        {"moves": point.moves, "value": point.value / frontier.scale}
        for point in frontier.points
    ]
    if rows:
        rows.append({"moves": _last(frontier), "value": rows[-1]["value"]})
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", color=LINE, strokeWidth=1.5, opacity=0.55)
        .encode(x=_x(), y=_y(frontier))
    )
    return chart


def _points(frontier: Frontier) -> alt.Chart:
    rows = [
        {
            "moves": point.moves,
            "value": point.value / frontier.scale,
            "status": _PROVED if point.is_proved else _FOUND,
            "description": _description(frontier, point),
        }
        for point in frontier.points
    ]
    colours = alt.Scale(domain=[_PROVED, _FOUND], range=[LINE, PAPER])
    edges = alt.Scale(domain=[_PROVED, _FOUND], range=[LINE, UNPROVED])
    legend = alt.Legend() if not frontier.is_complete else None
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=52, opacity=1, strokeWidth=1.6)
        .encode(
            x=_x(),
            y=_y(frontier),
            fill=alt.Fill("status:N", scale=colours, legend=legend),
            stroke=alt.Stroke("status:N", scale=edges, legend=legend),
            description="description:N",
        )
    )
    return chart


def _description(frontier: Frontier, point: FrontierPoint) -> str:
    """Describe a point for screen readers."""
    value = f"{point.value / frontier.scale:.15g}"
    score = "" if point.kip54_score is None else f", KIP-54 score {point.kip54_score}"
    return f"{point.moves} moves: {frontier.measure or 'peak-lag'} {value}{score}"


def _open_ranges(frontier: Frontier) -> alt.Chart:
    """Shade the range between bound and best found, per limit on moves."""
    last = _last(frontier)
    rows: list[Row] = []
    for run in frontier.open:
        for most in range(run.first, min(run.last, last - 1) + 1):
            value = _best(frontier, most)
            if value is not None:
                rows.append(
                    {
                        "moves": most,
                        "until": min(most + 1, last),
                        "bound": run.bound / frontier.scale,
                        "value": value / frontier.scale,
                    }
                )
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect(color=UNPROVED, opacity=0.22)
        .encode(
            x=_x(),
            x2="until:Q",
            y=_y(frontier, "bound"),
            y2="value:Q",
        )
    )
    return chart


def _best(frontier: Frontier, most: int) -> int | None:
    values = [point.value for point in frontier.points if point.moves <= most]
    return values[-1] if values else None
