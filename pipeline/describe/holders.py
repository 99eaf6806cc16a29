"""Read the holders of partitions from the members form, or from the plain form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pipeline.cases import Held
from pipeline.describe.cells import (
    MISSING,
    CellError,
    UnnamedTopicsError,
    assignment_of,
    number_of,
    partition_of,
)
from pipeline.describe.headings import MEMBER, Form
from pipeline.describe.refusal import NotJudged, placed
from pipeline.describe.sections import Section
from pipeline.describe.snapshots import Snapshot
from pipeline.describe.text_tables import Cells

People: TypeAlias = dict[str, Mapping[str, str]]
"""Member id to the cells of its row."""

NO_HOLDER: Final = (MISSING, "none")
_ASSIGNMENTS: Final = ("CURRENT-ASSIGNMENT", "ASSIGNMENT")
_MOST_HELD: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Each member's partitions, and the cells of its row.

    ``doubt`` states why the text contradicts itself.
    """

    held: dict[str, Held]
    people: People
    doubt: str | None = None


def holders_of(snapshot: Snapshot) -> Holders:
    """Return who holds which partitions.

    Raises
    ------
    NotJudged
        If the text lists no members, or is invalid.
    """
    members, offsets = snapshot.of(Form.MEMBERS), snapshot.of(Form.OFFSETS)
    if members is None and offsets is None:
        raise NotJudged("only its state is reported, no members", sound=True)
    doubt = None
    if members is None:
        assert offsets is not None  # noqa: S101  # as just seen
        held, people = held_by_partition(offsets)
    else:
        people = _people(members)
        held = _by_member(members, offsets)
        doubt = _miscount(members, held)
    if not held:
        raise NotJudged("a group without active members", sound=True)
    if members is not None:
        _refuse_cut_assignment(members, held)
    return Holders(held=held, people=people, doubt=doubt)


def assigned_in(section: Section, row: Cells) -> Held:
    """Return the assignment in a row of the members form.

    Raises
    ------
    UnnamedTopicsError
        If the form has no assignments, or assignments without topic names.
    """
    for name in _ASSIGNMENTS:
        if name in section.columns:
            return assignment_of(row.by_name[name])
    raise UnnamedTopicsError("the members form without --verbose")


def count_in(row: Cells) -> int | None:
    """Return the number of partitions that a row of the members form states."""
    return number_of(row.by_name["#PARTITIONS"], "#PARTITIONS", most=_MOST_HELD)


def _people(section: Section) -> People:
    people: People = {}
    for row in section.rows:
        member_id = row.by_name[MEMBER]
        with placed(section, row):
            if member_id in people:
                raise CellError(f"member {member_id!r} listed twice")
        people[member_id] = row.by_name
    return people


def _by_member(members: Section, offsets: Section | None) -> dict[str, Held]:
    """Read the members form; without assignments there, use the plain form."""
    held: dict[str, Held] = {}
    try:
        for row in members.rows:
            with placed(members, row):
                held[row.by_name[MEMBER]] = assigned_in(members, row)
    except UnnamedTopicsError as error:
        if offsets is None:
            reason = f"{error}; the plain form next to it would show them"
            raise NotJudged(reason, sound=True) from None
        listed, _ = held_by_partition(offsets)
        ids = [row.by_name[MEMBER] for row in members.rows]
        held = {member_id: listed.get(member_id, {}) for member_id in ids}
    return held


def _miscount(members: Section, held: Mapping[str, Held]) -> str | None:
    """Return how a row contradicts itself; refuse one that may be cut off."""
    for row in members.rows:
        with placed(members, row):
            stated = count_in(row)
            found = sum(map(len, held[row.by_name[MEMBER]].values()))
            if stated != found:
                reason = f"#PARTITIONS {stated}, {found} listed"
                if not members.ended and row is members.rows[-1]:
                    raise CellError(reason)
                return f"line {row.line}: {reason}"
    return None


def _refuse_cut_assignment(members: Section, held: Mapping[str, Held]) -> None:
    """Refuse a last assignment that may have lost digits of its last number.

    Older versions print the assignment last. Without a line feed after it, ``t:3,14``
    can be the start of ``t:3,145``; a partition is then missing, or held twice.
    """
    if members.ended or members.columns[-1] not in _ASSIGNMENTS:
        return
    pairs = [
        (topic, number)
        for partitions in held.values()
        for topic, numbers in partitions.items()
        for number in numbers
    ]
    largest: dict[str, int] = {}
    for topic, number in pairs:
        largest[topic] = max(number, largest.get(topic, 0))
    every = [(topic, n) for topic, last in largest.items() for n in range(last + 1)]
    if sorted(pairs) != sorted(every):
        last = members.rows[-1]
        reason = f"line {last.line}: the text ends inside this line: cut off"
        raise NotJudged(reason, sound=False, place=(members.source, last.line))


def held_by_partition(section: Section) -> tuple[dict[str, Held], People]:
    """Read the holders from the plain form: one row per partition."""
    held: dict[str, dict[str, set[int]]] = {}
    people: People = {}
    for row in section.rows:
        member_id, topic = row.holder, row.by_name["TOPIC"]
        if member_id in NO_HOLDER:
            continue
        people.setdefault(member_id, row.by_name)
        mine = held.setdefault(member_id, {})
        with placed(section, row):
            number = partition_of(row.by_name["PARTITION"])
            if topic == MISSING or number is None:
                continue
            if number in mine.get(topic, ()):
                reason = f"{topic!r} {number} listed twice for {member_id!r}"
                raise CellError(reason)
        mine.setdefault(topic, set()).add(number)
    ordered = {
        member_id: {topic: sorted(mine[topic]) for topic in sorted(mine)}
        for member_id, mine in held.items()
    }
    return ordered, people
