"""Chart of the gap between ``sticky`` and the optimum, Kafka's and ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import altair as alt
import vl_convert

from benchmarks.upstream_runs import Line
from benchmarks.upstream_table import grouped
from oracle.chart_theme import FONT, GRID, INK, PAPER, SOFT, titled

COLOURS: Final = {"Kafka 4.4.0": "#d97706", "ours": "#1f6feb"}
FIGURES: Final = {"score": "KIP-54's score", "moves": "moves"}
BARS: Final = ((0, "0"), (2, "1 to 2"), (8, "3 to 8"), (32, "9 to 32"))
"""Upper limit and name of each bar; a last bar contains the rest."""
MORE: Final = "33 and more"
LESS: Final = "less"
_NEWEST: Final = "4.4.0"
_SCALE: Final = 1.5  # pixels of a PNG per pixel of the picture


def picture_of(lines: Iterable[Line]) -> bytes:
    """Draw one panel per kind and figure: shares of rebalances by gap, as a PNG."""
    rows = list(_rows(lines))
    names = [LESS, *(name for _, name in BARS), MORE]
    who = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    base = alt.Chart().encode(
        x=alt.X("bar:N", sort=names, title="above the optimum"),
        xOffset=alt.XOffset("who:N", sort=list(COLOURS)),
        y=alt.Y("share:Q", title="rebalances", axis=alt.Axis(format="%", tickCount=5)),
    )
    bars = base.mark_bar().encode(color=alt.Color("who:N", scale=who, title=None))
    written = base.mark_text(dy=-6, fontSize=7, color=INK).encode(text="written:N")
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    chart = (
        alt.layer(bars, written, data=alt.InlineData(values=rows))
        .properties(width=250, height=130)
        .facet(
            row=alt.Row("figure:N", sort=list(FIGURES.values()), title=None),
            column=alt.Column("kind:N", sort=kinds, title=None),
        )
        .resolve_scale(x="shared")
        .properties(padding=16, title=_title())
        .configure(font=FONT, background=PAPER)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=SOFT,
            titleFontWeight="normal",
            domainColor=SOFT,
            gridColor=GRID,
            tickColor=SOFT,
        )
        .configure_axisX(labelAngle=-40, grid=False)
        .configure_header(labelColor=INK, labelFontSize=12)
        .configure_legend(orient="bottom", labelColor=INK)
    )
    return bytes(vl_convert.vegalite_to_png(chart.to_dict(), scale=_SCALE))


def _title() -> alt.TitleParams:
    return titled(
        "sticky: how far from the best balance, and the fewest moves for it",
        "mixed subscriptions and recordings; a less even answer may move less",
    )


def _rows(lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    for (kafka, name, kind), runs in grouped(lines).items():
        if name != "sticky" or _NEWEST not in kafka or kind.startswith("equal"):
            continue
        both = [run for run in runs if "theirs" in run]
        for figure, words in FIGURES.items():
            for who, key in zip(COLOURS, ("theirs", "ours"), strict=True):
                above = [run[key][figure] - run["optimum"][figure] for run in both]
                for bar in [LESS, *(name for _, name in BARS), MORE]:
                    count = sum(_bar(n) == bar for n in above)
                    yield {
                        "kind": kind,
                        "figure": words,
                        "who": who,
                        "bar": bar,
                        "share": count / max(1, len(both)),
                        "written": str(count) if count else "",
                    }


def _bar(above: int) -> str:
    if above < 0:
        return LESS
    return next((name for most, name in BARS if above <= most), MORE)
