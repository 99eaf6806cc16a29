"""Charts as SVG without scripts; colors are the page's own variables.

The numbers are in the pictures and in a table next to each, so that color is not needed
to read them. The widths of texts are estimates: the font is that of the reader.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from markupsafe import Markup

from oracle.report.gaps import Gaps
from oracle.report.outcomes import OutcomeCounts
from oracle.summary import OUTCOMES
from oracle.wording import percent

_ROW: Final = 26  # height of a row, pixels
_TEXT: Final = 12  # font size
_BASE: Final = 17  # of a text in its row
_BESIDE: Final = 8  # from a text to the bars
_SHARE: Final = 48  # room for a share behind a bar
_ROOM: Final = 9  # pixels that a digit needs
_AXIS: Final = 16
_SHADES: Final = 5


def outcome_bars(
    rows: Sequence[tuple[str, OutcomeCounts]], *, width: int, share: bool = True
) -> Markup:
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
    left = _labels_width(label for label, _ in rows)
    room = width - left - _SHARE
    parts = []
    for at, (label, counts) in enumerate(rows):
        base = _ROW * at + _BASE
        parts.append(_text(left - _BESIDE, base, label, anchor="end"))
        parts += _pieces(counts, left, room, _ROW * at + 3)
        if share:
            written = percent(counts.optimum, counts.judged)
            parts.append(_text(left + room + _BESIDE, base, written, anchor="start"))
    return _svg(parts, width, _ROW * len(rows))


def columns(
    values: Sequence[tuple[str, int]],
    *,
    width: int,
    height: int = 120,
    color: str = "--optimum",
    labels: int = 12,
) -> Markup:
    """Draw one column per label, of which every few are written; the largest number is.

    Parameters
    ----------
    values
        Label, distinct, and a number of at least 0, in order.
    labels
        Labels written, at most about this many.
    """
    numbers = [value for _, value in values]
    largest, step = max(numbers, default=0), width / max(1, len(values))
    is_full = len(f"{largest:,}") * (_ROOM - 1) >= step
    written = {numbers.index(largest)} if is_full else {*range(len(values))}
    parts = []
    for at, (_, value) in enumerate(values):
        high = value * height / (1.15 * max(1, largest))
        left, top = (at + 0.075) * step, height - high
        parts.append(_bar((left, top, 0.85 * step, high), color, 1))
        if at in written:
            parts.append(_small((at + 0.5) * step, top - 4, f"{value:,}", width))
    line = Markup('<path d="M0 {0}.5H{1}" stroke="var(--line)"/>')
    parts.append(line.format(height, width))
    widest = _labels_width(name for name, _ in values)
    every = max(-(-len(values) // labels), -(-widest // max(1, int(step))), 1)
    parts += [
        _small((at + 0.5) * step, height + 12, values[at][0], width)
        for at in range(0, len(values), every)
    ]
    return _svg(parts, width, height + _AXIS)


def gap_cells(gaps: Gaps, names: dict[str, str], *, width: int) -> Markup:
    """Draw one row per assignor: the share of rebalances per bin, darker is more."""
    labels = [names.get(row.name, row.name) for row in gaps.rows]
    left = _labels_width(labels)
    step = (width - left) / len(gaps.bins)
    parts = [
        _small(left + (at + 0.5) * step, _AXIS - 4, name, width)
        for at, name in enumerate(gaps.bins)
    ]
    for at, (row, label) in enumerate(zip(gaps.rows, labels, strict=True)):
        top = _AXIS + _ROW * at
        parts.append(_text(left - _BESIDE, top + _BASE, label, anchor="end"))
        for column, (shade, written) in enumerate(_cells(row.counts)):
            start = left + column * step
            box = (start + 1, top + 1, step - 2, _ROW - 2)
            parts.append(_bar(box, f"--shade-{shade}", 3))
            middle, on = start + step / 2, f"--on-shade-{shade}"
            parts.append(_text(middle, top + _BASE, written, color=on, size=_TEXT - 1))
    return _svg(parts, width, _AXIS + _ROW * len(labels))


def _pieces(
    counts: OutcomeCounts, left: float, room: float, top: float
) -> Iterator[Markup]:
    """Yield the segments of one bar, as shares of its total, and their counts."""
    start = 0
    for outcome in OUTCOMES:
        count = counts.of(outcome)
        if not count:
            continue
        at, wide = left + start / counts.total * room, count / counts.total * room
        yield _bar((at, top, wide, _ROW - 6), f"--{outcome}", 2)
        if wide > _ROOM * len(str(count)):
            middle, base = at + wide / 2, top + _BASE - 3
            yield _text(middle, base, str(count), color=f"--on-{outcome}")
        start += count


def _cells(counts: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the shade of each bin, and its share in words."""
    total = sum(counts)
    for count in counts:
        shade = -(-count * _SHADES // total) if total else 0
        yield shade, percent(count, total).removesuffix(" %") if count else "·"


def _labels_width(labels: Iterable[str]) -> int:
    """Return room for the longest label and the distance to its neighbor."""
    return 10 + max((sum(map(_letter_width, label)) for label in labels), default=0)


def _letter_width(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return _TEXT
    return 9 if letter.isupper() else 7


def _bar(box: tuple[float, float, float, float], color: str, radius: int) -> Markup:
    return Markup(
        '<rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="var({})"/>'
    ).format(*map(_short, box), radius, color)


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "middle",
    color: str = "--ink",
    size: int = _TEXT,
) -> Markup:
    bold = Markup(' font-weight="bold"') if anchor == "start" else ""
    return Markup(
        '<text x="{}" y="{}" text-anchor="{}" font-size="{}px" fill="var({})"{}>{}'
        "</text>"
    ).format(_short(x), _short(y), anchor, size, color, bold, words)


def _small(x: float, y: float, words: str, width: int) -> Markup:
    """Write above or below a column, moved inwards where it would be cut off."""
    half = min(width, _labels_width([words])) / 2 - _BESIDE
    return _text(min(max(x, half), width - half), y, words, size=_TEXT - 2)


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _svg(parts: Sequence[Markup], width: int, height: int) -> Markup:
    head = Markup(
        '<svg aria-hidden="true" focusable="false" viewBox="0 0 {0} {1}" width="{0}"'
        ' height="{1}">'
    ).format(width, height)
    return Markup("\n").join((head, *parts, Markup("</svg>")))
