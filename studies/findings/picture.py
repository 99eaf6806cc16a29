"""A finding as a picture: the claims, the answer, and an optimal answer.

Members are rows, partitions columns; partitions that have everything in common share a
column. Each mark has a word, so that nothing depends on color.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from studies.findings.shown_case import AnsweredRound, Document, Held, ShownCase
from tools.pictures.canvas import (
    ALARM,
    CALM,
    DANGER,
    FAINT,
    LEAVING,
    PLAIN,
    SOFT,
    Box,
    Mark,
    Segment,
    Words,
    svg_of,
)

CELL: Final = 50
ROW: Final = 26
TOP: Final = 74
GAP: Final = 34
WIDEST: Final = 900
NOBODY: Final = "nobody"

Spot = tuple[str, int]


class CellMark(NamedTuple):
    """A mark in a cell: its word, its fill, and whether its edge is dashed or red."""

    word: str
    fill: str
    dashed: bool = False
    is_wrong: bool = False


class Panel(NamedTuple):
    """A table: partitions in columns, and the entries of each by member."""

    title: str
    columns: list[tuple[str, str, dict[str, CellMark]]]  # topic, numbers, entries
    note: str = ""
    has_nobody: bool = False

    @property
    def width(self) -> int:
        """Width in pixels, without the names of members."""
        return max(len(self.columns) * CELL, 7 * len(self.title), 7 * len(self.note))


def picture_of(case: ShownCase, description: str) -> str:
    """Draw a case; ``description`` is for screen readers."""
    members = sorted(case.instance["members"])
    names = max(len(_label(case.instance, member)) for member in members) * 7 + 16
    panels = list(_panels(case))
    rows = [*members, *([NOBODY] if any(panel.has_nobody for panel in panels) else [])]
    height = TOP + len(rows) * ROW + 18
    across = sum(panel.width + GAP for panel in panels) + names
    marks: list[Mark] = []
    if across <= WIDEST:
        left = names
        _names(marks, case.instance, rows, 0.0)
        for panel in panels:
            _draw(marks, panel, case.instance, rows, left, 0.0)
            left += panel.width + GAP
        return svg_of(marks, width=across, height=height, description=description)
    top = 0
    for panel in panels:
        if not panel.note:
            _names(marks, case.instance, rows, top)
        _draw(marks, panel, case.instance, rows, names, top)
        top += TOP + 2 * ROW if panel.note else height
    width = names + max(panel.width for panel in panels) + GAP
    return svg_of(marks, width=width, height=top, description=description)


def _panels(case: ShownCase) -> Iterator[Panel]:
    shown = case.rounds[-2:] if case.category == "restless" else case.rounds[-1:]
    first = case.instance
    if shown and case.category != "restless":
        first = shown[-1].instance
    yield _claims_panel(first)
    for answered in shown:
        number = case.rounds.index(answered) + 1
        many = f", round {number}" if len(case.rounds) > 1 else ""
        yield _answer_panel(
            answered, f"{case.spec}{many}", cooperative=case.cooperative
        )
    if case.expected is not None:
        yield _expected_panel(case)


def _claims_panel(instance: Document) -> Panel:
    entries: dict[Spot, dict[str, CellMark]] = {spot: {} for spot in _spots(instance)}
    for name, member in instance["members"].items():
        generation = member.get("generation", -1)
        word = "claim" if generation < 0 else f"gen {generation}"
        for topic, numbers in (member.get("owned") or {}).items():
            left = topic not in member["subscription"]
            for number in numbers:
                entry = CellMark(word, LEAVING if left else CALM, dashed=left)
                entries.setdefault((topic, number), {})[name] = entry
    return Panel("claims, with generation", _columns(instance, entries))


def _answer_panel(answered: AnsweredRound, title: str, *, cooperative: bool) -> Panel:
    if answered.members is None:
        note = {
            "hang": "? no answer: it runs on",
            "crash": "? no answer: the process ended",
            "error": "? no answer: an exception",
        }.get(answered.verdict, "? no readable answer")
        return Panel(title, [], note)
    wrong = {
        (violation.get("member"), violation["topic"], violation["partition"])
        for violation in answered.violations
        if "partition" in violation
    }
    held = _by_spot(answered.members)
    owners = _claimants(answered.instance)
    entries: dict[Spot, dict[str, CellMark]] = {
        spot: {} for spot in _spots(answered.instance)
    }
    for spot, holders in held.items():
        for name in holders:
            bad = (name, *spot) in wrong
            entry = _assigned(name, spot, owners)
            entries.setdefault(spot, {})[name] = (
                CellMark("wrong", PLAIN, is_wrong=True) if bad else entry
            )
    wanted = {
        t for m in answered.instance["members"].values() for t in m["subscription"]
    }
    has_nobody = False
    for spot in _spots(answered.instance):
        if spot[0] in wanted and spot not in held:
            has_nobody = True
            waits = cooperative and (None, *spot) not in wrong
            entries[spot][NOBODY] = (
                CellMark("waits", PLAIN, dashed=True)
                if waits
                else CellMark("wrong", PLAIN, is_wrong=True)
            )
    return Panel(title, _columns(answered.instance, entries), has_nobody=has_nobody)


def _expected_panel(case: ShownCase) -> Panel:
    assert case.expected is not None  # noqa: S101
    owners = _claimants(case.instance)
    entries: dict[Spot, dict[str, CellMark]] = {
        spot: {} for spot in _spots(case.instance)
    }
    for spot, holders in _by_spot(case.expected.members).items():
        entries[spot] = {name: _assigned(name, spot, owners) for name in holders}
    title = "optimal, when stable" if case.cooperative else "an optimal answer"
    return Panel(title, _columns(case.instance, entries))


def _assigned(name: str, spot: Spot, owners: dict[Spot, set[str]]) -> CellMark:
    claimants = owners.get(spot, set())
    if name in claimants:
        return CellMark("kept", CALM)
    return CellMark("moved", ALARM) if claimants else CellMark("new", PLAIN)


def _spots(instance: Document) -> Iterator[Spot]:
    for topic, about in sorted(instance["topics"].items()):
        yield from ((topic, number) for number in range(about["partitions"]))


def _by_spot(members: Held) -> dict[Spot, list[str]]:
    held: dict[Spot, list[str]] = {}
    for name, topics in members.items():
        for topic, numbers in topics.items():
            for number in numbers:
                held.setdefault((topic, number), []).append(name)
    return held


def _claimants(instance: Document) -> dict[Spot, set[str]]:
    found: dict[Spot, set[str]] = {}
    for name, member in instance["members"].items():
        for topic, numbers in (member.get("owned") or {}).items():
            if topic in member["subscription"]:
                for number in numbers:
                    found.setdefault((topic, number), set()).add(name)
    return found


def _columns(
    instance: Document, entries: dict[Spot, dict[str, CellMark]]
) -> list[tuple[str, str, dict[str, CellMark]]]:
    """Join neighbors of a topic that have the same entries."""
    wanted = {t for m in instance["members"].values() for t in m["subscription"]}
    for topic in sorted(wanted - {spot[0] for spot in entries}):
        entries = entries | {(topic, -1): {}}
    columns = []

    def alike(spot: Spot) -> object:
        return spot[0], sorted(entries[spot].items())

    for _, group in groupby(sorted(entries), key=alike):
        spots = list(group)
        first, last = spots[0][1], spots[-1][1]
        numbers = f"{first}" if first == last else f"{first}–{last}"
        topic = spots[0][0]
        count = instance["topics"].get(topic, {"partitions": 0})["partitions"]
        if first < 0:
            numbers = "missing"
        elif first >= count:
            numbers = f"{numbers} gone"
        columns.append((topic, numbers, entries[spots[0]]))
    return columns


def _label(instance: Document, name: str) -> str:
    wanted = ", ".join(sorted(instance["members"][name]["subscription"]))
    return f"{name} ({wanted or 'no topics'})"


def _names(
    marks: list[Mark], instance: Document, rows: Sequence[str], top: float
) -> None:
    for place, name in enumerate(rows):
        middle = top + TOP + place * ROW + ROW / 2
        if name == NOBODY:
            marks.append(Words(4, middle, NOBODY, SOFT))
        else:
            marks.append(Words(4, middle, _label(instance, name)))


def _draw(
    marks: list[Mark],
    panel: Panel,
    instance: Document,
    rows: Sequence[str],
    left: float,
    top: float,
) -> None:
    marks.append(Words(left, top + 14, panel.title, bold=True))
    if panel.note:
        marks.append(
            Words(left, top + TOP + ROW / 2, panel.note, DANGER, 13, bold=True)
        )
    seen = None
    for place, (topic, numbers, entries) in enumerate(panel.columns):
        x = left + place * CELL
        if topic != seen:
            seen = topic
            marks.append(Words(x + 3, top + 38, topic, bold=True))
            marks.append(Segment(x, top + 28, x, top + TOP + len(rows) * ROW, FAINT))
        marks.append(Words(x + CELL / 2, top + 58, numbers, SOFT, 11, align="center"))
        for row, name in enumerate(rows):
            y = top + TOP + row * ROW
            _cell(marks, x, y, entries.get(name), _reads(instance, name, topic))


def _reads(instance: Document, name: str, topic: str) -> bool:
    member = instance["members"].get(name)
    return member is not None and topic in member["subscription"]


def _cell(
    marks: list[Mark], x: float, y: float, entry: CellMark | None, reads: bool
) -> None:
    box = (x + 1, y + 2, CELL - 3, ROW - 4)
    if entry is None:
        if reads:
            marks.append(Box(*box, PLAIN))
        return
    edge = DANGER if entry.is_wrong else SOFT
    thick = 2.5 if entry.is_wrong else 1.0
    marks.append(Box(*box, entry.fill, edge, thick, dashed=entry.dashed))
    word = "× wrong" if entry.is_wrong else entry.word
    size = 10 if entry.is_wrong else 11
    marks.append(Words(x + CELL / 2, y + ROW / 2, word, size=size, align="center"))
