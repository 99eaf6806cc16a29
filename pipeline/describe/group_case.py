"""Convert a group's snapshot to a case, in which the present assignment is judged.

The text does not contain subscriptions. Every member is assumed to subscribe to all
topics of which any member has a partition. The present assignment serves both as owned
partitions and as the assignment that is judged. Lag of a topic is known if the text
states it for each partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.cases import ASSUMED_EQUAL, SNAPSHOT, Case, CaseMember, Held, Offsets
from pipeline.describe.cells import (
    MISSING,
    CellError,
    UnnamedTopicsError,
    assignment_of,
    number_of,
)
from pipeline.describe.snapshots import Section, Snapshot
from pipeline.describe.text_tables import NO_MEMBERS, REBALANCING, Cells, Form
from rebalance import INT64_MAX

_AT_REST: Final = ("Stable",)
_GONE: Final = ("Empty", "Dead")
_ASSIGNMENTS: Final = ("CURRENT-ASSIGNMENT", "ASSIGNMENT")


class NotJudged(Exception):  # noqa: N818  # no error: valid groups can be set aside
    """Why a snapshot is not judged; ``sound`` is False if its text is invalid."""

    def __init__(self, reason: str, *, sound: bool) -> None:
        super().__init__(reason)
        self.sound = sound


def case_of(snapshot: Snapshot) -> Case:
    """Combine the forms of one snapshot into a case.

    Raises
    ------
    NotJudged
        If the group is rebalancing or has no members, or the text is invalid.
    """
    _refuse_faults(snapshot)
    state = _state(snapshot)
    try:
        held, people = _held(snapshot)
        lag, listed = _lag(snapshot.of(Form.OFFSETS))
    except CellError as error:
        raise NotJudged(str(error), sound=False) from None
    _refuse_disagreement(snapshot, held)
    topics = sorted({topic for one in held.values() for topic in one})
    if state is None and (unheld := _unheld(held, listed)) is not None:
        reason = f"nobody holds {unheld}, and no --state says that it is at rest"
        raise NotJudged(reason, sound=True)
    source, line = snapshot.place
    return Case(
        rebalance_id=f"{snapshot.name}/{snapshot.group_id}",
        group_id=snapshot.group_id,
        source_kind="describe",
        source=source,
        source_offset=line,
        protocol=_protocol(people),
        client_assignor=_assignor(snapshot),
        owned_from=SNAPSHOT,
        subscriptions=ASSUMED_EQUAL,
        members={
            member_id: _member(topics, held[member_id], people.get(member_id, {}))
            for member_id in sorted(held)
        },
        lag=lag,
    )


def partitions_seen(snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """Yield each topic with the largest number of partitions that a row implies."""
    for section in snapshot.sections:
        for row in section.rows:
            try:
                if section.form is Form.OFFSETS and row.by_name["TOPIC"] != MISSING:
                    number = number_of(row.by_name["PARTITION"], "PARTITION")
                    yield row.by_name["TOPIC"], (-1 if number is None else number) + 1
                elif section.form is Form.MEMBERS:
                    for topic, numbers in _assigned(section, row).items():
                        yield topic, max(numbers) + 1
            except CellError:
                continue  # `case_of` reports the error


def _refuse_faults(snapshot: Snapshot) -> None:
    for section in snapshot.sections:
        if section.faults:
            fault = section.faults[0]
            reason = f"line {fault.line}: {fault.reason}"
            raise NotJudged(reason, sound=False)
        if section.cut:
            reason = f"the text ends inside the {section.form.value} table: cut off"
            raise NotJudged(reason, sound=False)


def _state(snapshot: Snapshot) -> str | None:
    """Return the state of a stable group; None if no form states it."""
    section = snapshot.of(Form.STATE)
    state = section.rows[0].by_name["STATE"] if section else None
    if NO_MEMBERS in snapshot.notes or state in _GONE:
        raise NotJudged("a group without active members", sound=True)
    if REBALANCING in snapshot.notes:
        raise NotJudged("a group in the middle of a rebalance", sound=True)
    if state is not None and state not in _AT_REST:
        raise NotJudged(f"a group in state {state}", sound=True)
    return state


def _held(snapshot: Snapshot) -> tuple[dict[str, Held], dict[str, Mapping[str, str]]]:
    """Return each member's partitions, and the cells of its row."""
    members, offsets = snapshot.of(Form.MEMBERS), snapshot.of(Form.OFFSETS)
    if members is None and offsets is None:
        raise NotJudged("only its state is told, no member", sound=True)
    if members is None:
        assert offsets is not None  # noqa: S101  # as just seen
        held, people = _by_partition(offsets)
    else:
        people = _people(members)
        held = _by_member(members, offsets)
    if not held:
        raise NotJudged("a group without active members", sound=True)
    return held, people


def _people(section: Section) -> dict[str, Mapping[str, str]]:
    people: dict[str, Mapping[str, str]] = {}
    for row in section.rows:
        member_id = row.by_name["CONSUMER-ID"]
        if member_id in people:
            raise CellError(f"line {row.line}: member {member_id!r} listed twice")
        people[member_id] = row.by_name
    return people


def _by_member(members: Section, offsets: Section | None) -> dict[str, Held]:
    """Read the members form; without assignments there, use the plain form."""
    counts = {
        row.by_name["CONSUMER-ID"]: number_of(row.by_name["#PARTITIONS"], "#PARTITIONS")
        for row in members.rows
    }
    try:
        held = {
            row.by_name["CONSUMER-ID"]: _assigned(members, row) for row in members.rows
        }
    except UnnamedTopicsError as error:
        if offsets is None:
            reason = f"{error}; the plain form beside it would tell"
            raise NotJudged(reason, sound=True) from None
        listed, _ = _by_partition(offsets)
        held = {member_id: listed.get(member_id, {}) for member_id in counts}
    for member_id, count in counts.items():
        found = sum(map(len, held[member_id].values()))
        if count != found:
            reason = f"member {member_id!r}: #PARTITIONS {count}, {found} listed"
            raise CellError(reason)
    return held


def _assigned(section: Section, row: Cells) -> Held:
    for name in _ASSIGNMENTS:
        if name in section.columns:
            return assignment_of(row.by_name[name])
    raise UnnamedTopicsError("the members form without --verbose")


def _by_partition(
    section: Section,
) -> tuple[dict[str, Held], dict[str, Mapping[str, str]]]:
    """Read the holders from the plain form: one row per partition."""
    held: dict[str, dict[str, list[int]]] = {}
    people: dict[str, Mapping[str, str]] = {}
    for row in section.rows:
        member_id, topic = row.by_name["CONSUMER-ID"], row.by_name["TOPIC"]
        if member_id == MISSING:
            continue
        people.setdefault(member_id, row.by_name)
        mine = held.setdefault(member_id, {})
        number = number_of(row.by_name["PARTITION"], "PARTITION")
        if topic == MISSING or number is None:
            continue
        if number in mine.get(topic, ()):
            reason = (
                f"line {row.line}: {topic!r} {number} listed twice for {member_id!r}"
            )
            raise CellError(reason)
        mine.setdefault(topic, []).append(number)
    ordered = {
        member_id: {topic: sorted(mine[topic]) for topic in sorted(mine)}
        for member_id, mine in held.items()
    }
    return ordered, people


def _lag(section: Section | None) -> tuple[Offsets | None, set[tuple[str, int]]]:
    """Return the stated lag, and the listed partitions."""
    if section is None:
        return None, set()
    lag: dict[str, dict[int, int]] = {}
    listed: set[tuple[str, int]] = set()
    for row in section.rows:
        topic = row.by_name["TOPIC"]
        number = number_of(row.by_name["PARTITION"], "PARTITION")
        behind = number_of(row.by_name["LAG"], "LAG", most=INT64_MAX)
        if topic == MISSING or number is None:
            continue
        listed.add((topic, number))
        if behind is not None:
            # A commit beyond the log end is shown as negative lag: nothing left to
            # read.
            lag.setdefault(topic, {})[number] = max(0, behind)
    return {topic: sorted(lag[topic].items()) for topic in sorted(lag)}, listed


def _unheld(held: Mapping[str, Held], listed: set[tuple[str, int]]) -> str | None:
    """Return a partition that exists but has no holder, of a topic that has holders."""
    given: dict[str, set[int]] = {}
    for one in held.values():
        for topic, numbers in one.items():
            given.setdefault(topic, set()).update(numbers)
    for topic in sorted(given):
        most = max([*given[topic], *(n for name, n in listed if name == topic)])
        missing = set(range(most + 1)) - given[topic]
        if missing:
            return f"{topic!r} {min(missing)}"
    return None


def _refuse_disagreement(snapshot: Snapshot, held: Mapping[str, Held]) -> None:
    section = snapshot.of(Form.STATE)
    if section is None:
        return
    told = section.rows[0].by_name["#MEMBERS"]
    if told != str(len(held)):
        reason = f"--state counts {told} members, {len(held)} are listed"
        raise NotJudged(reason, sound=True)


def _protocol(people: Mapping[str, Mapping[str, str]]) -> str | None:
    epochs = [row["CURRENT-EPOCH"] for row in people.values() if "CURRENT-EPOCH" in row]
    if not epochs:
        return None
    return "classic" if all(epoch == MISSING for epoch in epochs) else "consumer"


def _assignor(snapshot: Snapshot) -> str | None:
    section = snapshot.of(Form.STATE)
    name = section.rows[0].by_name.get("ASSIGNMENT-STRATEGY") if section else None
    return None if name in (None, MISSING) else name


def _member(topics: list[str], held: Held, row: Mapping[str, str]) -> CaseMember:
    return CaseMember(
        subscription=topics,
        owned={topic: sorted(set(numbers)) for topic, numbers in held.items()},
        assigned=held,
        instance_id=row.get("GROUP-INSTANCE-ID") or None,
        client_id=row.get("CLIENT-ID") or None,
        client_host=row.get("HOST") or None,
    )
