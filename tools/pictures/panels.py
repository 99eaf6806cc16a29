"""Draw an assignor's answer and the optimum: members as bars of partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from oracle.chart_theme import INK, PAPER
from rebalance import NOBODY, Instance, Int32
from tools.pictures.assignor_contents import Contrast, PictureState
from tools.pictures.canvas import (
    ALARM,
    CALM,
    DANGER,
    FAINT,
    PLAIN,
    SOFT,
    Box,
    Mark,
    Segment,
    Words,
    svg_of,
)

_MARGIN: Final = 18
_TITLE: Final = 44  # from the top to where bars may begin
_BAR: Final = 36  # width of a member's bar; with lag
_BAR_LAG: Final = 52
_GAP: Final = 6  # between two bars
_BETWEEN: Final = 36  # between two panels
_STACK: Final = 130  # height of the highest bar
_BOX_MOST: Final = 26  # maximal height of a partition; with lag, it depends on lag
_NOTE_HEIGHT: Final = 18  # height of a line of text
_LEAST_WIDTH: Final = 156  # of a panel, for its title
_LETTER: Final = 6.2  # approximate width of a letter; less in long texts
_NOTE_LETTER: Final = 5.5
_REFUSAL: Final = 22  # letters in a line
_KEPT, _MOVED, _FREE = "stays with its owner", "leaves its owner", "had no owner"
_APART: Final = "elsewhere than in the optimum"
_FILL: Final = {_KEPT: CALM, _MOVED: ALARM, _FREE: PLAIN}


class _Bars(NamedTuple):
    """Properties of all panels of a picture.

    Attributes
    ----------
    unit : float
        Pixels for one partition, or for one record of lag.
    """

    instance: Instance
    unit: float
    floor: float

    @property
    def bar(self) -> int:
        return _BAR if self.instance.lag is None else _BAR_LAG

    def rooms(self, state: PictureState) -> tuple[int, ...]:
        """List members from the left; `NOBODY` last if some partition has none."""
        members = self.instance.members
        by_name = sorted(range(len(members)), key=members.__getitem__)
        is_idle = state.holder is not None and (state.holder == NOBODY).any()
        return (*by_name, *([NOBODY] if is_idle else []))

    def width(self, state: PictureState) -> float:
        bars = len(self.rooms(state)) * (self.bar + _GAP) - _GAP
        return max(bars, _LEAST_WIDTH)

    def size(self, p: int) -> float:
        lag = self.instance.lag
        return self.unit * (1 if lag is None else int(lag[p]))

    def name(self, p: int) -> str:
        """Return topic, number, and lag if it is stated."""
        t = int(self.instance.partition_topic[p])
        number = p - int(self.instance.topic_offsets[t])
        lag = self.instance.lag
        lag_text = "" if lag is None else f": {int(lag[p])}"
        return f"{self.instance.topics[t]}-{number}{lag_text}"


def picture_of(contrast: Contrast) -> str:
    """Draw a contrast, as SVG."""
    instance, best = contrast.instance, contrast.best
    before = PictureState(title="before", holder=instance.owner)
    owned = bool((instance.owner != NOBODY).any())
    states = [*([before] if owned else []), *contrast.states, best]
    bars = _bars(instance, states)
    marks: list[Mark] = []
    used: set[str] = set()
    left = right = float(_MARGIN)
    for state in states:
        other = None if state in (before, best) else best
        marks += _panel(bars, state, left, other, used, is_before=state is before)
        right = max(right, left + bars.width(state), left + _notes_width(state))
        left += bars.width(state) + _BETWEEN
    deep = max(len(state.notes) for state in states)
    legend_at = bars.floor + 30 + deep * _NOTE_HEIGHT + 10
    legend, end = _legend(used, legend_at)
    width = max(right, end) + _MARGIN
    return svg_of(
        [*marks, *legend],
        width=int(width),
        height=int(legend_at + 22),
        description=_story(states),
    )


def _bars(instance: Instance, states: Sequence[PictureState]) -> _Bars:
    holders = [state.holder for state in states if state.holder is not None]
    weight = instance.lag
    if weight is None:
        weight = np.ones(instance.n_partitions, dtype=np.int64)
    highest = max(
        int(weight[holder == room].sum())
        for holder in holders
        for room in (*range(len(instance.members)), NOBODY)
    )
    unit = _STACK / max(highest, 1)
    if instance.lag is None:
        unit = min(unit, _BOX_MOST)
    return _Bars(instance, unit, _TITLE + highest * unit + 8)


def _notes_width(state: PictureState) -> float:
    return max((len(note.text) * _NOTE_LETTER for note in state.notes), default=0.0)


def _panel(
    bars: _Bars,
    state: PictureState,
    left: float,
    best: PictureState | None,
    used: set[str],
    *,
    is_before: bool,
) -> Iterator[Mark]:
    """Draw one state; add to ``used`` the marks that the legend must explain."""
    yield Words(left, 20, state.title, INK, 13, bold=True)
    if state.holder is None:
        yield from _refusal(bars, state, left)
        return
    yield Segment(left, bars.floor, left + bars.width(state), bars.floor, SOFT)
    for place, room in enumerate(bars.rooms(state)):
        x = left + place * (bars.bar + _GAP)
        yield _below(bars, room, x, state.holder)
        y = bars.floor
        for p in np.flatnonzero(state.holder == room).tolist():
            y -= bars.size(p)
            kind = _KEPT if is_before and room != NOBODY else _kind(bars, p, room)
            apart = best is not None and _is_apart(best, p, room)
            used |= set() if is_before else {kind} | ({_APART} if apart else set())
            yield _box(bars, p, x, y, kind, apart=apart)
            if bars.size(p) >= 11:
                middle = (x + bars.bar / 2, y + bars.size(p) / 2)
                yield Words(*middle, bars.name(p), size=11, align="center")
    for line, note in enumerate(state.notes):
        y = bars.floor + 38 + line * _NOTE_HEIGHT
        worse = best is not None and note.is_worse(best.notes)
        yield Words(left, y, note.text, DANGER if worse else SOFT, 12, bold=worse)


def _kind(bars: _Bars, p: int, room: int) -> str:
    owner = int(bars.instance.owner[p])
    if owner == NOBODY:
        return _FREE
    return _KEPT if owner == room else _MOVED


def _is_apart(best: PictureState, p: int, room: int) -> bool:
    return best.holder is not None and int(best.holder[p]) != room


def _box(bars: _Bars, p: int, x: float, y: float, kind: str, *, apart: bool) -> Box:
    edge, thick = (DANGER, 2.5) if apart else (PAPER, 1.0)
    inset = 1.5 if apart else 0.5
    height = max(bars.size(p) - 2 * inset, 1)
    return Box(
        x + inset, y + inset, bars.bar - 2 * inset, height, _FILL[kind], edge, thick
    )


def _below(bars: _Bars, room: int, x: float, holder: Int32) -> Words:
    """Write a member's name under its bar."""
    name = "nobody" if room == NOBODY else bars.instance.members[room]
    is_empty = not (holder == room).any()
    colour = SOFT if is_empty else INK
    return Words(x + bars.bar / 2, bars.floor + 13, name, colour, 12, False, "center")


def _refusal(bars: _Bars, state: PictureState, left: float) -> Iterator[Mark]:
    lines, line = [], ""
    for word in f"refuses: {state.refused}".split():
        if len(line) + len(word) > _REFUSAL:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    lines.append(line)
    yield Box(
        left, _TITLE, bars.width(state), bars.floor - _TITLE, PAPER, FAINT, 1.5, True
    )
    for number, text in enumerate(lines):
        y = _TITLE + 20 + number * 16
        yield Words(left + 10, y, text, DANGER, 12)


def _legend(used: set[str], y: float) -> tuple[list[Mark], float]:
    """Draw the legend; return where it ends."""
    x = float(_MARGIN)
    marks: list[Mark] = []
    for name in (_KEPT, _MOVED, _FREE, _APART):
        if name not in used:
            continue
        edge = DANGER if name == _APART else PAPER
        thick = 2.5 if name == _APART else 1.0
        marks.append(Box(x, y - 6, 14, 12, _FILL.get(name, PAPER), edge, thick))
        marks.append(Words(x + 20, y, name, SOFT, 12))
        x += 36 + _LETTER * len(name)
    return marks, x - 16


def _lines(state: PictureState) -> str:
    return ", ".join(note.text for note in state.notes)


def _story(states: Sequence[PictureState]) -> str:
    """Describe the picture in words."""
    parts = [
        f"{state.title}: {state.refused or _lines(state)}"
        for state in states
        if state.notes or state.refused
    ]
    return "; ".join(parts)
