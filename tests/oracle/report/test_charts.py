"""Charts as SVG: their shapes have the sizes of the numbers, and stay within them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from oracle.report.charts import columns, gap_cells, outcome_bars
from oracle.report.gaps import GapRow, Gaps
from oracle.report.outcomes import OutcomeCounts

COUNTS = OutcomeCounts(optimum=30, needless=20, unbalanced=10, invalid=10, open=10)
GAPS = Gaps(
    measure="moves",
    bins=("0", "1-9", ">9"),
    rows=(GapRow(name="range", counts=(3, 0, 1)), GapRow(name="none", counts=(0,) * 3)),
)
HOSTILE = "<script>&\"'\u202e\u6c34" * 3


def shapes(svg: str, tag: str) -> list[dict[str, str]]:
    """Return the attributes of elements, with their text."""
    return [
        {**found.attrib, "text": found.text or ""}
        for found in ET.fromstring(svg).iter(tag)  # noqa: S314  # drawn above
    ]


def numbers(boxes: list[dict[str, str]], name: str) -> list[float]:
    return [float(box[name]) for box in boxes]


def written(svg: str) -> list[str]:
    return [text["text"] for text in shapes(svg, "text")]


def test_a_bar_is_divided_by_outcome() -> None:
    svg = outcome_bars([("range", COUNTS), ("none", OutcomeCounts())], width=400)
    bars = shapes(svg, "rect")
    widths = numbers(bars, "width")
    assert [round(8 * width / sum(widths)) for width in widths] == [3, 2, 1, 1, 1]
    for left, right in pairwise(bars):
        end = float(left["x"]) + float(left["width"])
        assert end == pytest.approx(float(right["x"]), abs=0.2)
    assert [bar["fill"] for bar in bars[:2]] == ["var(--optimum)", "var(--needless)"]
    assert written(svg)[:3] == ["range", "30", "20"]
    assert "43 %" in written(svg)  # of those that are classified
    assert "43 %" not in written(
        outcome_bars([("range", COUNTS)], width=9, share=False)
    )


def test_a_count_that_does_not_fit_is_not_written() -> None:
    few = OutcomeCounts(optimum=999, invalid=1)
    assert "1" not in written(outcome_bars([("range", few)], width=400))
    assert "999" in written(outcome_bars([("range", few)], width=400))


def test_columns_are_as_high_as_their_numbers() -> None:
    svg = columns([("a", 1), ("b", 4), ("c", 0)], width=400, height=115)
    heights = numbers(shapes(svg, "rect"), "height")
    assert heights == [25, 100, 0]
    assert written(svg) == ["1", "4", "0", "a", "b", "c"]


def test_of_many_columns_the_largest_number_and_few_labels_are_written() -> None:
    days = [(f"2026-11-{day:02}", 1_000 * day) for day in range(1, 31)]
    svg = columns(days, width=340, labels=4)
    assert len(shapes(svg, "rect")) == 30
    assert written(svg) == ["30,000", *(f"2026-11-{day:02}" for day in (1, 9, 17, 25))]
    places = numbers(shapes(svg, "text"), "x")
    assert min(places) > 25
    assert max(places) < 340 - 15


def test_cells_are_darker_for_larger_shares() -> None:
    svg = gap_cells(GAPS, {"range": "plain range"}, width=400)
    fills = [cell["fill"] for cell in shapes(svg, "rect")]
    shades = [
        int(fill.removeprefix("var(--shade-").removesuffix(")")) for fill in fills
    ]
    assert shades == [4, 0, 2, 0, 0, 0]
    rows = ["plain range", "75", "·", "25"], ["none", "·", "·", "·"]
    assert written(svg) == ["0", "1-9", ">9", *rows[0], *rows[1]]


@pytest.mark.parametrize("name", [HOSTILE, "UPPER-CASE-NAME", "x" * 48])
def test_names_are_escaped_and_have_room(name: str) -> None:
    for svg in (
        outcome_bars([(name, COUNTS)], width=1080),
        gap_cells(GAPS, {"range": name}, width=1080),
    ):
        (label,) = (text for text in shapes(svg, "text") if text["text"] == name)
        assert label["text-anchor"] == "end"
        assert float(label["x"]) >= 7 * len(name)
        (frame,) = shapes(svg, "{http://www.w3.org/2000/svg}svg") or shapes(svg, "svg")
        right = max(float(b["x"]) + float(b["width"]) for b in shapes(svg, "rect"))
        assert right <= float(frame["width"])


def test_no_values_are_an_empty_chart() -> None:
    assert written(columns([], width=100)) == []
    assert written(outcome_bars([], width=100)) == []
