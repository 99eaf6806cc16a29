"""Charts as Vega-Lite: what is drawn agrees with its schema, checked as a whole."""

from __future__ import annotations

from typing import Any

import altair as alt
import pytest
import vl_convert
from jsonschema import ValidationError  # type: ignore[import-untyped]

from oracle.report.charts import columns, gap_cells, outcome_bars
from oracle.report.gaps import GapRow, Gaps
from oracle.report.outcomes import OutcomeCounts


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the charts that are drawn."""
    charts = list[dict[str, Any]]()

    def svg(chart: dict[str, Any]) -> str:
        charts.append(chart)
        return "<svg ></svg>"

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", svg)
    return charts


def test_charts_agree_with_the_schema(drawn: list[dict[str, Any]]) -> None:
    counts = OutcomeCounts(optimum=3, needless=2, unbalanced=1, invalid=1, open=1)
    outcome_bars([("range", counts), ("none", OutcomeCounts())], width=400)
    columns([("a", 1), ("b", 20)], width=400)
    columns([(f"day {day}", day) for day in range(90)], width=200)
    rows = GapRow(name="range", counts=(3, 0, 2)), GapRow(name="none", counts=(0,) * 3)
    gaps = Gaps(measure="moves", bins=("0", "1-9", ">9"), rows=rows)
    gap_cells(gaps, {"range": "range, or what it is called"}, width=400)
    assert len(drawn) == 4
    for chart in drawn:
        alt.LayerChart.validate(chart)


def test_a_chart_that_disagrees_is_found() -> None:
    with pytest.raises(ValidationError):
        alt.LayerChart.validate({"layer": [{"mark": "no mark"}]})
