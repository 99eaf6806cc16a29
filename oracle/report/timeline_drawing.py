"""A timeline as SVG: members as steps, unread partitions and lag as areas, and ticks.

``timelines.js`` draws the same for the groups that the page does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np
from markupsafe import Markup

from oracle.report.timelines import PLACES, Timeline
from oracle.summary import INVALID, NEEDLESS, OPTIMUM, OUTCOMES, UNBALANCED
from oracle.wording import counted

WIDTH: Final = 1000
_WORDS: Final = (
    (INVALID, "invalid"),
    (UNBALANCED, "unbalanced"),
    (NEEDLESS, "with needless moves"),
    (OPTIMUM, "at the optimum"),
)
_TOP: Final = 2
_LOW: Final = 24
"""Bottom of lines and areas."""
_TICK: Final = 10
HEIGHT: Final = _LOW + 3 + _TICK + 1


def drawing(timeline: Timeline, start: int, end: int) -> Markup:
    """Return the timeline on an axis from ``start`` to ``end``, in ms."""
    begin = timeline.start * PLACES
    times = begin + timeline.place * timeline.length
    across = _x(times.tolist(), start, end)
    finish = _finish(timeline, start, end)
    most, largest = timeline.extremes.unread, timeline.extremes.lag
    areas = (
        ("lag", _area(across, finish, timeline.lag.tolist(), largest)),
        (
            "unread",
            _area(across, finish, timeline.unread.tolist(), most)
            + _spikes(across, timeline, most),
        ),
    )
    parts = [f'<path class="{name}" d="{path}"/>' for name, path in areas if path]
    parts.append(f'<path class="members" d="{_steps(across, finish, timeline)}"/>')
    parts += [
        f'<path class="{OUTCOMES[outcome]}" d="{path}"/>'
        for outcome in np.unique(timeline.outcome).tolist()
        if (path := _ticks(across, timeline.outcome.tolist(), outcome))
    ]
    return Markup(  # noqa: S704 - numbers and names of our own
        f'<svg class="timeline" aria-hidden="true" focusable="false"'
        f' viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
        f"{''.join(parts)}</svg>"
    )


def _finish(timeline: Timeline, start: int, end: int) -> int:
    """Return the place of the end of the last state."""
    if timeline.lasts < 0:
        return WIDTH
    last = timeline.start + timeline.length + timeline.lasts
    return min(WIDTH, _x([last * PLACES], start, end)[0])


def words_of(timeline: Timeline, *, own: bool) -> str:
    """Return a timeline in words; with its times if it has an axis of its own."""
    found = timeline.extremes
    least, most = found.members_least, found.members_most
    members = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    parts = [
        counted(found.rebalances, "generation"),
        f"{members} member{'' if most == 1 else 's'}",
    ]
    if found.unread > 0:
        parts.append(f"up to {counted(found.unread, 'partition')} without an owner")
    if found.lag >= 0:
        parts.append(f"peak lag up to {found.lag:,}")
    if own:
        first, last = timeline.start, timeline.start + timeline.length
        parts.append(f"{_time(first)} to {_time(last)} UTC")
    return "; ".join(parts)


def outcomes_of(timeline: Timeline) -> str:
    """Return the outcomes of a timeline in words, for readers without pictures."""
    counts = dict(zip(OUTCOMES, timeline.extremes.counts, strict=True))
    told = [f"{counts[name]:,} {words}" for name, words in _WORDS if counts[name]]
    return ", ".join(told) or "not classified"


def _time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _x(times: Sequence[int], start: int, end: int) -> list[int]:
    """Return places on the axis; times are in ms, times `PLACES`."""
    length = max(1, end - start) * PLACES
    return [(time - start * PLACES) * WIDTH // length for time in times]


def _y(value: int, most: int) -> int:
    return _LOW - value * (_LOW - _TOP) // most


def _area(across: Sequence[int], finish: int, values: Sequence[int], most: int) -> str:
    """Return an area of steps; unknown values (-1) are left out."""
    ends = (*across[1:], finish)
    return "".join(
        f"M{left} {_LOW}V{_y(value, most)}h{max(1, right - left)}V{_LOW}z"
        for left, right, value in zip(across, ends, values, strict=True)
        if value > 0
    )


def _spikes(across: Sequence[int], timeline: Timeline, most: int) -> str:
    """Return the largest values that the ticks at one place had, where they ended."""
    ticks = zip(across, timeline.peak.tolist(), timeline.unread.tolist(), strict=True)
    return "".join(
        f"M{left} {_LOW}V{_y(peak, most)}h1V{_LOW}z"
        for left, peak, unread in ticks
        if peak > 0 and peak > unread
    )


def _steps(across: Sequence[int], finish: int, timeline: Timeline) -> str:
    values, most = timeline.members.tolist(), max(1, timeline.extremes.members_most)
    return "".join(_line(across, finish, [_y(value, most) for value in values])) + (
        f"V{_LOW}" if timeline.ended else ""
    )


def _line(across: Sequence[int], finish: int, heights: Sequence[int]) -> Iterator[str]:
    yield f"M{across[0]} {_LOW}"
    before = _LOW
    for left, height in zip(across, heights, strict=True):
        if height != before:
            yield f"H{left}V{height}"
        before = height
    yield f"H{finish}"


def _ticks(across: Sequence[int], outcomes: Sequence[int], outcome: int) -> str:
    places = dict.fromkeys(
        left for left, own in zip(across, outcomes, strict=True) if own == outcome
    )
    return "".join(f"M{left} {_LOW + 3}v{_TICK}" for left in places)
