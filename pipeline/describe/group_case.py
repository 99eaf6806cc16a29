"""Convert a group's snapshot to a case, in which the present assignment is judged.

The text does not contain subscriptions, in any form or version up to Kafka 4.3: with
``--members --verbose`` the tool prints the current and the target assignment and their
epochs (KIP-1099). The topics of which a member has partitions are a lower bound of its
subscription. A snapshot has no rebalance, so its members own nothing before it.
Lag of a topic is known if the text
states it for each partition. Topic sizes are those that the group's own rows imply, so
that a damaged number affects only its group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pipeline.cases import NOT_REPORTED, SNAPSHOT, Case, CaseMember, Held, Offsets
from pipeline.describe.cells import (
    MISSING,
    UnnamedTopicsError,
    number_of,
    partition_of,
)
from pipeline.describe.holders import assigned_in, holders_of, unheld
from pipeline.describe.messages import ERROR, NO_MEMBERS, REBALANCING
from pipeline.describe.refusal import NotJudged, placed
from pipeline.describe.snapshots import Section, Snapshot
from pipeline.describe.text_tables import Form
from rebalance import INT64_MAX

_AT_REST: Final = ("Stable",)
_GONE: Final = ("Empty", "Dead")


def case_of(snapshot: Snapshot) -> Case:
    """Combine the forms of one snapshot into a case.

    Raises
    ------
    NotJudged
        If the group is rebalancing or has no members, or the text is invalid.
    """
    _refuse_faults(snapshot)
    state = _state(snapshot)
    held, people = holders_of(snapshot)
    lag, listed = _lag(snapshot.of(Form.OFFSETS))
    _refuse_disagreement(snapshot, held)
    if state is None and (missing := unheld(held, listed)) is not None:
        reason = f"nobody holds {missing}, and no --state says that it is at rest"
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
        subscriptions=NOT_REPORTED,
        members={
            member_id: _member(held[member_id], people.get(member_id, {}))
            for member_id in sorted(held)
        },
        lag=lag,
        least_sizes=_topic_sizes(snapshot),
    )


def with_group_sizes(cases: Iterable[Case]) -> list[Case]:
    """Give each case the largest topic sizes among the cases of its group."""
    found = list(cases)
    sizes: dict[str, dict[str, int]] = {}
    for case in found:
        largest = sizes.setdefault(case.group_id, {})
        for topic, partitions in (case.least_sizes or {}).items():
            largest[topic] = max(partitions, largest.get(topic, 0))
    return [replace(case, least_sizes=sizes[case.group_id]) for case in found]


def _topic_sizes(snapshot: Snapshot) -> dict[str, int]:
    """Return the partition count of each topic that the rows imply at least."""
    sizes: dict[str, int] = {}
    for section in snapshot.sections:
        for topic, number in _numbers(section):
            sizes[topic] = max(number + 1, sizes.get(topic, 0))
    return sizes


def _numbers(section: Section) -> list[tuple[str, int]]:
    """Return all topics and partition numbers in a section."""
    found: list[tuple[str, int]] = []
    for row in section.rows:
        with placed(section, row):
            if section.form is Form.OFFSETS and row.by_name["TOPIC"] != MISSING:
                number = partition_of(row.by_name["PARTITION"])
                found += [] if number is None else [(row.by_name["TOPIC"], number)]
            elif section.form is Form.MEMBERS:
                try:
                    held = assigned_in(section, row)
                except UnnamedTopicsError:
                    continue
                found += [(topic, n) for topic in held for n in held[topic]]
    return found


def _refuse_faults(snapshot: Snapshot) -> None:
    for section in snapshot.sections:
        if section.faults:
            fault = section.faults[0]
            reason = f"line {fault.line}: {fault.reason}"
            place = section.source, fault.line
            raise NotJudged(reason, sound=False, place=place)
    if (found := snapshot.note(ERROR)) is not None:
        source, note = found
        place = source, note.line
        raise NotJudged(f"the tool reports: {note.text}", sound=True, place=place)


def _state(snapshot: Snapshot) -> str | None:
    """Return the state of a stable group; None if no form states it."""
    section = snapshot.of(Form.STATE)
    state = section.rows[0].by_name["STATE"] if section else None
    if snapshot.note(NO_MEMBERS) or state in _GONE:
        raise NotJudged("a group without active members", sound=True)
    if snapshot.note(REBALANCING):
        raise NotJudged("a group in the middle of a rebalance", sound=True)
    if state is not None and state not in _AT_REST:
        raise NotJudged(f"a group in state {state}", sound=True)
    return state


def _lag(section: Section | None) -> tuple[Offsets | None, set[tuple[str, int]]]:
    """Return the stated lag, and the listed partitions."""
    if section is None:
        return None, set()
    lag: dict[str, dict[int, int]] = {}
    listed: set[tuple[str, int]] = set()
    for row in section.rows:
        topic = row.by_name["TOPIC"]
        with placed(section, row):
            number = partition_of(row.by_name["PARTITION"])
            behind = number_of(row.by_name["LAG"], "LAG", most=INT64_MAX)
        if topic == MISSING or number is None:
            continue
        listed.add((topic, number))
        if behind is not None:
            # A commit beyond the log end is shown as negative lag: nothing left to
            # read.
            lag.setdefault(topic, {})[number] = max(0, behind)
    return {topic: sorted(lag[topic].items()) for topic in sorted(lag)}, listed


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


def _member(held: Held, row: Mapping[str, str]) -> CaseMember:
    return CaseMember(
        subscription=sorted(held),
        owned={},
        assigned=held,
        instance_id=row.get("GROUP-INSTANCE-ID") or None,
        client_id=row.get("CLIENT-ID") or None,
        client_host=row.get("HOST") or None,
    )
