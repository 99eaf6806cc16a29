"""Figures of the quality study: outcomes of every assignor, and paired differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.assignor_order import marked, ranked
from oracle.chart_theme import INK
from tools.pictures.canvas import (
    ABSENT,
    ALARM,
    CALM,
    DANGER,
    FAINT,
    GROWN,
    LEAVING,
    SOFT,
    Box,
    Mark,
    Segment,
    Words,
    svg_of,
)

Row = dict[str, Any]

SUMMARY: Final = "docs/data/quality.jsonl"
_NAME: Final = 268  # width of the names
_WIDE: Final = 470  # of the scale of outcomes
_PANEL: Final = 250  # of one scale of differences
_HIGH: Final = 20  # of a row
_TOP: Final = 66
_PARTS: Final = (
    ("optimal", CALM),
    ("needless moves", ABSENT),
    ("KIP-54 balanced, not dec-min", ALARM),
    ("not KIP-54 balanced", LEAVING),
    ("not valid", DANGER),
)
_PANELS: Final = (
    ("optimal", "optimal answers, percentage points", 100.0, 1),
    ("moves_gap", "moves per 100 partitions", 1.0, 0),
)
"""Measure, name, factor, and the sign of the better direction.

Fewer moves are not better by themselves: a less balanced answer needs fewer.
"""


def quality_pictures(lines: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each figure, from the lines of a summary."""
    best_first = ranked(_newest(lines))
    yield "outcomes.svg", _outcomes(best_first)
    yield "differences.svg", _differences(lines, best_first)


def stored_quality_pictures(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the figures of the stored summary."""
    text = (root / SUMMARY).read_text(encoding="utf-8")
    yield from quality_pictures([json.loads(line) for line in text.splitlines()])


def _newest(lines: Sequence[Row]) -> Iterator[Row]:
    """Yield the newest version of each assignor, which is the first of its client."""
    seen = set()
    for line in lines:
        if "assignor" in line and (line["client"], line["name"]) not in seen:
            seen.add((line["client"], line["name"]))
            yield line


def _outcomes(assignors: Sequence[Row]) -> str:
    left, bottom = float(_NAME), float(_TOP + _HIGH * len(assignors))
    marks: list[Mark] = [
        Words(0, 14, "Outcomes on the same instances", INK, 15, bold=True),
        *_legend(),
        *_axis(left, _WIDE, bottom, [0, 25, 50, 75, 100], 0, 100, "{} %"),
    ]
    for place, line in enumerate(assignors):
        y, total = _TOP + place * _HIGH, line["total"]
        marks.append(_name(marked(line), y))
        kept = [total[name][0] for name in ("optimal", "balanced", "kip54", "valid")]
        ends = [*kept, 1.0]
        begin = 0.0
        for end, (_, colour) in zip(ends, _PARTS, strict=True):
            width = (end - begin) * _WIDE
            if width > 0:
                x = left + begin * _WIDE
                marks.append(Box(x, y + 3, width, _HIGH - 6, colour, colour, 0))
            begin = max(begin, end)
        _, low, high = total["optimal"]
        marks += _whisker(left + low * _WIDE, left + high * _WIDE, y, INK)
        share = f"{100 * kept[0]:.1f}"
        marks.append(Words(left + _WIDE + 8, y + _HIGH / 2, share, INK, 11))
    width, height = int(left + _WIDE + 46), int(bottom + 26)
    description = "share of optimal answers: " + ", ".join(
        f"{line['assignor']} {100 * line['total']['optimal'][0]:.1f} %"
        for line in assignors
    )
    return svg_of(marks, width=width, height=height, description=description)


def _legend() -> Iterator[Mark]:
    x = 0.0
    for name, colour in _PARTS:
        yield Box(x, 34, 12, 12, colour, colour, 0)
        yield Words(x + 17, 40, name, SOFT, 11)
        x += 34 + 5.6 * len(name)
    yield Segment(x, 40, x + 16, 40, INK, 1.5)
    yield Words(x + 21, 40, "95 %", SOFT, 11)


def _differences(lines: Sequence[Row], assignors: Sequence[Row]) -> str:
    pairs = {
        line["first"]: line["total"]
        for line in lines
        if line.get("pair") == "reference"
    }
    reference = lines[0]["reference"]
    shown_as = {line["assignor"]: marked(line) for line in assignors}
    names = [name for name in shown_as if name in pairs]
    bottom = float(_TOP + _HIGH * len(names))
    title = f"Differences from {reference} on the same instances"
    marks: list[Mark] = [Words(0, 14, title, INK, 15, bold=True)]
    for number, (measure, said, factor, better) in enumerate(_PANELS):
        left = float(_NAME + number * (_PANEL + 40))
        shown = {n: pairs[n][measure] for n in names if measure in pairs[n]}
        marks.append(Words(left, 44, said, SOFT, 12))
        marks += _panel(left, bottom, names, shown, factor, better)
    marks += [_name(shown_as[n], _TOP + i * _HIGH) for i, n in enumerate(names)]
    width = _NAME + 2 * _PANEL + 40 + 14
    description = (
        f"paired differences from {reference} in optimal answers: "
        + ", ".join(f"{name} {100 * pairs[name]['optimal'][0]:+.1f}" for name in names)
    )
    return svg_of(marks, width=width, height=int(bottom + 26), description=description)


def _panel(
    left: float,
    bottom: float,
    names: Sequence[str],
    shown: dict[str, Sequence[float]],
    factor: float,
    better: int,
) -> Iterator[Mark]:
    bounds = [factor * value for interval in shown.values() for value in interval]
    low, high, step = _scale(min([0.0, *bounds]), max([0.0, *bounds]))
    ticks = [low + i * step for i in range(round((high - low) / step) + 1)]
    yield from _axis(left, _PANEL, bottom, ticks, low, high, "{}")

    def at(value: float) -> float:
        return left + (value - low) / (high - low) * _PANEL

    yield Segment(at(0), _TOP - 4, at(0), bottom, SOFT, 1.5)
    for place, name in enumerate(names):
        if name not in shown:
            continue
        mean, begin, end = (factor * value for value in shown[name])
        y = _TOP + place * _HIGH
        colour = SOFT
        if begin > 0 or end < 0:
            signs = {1: GROWN, 0: INK, -1: DANGER}
            colour = signs[better if mean > 0 else -better]
        yield from _whisker(at(begin), at(end), y, colour)
        yield Box(at(mean) - 2.5, y + _HIGH / 2 - 2.5, 5, 5, colour, colour, 0)


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Return rounded bounds and the distance of ticks: at most six."""
    reach = max(high - low, 1e-9)
    power = 10.0 ** len(str(int(reach))) / 100
    steps = [power * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)]
    step = next(step for step in steps if reach / step <= 5)
    begin, end = step * (low // step), step * -(-high // step)
    return begin, max(end, begin + step), step


def _axis(
    left: float,
    width: float,
    bottom: float,
    ticks: Sequence[float],
    low: float,
    high: float,
    form: str,
) -> Iterator[Mark]:
    for tick in ticks:
        x = left + (tick - low) / (high - low) * width
        yield Segment(x, _TOP - 4, x, bottom, FAINT)
        shown = form.format(f"{tick + 0.0:g}").replace("-", "−")
        yield Words(x, bottom + 13, shown, SOFT, 11, align="center")


def _name(name: str, y: float) -> Words:
    return Words(_NAME - 8, y + _HIGH / 2, name, INK, 11, align="right")


def _whisker(begin: float, end: float, y: float, colour: str) -> Iterator[Mark]:
    middle = y + _HIGH / 2
    yield Segment(begin, middle, end, middle, colour, 1.5)
    for x in (begin, end):
        yield Segment(x, middle - 4, x, middle + 4, colour, 1.5)
