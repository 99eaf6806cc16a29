"""Draw the history of a group: lanes are members, rows partitions, columns steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from heuristics.group import RebalanceProtocol
from heuristics.group.messages import Partition
from oracle.chart_theme import INK, PAPER
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
from tools.pictures.scenes import Animation, Frame, View

_MARGIN: Final = 14
_GUTTER: Final = 74  # names of members and partitions
_HEAD: Final = 58  # title, generations and assignors of a scene
_LANE_HEAD: Final = 22
_ROW: Final = 10
_BELOW: Final = 10  # a lane
_WIDE: Final = 940  # of all columns, about
_STEP_MOST: Final = 58
_STEP_WITH_EVENT: Final = 44  # columns of this width show their event
_FEW: Final = 36  # up to this number of steps, all events are shown
_REST: Final = 44  # width before the first step and after the last
_COMMITS = "may commit"
_HOLDS = "holds, may not commit"
_REVOKES = "is to revoke it, may commit"
_TWO = "two may commit"
_NOBODY = "held by nobody"
_EAGER, _COOPERATIVE = "EAGER", "COOPERATIVE"
_FILL: Final = {
    _COMMITS: CALM,
    _REVOKES: LEAVING,
    _HOLDS: ALARM,
    _TWO: DANGER,
    _NOBODY: ABSENT,
    _EAGER: SOFT,
    _COOPERATIVE: GROWN,
}


class _Grid(NamedTuple):
    """Positions of a scene's columns and lanes."""

    scene: Animation
    top: float
    step: float

    def x(self, column: int) -> float:
        """Return the left edge of a column; the first and the last are wider."""
        rest = max(_REST, self.step) - self.step
        last = len(self.scene.frames)
        wider = rest * ((column > 0) + (column >= last))
        return _MARGIN + _GUTTER + column * self.step + wider

    @property
    def right(self) -> float:
        return self.x(len(self.scene.frames))

    @property
    def names(self) -> list[str]:
        return sorted({name for frame in self.scene.frames for name in frame.members})

    def lane(self, number: int) -> float:
        """Return the top of a lane; the last one is for partitions without a member."""
        height = _LANE_HEAD + _ROW * len(self.scene.partitions) + _BELOW
        return self.top + _HEAD + number * height

    @property
    def tells_events(self) -> bool:
        return self.step >= _STEP_WITH_EVENT

    @property
    def bottom(self) -> float:
        return self.lane(len(self.names) + 1) + (34 if self.tells_events else 4)


def timeline_of(scenes: Sequence[Animation]) -> str:
    """Draw scenes below one another, as SVG, with one scale of steps."""
    longest = max(len(scene.frames) for scene in scenes)
    least = _STEP_WITH_EVENT if longest <= _FEW else 0
    step = min(max(_WIDE / longest, least), _STEP_MOST)
    marks: list[Mark] = []
    used: set[str] = set()
    top, right = float(_MARGIN), 0.0
    for scene in scenes:
        grid = _Grid(scene, top, step)
        marks += _scene(grid, used)
        top, right = grid.bottom + 14, max(right, grid.right)
    legend, end = _legend(used, top + 4)
    story = "; ".join(_story(scene) for scene in scenes)
    width, height = int(max(right, end) + _MARGIN), int(top + 22)
    return svg_of([*marks, *legend], width=width, height=height, description=story)


def _scene(grid: _Grid, used: set[str]) -> Iterator[Mark]:
    yield Words(_MARGIN, grid.top + 8, grid.scene.title, INK, 13, bold=True)
    yield from _generations(grid)
    for number, name in enumerate(grid.names):
        views = [frame.members.get(name) for frame in grid.scene.frames]
        top = grid.lane(number)
        yield from _names(grid, top, name)
        yield from _processes(grid, top, views, used)
        rows = _rows(grid, top, number)
        for kind, boxes in rows:
            used.add(kind)
            yield boxes
    top = grid.lane(len(grid.names))
    yield from _names(grid, top, "nobody")
    for row, partition in enumerate(grid.scene.partitions):
        kinds = [_absence(frame, partition) for frame in grid.scene.frames]
        for kind, box in _runs(grid, top, row, kinds):
            used.add(kind)
            yield box
    if grid.tells_events:
        yield from _events(grid)


def _generations(grid: _Grid) -> Iterator[Mark]:
    """Draw a line at the start of each generation, with number and assignor."""
    y, written = grid.top + 28, None
    yield Words(_MARGIN, y, "generation", SOFT, 11)
    yield Words(_MARGIN, y + 15, "assignor", SOFT, 11)
    column = 0
    for generation, frames in groupby(
        grid.scene.frames, lambda frame: frame.generation
    ):
        count = len(list(frames))
        x = grid.x(column)
        bottom = grid.lane(len(grid.names) + 1) - _BELOW
        yield Segment(x, y - 8, x, bottom, SOFT, 1.0, True)
        yield Words(x + 4, y, str(generation), INK, 11, bold=True)
        picked = grid.scene.frames[column + count - 1].strategy
        if picked != written:
            yield Words(x + 4, y + 15, picked or "none", INK, 11)
            written = picked
        column += count


def _names(grid: _Grid, top: float, name: str) -> Iterator[Mark]:
    yield Words(_MARGIN, top + 10, name, INK, 12, bold=True)
    for row, (topic, number) in enumerate(grid.scene.partitions):
        y = top + _LANE_HEAD + (row + 0.5) * _ROW
        yield Words(
            _MARGIN + _GUTTER - 8, y, f"{topic}-{number}", SOFT, 9, align="right"
        )
        yield Box(grid.x(0), y, grid.right - grid.x(0), 1, FAINT, FAINT, 0)


def _processes(
    grid: _Grid, top: float, views: Sequence[View | None], used: set[str]
) -> Iterator[Mark]:
    """Write each process's list of assignors, and draw its protocol."""
    column = 0
    for (process, protocol, alive), run in groupby(views, _state):
        count = len(list(run))
        x, end = grid.x(column), grid.x(column + count)
        view = views[column]
        if view is not None and alive and protocol is not None:
            kind = _EAGER
            if protocol is RebalanceProtocol.COOPERATIVE:
                kind = _COOPERATIVE
            used.add(kind)
            yield Box(x, top + 17, end - x, 3, _FILL[kind], _FILL[kind], 0)
            before = views[column - 1] if column else None
            if before is None or before.process != process:
                yield Words(x + 3, top + 9, ", ".join(view.listed), SOFT, 11)
        column += count


def _state(view: View | None) -> tuple[str, RebalanceProtocol | None, bool]:
    if view is None:
        return "", None, False
    return view.process, view.protocol, view.is_alive


def _rows(grid: _Grid, top: float, number: int) -> Iterator[tuple[str, Box]]:
    name = grid.names[number]
    for row, partition in enumerate(grid.scene.partitions):
        kinds = [_kind(frame, name, partition) for frame in grid.scene.frames]
        yield from _runs(grid, top, row, kinds)


def _runs(
    grid: _Grid, top: float, row: int, kinds: Sequence[str | None]
) -> Iterator[tuple[str, Box]]:
    """Draw adjacent columns of one kind as one box."""
    column = 0
    y = top + _LANE_HEAD + row * _ROW
    for kind, run in groupby(kinds):
        count = len(list(run))
        if kind is not None:
            x, end = grid.x(column), grid.x(column + count)
            yield kind, Box(x, y + 1, end - x, _ROW - 2, _FILL[kind], PAPER, 0.5)
        column += count


def _kind(frame: Frame, name: str, partition: Partition) -> str | None:
    view = frame.members.get(name)
    if view is None or partition not in view.held:
        return None
    if not view.may_commit:
        return _HOLDS
    if frame.committers(partition) > 1:
        return _TWO
    return _REVOKES if partition in view.revoking else _COMMITS


def _absence(frame: Frame, partition: Partition) -> str | None:
    held = any(partition in view.held for view in frame.members.values())
    return None if held else _NOBODY


def _events(grid: _Grid) -> Iterator[Mark]:
    """Write the event below each column."""
    y = grid.lane(len(grid.names) + 1) + 4
    for column, frame in enumerate(grid.scene.frames):
        x = (grid.x(column) + grid.x(column + 1)) / 2
        if frame.event is None:
            yield Words(x, y, "at rest", SOFT, 9, align="center")
            continue
        first, _, then = frame.event.kind.value.partition(" ")
        who = frame.event.subject.rpartition("-")[0]
        yield Words(x, y, first, SOFT, 9, align="center")
        who = f"{then} {who}".strip()
        yield Words(x, y + 13, who, SOFT, 9, align="center")


def _legend(used: set[str], y: float) -> tuple[list[Mark], float]:
    x = float(_MARGIN)
    marks: list[Mark] = []
    for name, fill in _FILL.items():
        if name not in used:
            continue
        is_protocol = name in (_EAGER, _COOPERATIVE)
        height = 3 if is_protocol else 10
        marks.append(Box(x, y - height / 2, 16, height, fill, PAPER, 0))
        marks.append(Words(x + 22, y, name, SOFT, 11))
        x += 36 + 5.6 * len(name)
    return marks, x - 10


def _story(scene: Animation) -> str:
    """Describe the final holders, and where two members could commit."""
    last = scene.frames[-1]
    parts = [f"{scene.title}, {len(scene.frames)} steps"]
    for name, view in sorted(last.members.items()):
        held = ", ".join(f"{topic}-{number}" for topic, number in sorted(view.held))
        parts.append(f"{name} ends with {held or 'nothing'}")
    doubles = [
        f"{topic}-{number}"
        for topic, number in scene.partitions
        if any(frame.committers((topic, number)) > 1 for frame in scene.frames)
    ]
    if doubles:
        parts.append(f"two may commit {', '.join(doubles)}")
    return ", ".join(parts)
