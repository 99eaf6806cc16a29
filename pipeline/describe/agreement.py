"""Join the tables about a group by their contents.

The command prints one form at a time, so the tables of one moment can span several
files. Tables belong together if they show the same members with the same partitions;
neither the names nor the times of files tell. Tables that differ are of different
moments. A --state table has no members, but their number: it belongs to all moments
with as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pipeline.cases import Held
from pipeline.describe.cells import CellError, UnnamedTopicsError, number_of
from pipeline.describe.headings import MEMBER, Form
from pipeline.describe.holders import assigned_in, count_in, held_by_partition
from pipeline.describe.refusal import NotJudged
from pipeline.describe.sections import Remark, Section
from pipeline.describe.snapshots import AT_REST, BY_STATE, BY_TEXTS, Snapshot
from pipeline.describe.tool_messages import REBALANCING

_MOST_MEMBERS: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holdings:
    """Members as a table shows them.

    ``counts`` are the numbers of partitions of the members that have some, ``held``
    the partitions themselves, if it has their topics, and ``members`` all members, if
    it lists all.
    """

    counts: dict[str, int]
    held: dict[str, Held] | None
    members: frozenset[str] | None


def joined(
    group_id: str, sections: Sequence[Section], remarks: Sequence[Remark]
) -> list[Snapshot]:
    """Return the moments of a group, in the order of their first tables."""
    tables = _distinct(
        section for section in sections if section.form is not Form.STATE
    )
    states = _distinct(section for section in sections if section.form is Form.STATE)
    shown = [_shown(table) for table in tables]
    together = _moments(tables, shown)
    moments = [
        Snapshot(name="", group_id=group_id, sections=[tables[at] for at in places])
        for places in together
    ]
    of_moments = [[shown[at] for at in places] for places in together]
    for moment, (first, *_) in zip(moments, of_moments, strict=True):
        agreeing = sum(_agree(first, other) for other in shown)
        moment.at_rest = BY_TEXTS if agreeing > 1 else None
    _add_states(moments, of_moments, states)
    left = [] if moments else states
    without_holders = [
        moment
        for moment, (first, *_) in zip(moments, of_moments, strict=True)
        if first is not None and first.members is None and not first.counts
    ]
    left_remarks = [
        remark
        for remark in remarks
        if not _is_of_a_moment(remark, moments, without_holders)
    ]
    if left or left_remarks:
        rest = Snapshot(name="", group_id=group_id, sections=left, notes=left_remarks)
        moments.append(rest)
    _name(moments)
    return moments


def _distinct(sections: Iterable[Section]) -> list[Section]:
    """Drop repeated tables: a copy of a file is not a second observation."""
    found: dict[object, Section] = {}
    for section in sections:
        found.setdefault((section.cells, bool(section.faults), section.ended), section)
    return list(found.values())


def _shown(section: Section) -> _Holdings | None:
    """Return the members that a table shows; None if it is damaged."""
    if section.faults:
        return None
    try:
        if section.form is Form.OFFSETS:
            held = {m: h for m, h in held_by_partition(section)[0].items() if h}
            counts = {m: sum(map(len, h.values())) for m, h in held.items()}
            return _Holdings(counts=counts, held=held, members=None)
        counts = {row.by_name[MEMBER]: count_in(row) or 0 for row in section.rows}
        try:
            each = {r.by_name[MEMBER]: assigned_in(section, r) for r in section.rows}
        except UnnamedTopicsError:
            named = None
        else:
            named = {member_id: held for member_id, held in each.items() if held}
            counts = {m: sum(map(len, held.values())) for m, held in each.items()}
    except (NotJudged, CellError):
        return None
    some = {member_id: number for member_id, number in counts.items() if number}
    return _Holdings(counts=some, held=named, members=frozenset(counts))


def _agree(first: _Holdings | None, other: _Holdings | None) -> bool:
    """Whether two tables can be of the same state."""
    if first is None or other is None:
        return False
    if first.members is not None and other.members not in (None, first.members):
        return False
    if first.held is not None and other.held is not None:
        return first.held == other.held
    return first.counts == other.counts


def _moments(
    tables: Sequence[Section], shown: Sequence[_Holdings | None]
) -> list[list[int]]:
    """Return the tables of each moment: a plain one, and those of members.

    The plain form has offsets, so that two of them are of two moments. If different
    members agree with it, none of them are known to be those of its moment.
    """
    plain: dict[object, list[int]] = {}
    for at, table in enumerate(tables):
        if table.form is Form.OFFSETS:
            plain.setdefault(_offsets(table) if shown[at] else at, []).append(at)
    members: list[list[int]] = []
    for at, table in enumerate(tables):
        if table.form is Form.MEMBERS:
            alike = (found for found in members if _all_agree(found, at, shown))
            if (same := next(alike, None)) is None:
                members.append(same := [])
            same.append(at)
    moments, joined_members = [], set()
    for same_offsets in plain.values():
        at = same_offsets[0]
        fitting = [found for found in members if _all_agree(found, at, shown)]
        if len(fitting) == 1:
            joined_members.add(fitting[0][0])
            moments.append([*same_offsets, *fitting[0]])
        else:
            moments.append(same_offsets)
    moments += [found for found in members if found[0] not in joined_members]
    return sorted(moments)


def _offsets(section: Section) -> tuple[tuple[str, ...], ...]:
    """Return the values that all versions of the plain form have; others add some."""
    names = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    rows = (
        (row.holder, *(row.by_name[name] for name in names)) for row in section.rows
    )
    return tuple(sorted(rows))


def _all_agree(
    together: Sequence[int], other: int, shown: Sequence[_Holdings | None]
) -> bool:
    return all(_agree(shown[at], shown[other]) for at in together)


def _add_states(
    moments: Sequence[Snapshot],
    of_moments: Sequence[Sequence[_Holdings | None]],
    states: Sequence[Section],
) -> None:
    """Add to each moment the state tables that count as many members, if they agree.

    One that fits several moments can be of any of them, so it shows of none that it was
    at rest.
    """
    fits = [[_fits(state, shown) for state in states] for shown in of_moments]
    for moment, fitting in zip(moments, fits, strict=True):
        found = [state for state, fit in zip(states, fitting, strict=True) if fit]
        resting = [state.rows[0].by_name["STATE"] == AT_REST for state in found]
        if found and all(resting) and _fit_only_once(fitting, fits):
            moment.at_rest = BY_STATE
        if all(resting) or not any(resting):
            moment.sections += found
    if len(moments) == len(states) == 1 and any(of_moments[0]) and not fits[0][0]:
        stated, listed = _members_in(states[0]), _least_members(of_moments[0])
        if listed:
            moments[0].sections += states
            moments[0].doubt = f"--state counts {stated} members, {listed} are listed"


def _fit_only_once(fitting: Sequence[bool], fits: Sequence[Sequence[bool]]) -> bool:
    """Whether one of the state tables of a moment fits no other moment."""
    counts = [sum(column) for column in zip(*fits, strict=True)]
    return any(fit and n == 1 for fit, n in zip(fitting, counts, strict=True))


def _fits(state: Section, shown: Sequence[_Holdings | None]) -> bool:
    """Whether a state table counts the members of a moment.

    The plain form lists no members without partitions: then the group can have more.
    """
    stated = _members_in(state)
    if stated is None or not any(shown):
        return False
    lists_all = any(
        holdings is not None and holdings.members is not None for holdings in shown
    )
    least = _least_members(shown)
    return stated == least if lists_all else stated >= least


def _least_members(shown: Sequence[_Holdings | None]) -> int:
    return max(
        len(holdings.counts if holdings.members is None else holdings.members)
        for holdings in shown
        if holdings is not None
    )


def _members_in(state: Section) -> int | None:
    try:
        cell = state.rows[0].by_name["#MEMBERS"]
        return number_of(cell, "#MEMBERS", most=_MOST_MEMBERS)
    except CellError:
        return None


def _is_of_a_moment(
    remark: Remark, moments: Sequence[Snapshot], without_holders: Sequence[Snapshot]
) -> bool:
    """Add a message to the moment that it is about, if there is one.

    A warning is above its table; other messages are about groups without holders.
    """
    source, note = remark
    below = [
        (section.line, moment)
        for moment in moments
        for section in moment.sections
        if section.source == source and section.line > note.line
    ]
    about = without_holders
    if below and note.says == REBALANCING:
        nearest = min(line for line, _ in below)
        about = [moment for line, moment in below if line == nearest]
    for moment in about:
        moment.notes.append(remark)
    return bool(about)


def _name(moments: Sequence[Snapshot]) -> None:
    """Name moments by their first file, and by a number if it has several."""
    seen: dict[str, int] = {}
    for moment in moments:
        source, _ = moment.place
        seen[source] = count = seen.get(source, 0) + 1
        moment.name = source if count == 1 else f"{source}#{count}"
