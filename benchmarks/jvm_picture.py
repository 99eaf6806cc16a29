"""Chart of times by size, Java's assignors and ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import altair as alt
import vl_convert

from benchmarks.jvm_table import growth_of
from oracle.chart_theme import AXES, FONT, INK, PAPER, titled

Line = dict[str, Any]

COLOURS: Final = {
    "range": "#1f6feb",
    "round-robin": "#0f9d8a",
    "sticky": "#d97706",
    "cooperative-sticky": "#b42318",
    "uniform": "#7c3aed",
}
_JAVA: Final = "Kafka, Java"
_OURS: Final = "ours"
_TITLES: Final = {"equal": "Equal subscriptions", "mixed": "Mixed subscriptions"}
_SIZES: Final = [20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000]
_TIMES: Final = [0.1, 1, 10, 100, 1000, 10_000, 100_000]  # milliseconds
_LOG: Final = alt.Scale(type="log", nice=False)
_WIDTH: Final = 380
_HEIGHT: Final = 340
_SCALE: Final = 2.0  # pixels of a PNG per pixel of the picture


def picture_of(lines: Iterable[Line]) -> bytes:
    """Draw the times by size as a PNG."""
    lines = list(lines)
    panels = [_panel(lines, kind, title) for kind, title in _TITLES.items()]
    title = titled(
        "CPU time of one rebalance, by number of partitions",
        "medians of warmed calls; a line that ends early, or is one point, "
        "met the time limit of one call at the next size",
    )
    chart = (
        alt.hconcat(*panels, spacing=36)
        .properties(padding=16, title=title)
        .configure(font=FONT, background=PAPER)
        .configure_view(stroke=None)
        .configure_axis(**AXES)
        .configure_legend(
            orient="bottom", title=None, labelColor=INK, labelFontSize=12, columns=5
        )
    )
    return bytes(vl_convert.vegalite_to_png(chart.to_dict(), scale=_SCALE))


def _panel(lines: list[Line], kind: str, title: str) -> alt.LayerChart | alt.FacetChart:
    sizes = alt.Axis(format="~s", grid=False, values=_SIZES)
    times = alt.Axis(format=",~g", values=_TIMES)
    log = alt.Scale(type="log", domain=[_TIMES[0], _TIMES[-1]], nice=False)
    base = alt.Chart(alt.InlineData(values=_rows(lines, kind))).encode(
        x=alt.X("partitions:Q", title="partitions", axis=sizes, scale=_LOG),
        y=alt.Y("ms:Q", title="milliseconds of CPU", axis=times, scale=log),
    )
    stroke = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolSize=400)
    colours = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    dashes = alt.Scale(domain=[_OURS, _JAVA], range=[[1, 0], [5, 4]])
    curves = base.mark_line(strokeWidth=1.8).encode(
        color=alt.Color("assignor:N", scale=colours, legend=stroke),
        strokeDash=alt.StrokeDash("side:N", scale=dashes, legend=stroke),
    )
    points = base.mark_point(filled=True, size=26, opacity=1).encode(
        color=alt.Color("assignor:N", scale=colours, legend=None),
    )
    both = alt.layer(curves, points)
    return both.properties(width=_WIDTH, height=_HEIGHT, title=title)


def _rows(lines: list[Line], kind: str) -> list[Line]:
    rows = []
    for line in growth_of(lines, kind):
        if line["ours"] in COLOURS:
            about = {"assignor": line["ours"], "partitions": line["partitions"]}
            if "java_cpu_ms" in line:
                rows.append(about | {"side": _JAVA, "ms": line["java_cpu_ms"]})
            rows.append(about | {"side": _OURS, "ms": line["whole_cpu_ms"]})
    return rows
