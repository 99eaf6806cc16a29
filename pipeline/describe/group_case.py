"""Convert a group's snapshot to a case, in which the present assignment is judged.

The text does not contain subscriptions, in any form or version up to Kafka 4.3: with
``--members --verbose`` the tool prints the current and the target assignment and their
epochs (KIP-1099). The topics of which a member has partitions are a lower bound of its
subscription. A snapshot has no rebalance, so its members own nothing before it. Lag of
a topic is known if the text states it for each partition. Topic sizes are those that
the group's own rows imply, so that a damaged number affects only its group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pipeline.cases import (
    ALL_LISTED,
    HOLDERS_LISTED,
    NOT_REPORTED,
    OWNERS_LISTED,
    SNAPSHOT,
    Case,
    CaseMember,
    Held,
    Offsets,
)
from pipeline.describe.cells import MISSING, UnnamedTopicsError, number_of, partition_of
from pipeline.describe.headings import Form
from pipeline.describe.holders import Holders, assigned_in, holders_of
from pipeline.describe.refusal import NotJudged, placed
from pipeline.describe.sections import Section
from pipeline.describe.snapshots import AT_REST, BY_STATE, Snapshot
from pipeline.describe.tool_messages import ERROR, NO_MEMBERS, REBALANCING
from rebalance import INT64_MAX

_GONE: Final = ("Empty", "Dead")


def case_of(snapshot: Snapshot) -> Case:
    """Combine the forms of one snapshot into a case.

    Raises
    ------
    NotJudged
        If the group is rebalancing or has no members, or the text is invalid.
    """
    _refuse_faults(snapshot)
    _refuse_unrest(snapshot)
    found = holders_of(snapshot)
    source, line = snapshot.place
    return Case(
        rebalance_id=f"{snapshot.name}/{snapshot.group_id}",
        group_id=snapshot.group_id,
        source_kind="describe",
        source=source,
        source_offset=line,
        protocol=_protocol(found.people),
        client_assignor=_assignor(snapshot),
        owned_from=SNAPSHOT,
        subscriptions=NOT_REPORTED,
        members_listed=_listed(snapshot, found),
        at_rest=snapshot.at_rest,
        doubt=snapshot.doubt or found.doubt or _in_transit(found),
        members={
            member_id: _member(held, found.people.get(member_id, {}))
            for member_id, held in sorted(found.held.items())
        },
        lag=_lag(snapshot.of(Form.OFFSETS)),
        least_sizes=_topic_sizes(snapshot),
    )


def _listed(snapshot: Snapshot, found: Holders) -> str:
    """Return which members the text lists."""
    if snapshot.of(Form.MEMBERS) is not None:
        return ALL_LISTED
    offsets = snapshot.of(Form.OFFSETS)
    if offsets is not None and offsets.names_owners:
        return OWNERS_LISTED
    states = snapshot.all_of(Form.STATE)
    stated = {state.rows[0].by_name["#MEMBERS"] for state in states}
    is_all = snapshot.at_rest == BY_STATE and stated == {str(len(found.held))}
    return ALL_LISTED if is_all else HOLDERS_LISTED


def _in_transit(found: Holders) -> str | None:
    """Return how epochs and target assignments show a change (KIP-1099)."""
    epochs = {row.get("TARGET-EPOCH", MISSING) for row in found.people.values()}
    epochs |= {row.get("CURRENT-EPOCH", MISSING) for row in found.people.values()}
    if len(epochs) > 1:
        return f"the members are at epochs {', '.join(sorted(epochs))}"
    for member_id, row in sorted(found.people.items()):
        target = row.get("TARGET-ASSIGNMENT", MISSING)
        if row.get("TARGET-EPOCH", MISSING) != MISSING and target != row.get(
            "CURRENT-ASSIGNMENT"
        ):
            return f"member {member_id!r} does not have its target assignment"
    return None


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


def _refuse_unrest(snapshot: Snapshot) -> None:
    """Refuse a group that a form states to be rebalancing, or without members."""
    section = snapshot.of(Form.STATE)
    state = section.rows[0].by_name["STATE"] if section else None
    if snapshot.note(NO_MEMBERS) or state in _GONE:
        raise NotJudged("a group without active members", sound=True)
    if snapshot.note(REBALANCING):
        raise NotJudged("a group in the middle of a rebalance", sound=True)
    if state is not None and state != AT_REST:
        raise NotJudged(f"a group in state {state}", sound=True)


def _lag(section: Section | None) -> Offsets | None:
    """Return the stated lag."""
    if section is None:
        return None
    lag: dict[str, dict[int, int]] = {}
    for row in section.rows:
        topic = row.by_name["TOPIC"]
        with placed(section, row):
            number = partition_of(row.by_name["PARTITION"])
            behind = number_of(row.by_name["LAG"], "LAG", most=INT64_MAX)
        if topic == MISSING or number is None:
            continue
        if behind is not None:
            # A commit beyond the log end is shown as negative lag: nothing left to
            # read.
            lag.setdefault(topic, {})[number] = max(0, behind)
    return {topic: sorted(lag[topic].items()) for topic in sorted(lag)}


def _protocol(people: Mapping[str, Mapping[str, str]]) -> str | None:
    epochs = [row["CURRENT-EPOCH"] for row in people.values() if "CURRENT-EPOCH" in row]
    if not epochs:
        return None
    return "classic" if all(epoch == MISSING for epoch in epochs) else "consumer"


def _assignor(snapshot: Snapshot) -> str | None:
    """Return the assignor that the state tables name, unless they name several."""
    states = snapshot.all_of(Form.STATE)
    found = {
        state.rows[0].by_name.get("ASSIGNMENT-STRATEGY", MISSING) for state in states
    }
    names = found - {MISSING, ""}
    return names.pop() if len(names) == 1 else None


def _member(held: Held, row: Mapping[str, str]) -> CaseMember:
    return CaseMember(
        subscription=sorted(held),
        owned={},
        assigned=held,
        instance_id=row.get("GROUP-INSTANCE-ID") or None,
        client_id=row.get("CLIENT-ID") or None,
        client_host=row.get("HOST") or None,
    )
