"""Match snapshots with the states that the records of the same group contain.

A generation in ``__consumer_offsets``, or a target assignment of the new protocol,
states its members, their subscriptions, and their assignments. A snapshot with the same
members and the same assignments shows the state after it: it takes the subscriptions
from there, and is not counted a second time; of a text that lists no members without
partitions, these are added. Records of the new protocol contain topic ids, and describe
text contains names, so the names of all ids must be known.

If no rebalance of a group led to the state that a text shows, the text is of a moment
between two states, or of one that the records do not contain: it is not judged. A state
from the log of a leader is that of its generation only, and can be older than the
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from pipeline.cases import (
    ALL_LISTED,
    HOLDERS_LISTED,
    NOT_REPORTED,
    REPORTED,
    SNAPSHOT,
    Case,
    CaseMember,
    unpack,
)
from pipeline.describe.snapshots import BY_LEADER, BY_RECORDS
from pipeline.rows import CASE, Row, case_row
from pipeline.topic_names import with_names
from rebalance import InstanceError

Members: TypeAlias = dict[str, CaseMember]


def with_record_states(rows: Iterable[Row], names: Mapping[str, str]) -> Iterator[Row]:
    """Pass rows on; complete the snapshots of a group from its records.

    ``names`` are the names of topic ids; a rebalance with an id that has none does not
    match. The rows themselves keep the ids.

    All rows of a group must be among ``rows``, its snapshots before its records, as
    `pipeline.history.stream.ORDER` sorts them. Snapshots are yielded last.
    """
    waiting: dict[str, list[Case]] = {}
    recorded: set[str] = set()
    unnamed: set[str] = set()
    for row in rows:
        group_id = row.get("group_id")
        if row["what"] != CASE:
            yield row
        elif row["source_partition"] is not None:
            if group_id in waiting:
                rebalance = _named(unpack(row["value"]), names)
                if rebalance is None:
                    unnamed.add(group_id)
                else:
                    recorded.add(group_id)
                    waiting[group_id] = [
                        _completed(snapshot, rebalance)
                        for snapshot in waiting[group_id]
                    ]
            yield row
        elif (case := unpack(row["value"])).owned_from == SNAPSHOT:
            waiting.setdefault(case.group_id, []).append(case)
        else:
            yield row
    for group_id in sorted(waiting):
        is_known = group_id in recorded - unnamed
        for snapshot in waiting[group_id]:
            yield case_row(_doubted(snapshot) if is_known else snapshot)


def _doubted(snapshot: Case) -> Case:
    if snapshot.state_of is not None or snapshot.at_rest == BY_LEADER:
        return snapshot
    reason = "no rebalance in the records of the group led to this state"
    return replace(snapshot, doubt=snapshot.doubt or reason)


def _named(rebalance: Case, names: Mapping[str, str]) -> Case | None:
    try:
        return with_names(rebalance, names)
    except InstanceError:
        return None  # is quarantined when it is judged


def _completed(snapshot: Case, rebalance: Case) -> Case:
    """Return the snapshot with the facts of a rebalance to the same state.

    If several rebalances led to this state, the last one counts, and the subscriptions
    are reported only if all agree.
    """
    recorded = rebalance.members or {}
    known = _same_state(snapshot, recorded)
    if known is None or snapshot.generation not in (None, rebalance.generation):
        return snapshot
    if snapshot.members_listed == HOLDERS_LISTED:
        snapshot, idle = _with_idle_members(snapshot, recorded)
        known |= idle
    agrees = snapshot.state_of is None or _has_subscriptions(snapshot, known)
    members = {
        name: replace(
            member,
            subscription=known[name].subscription
            if agrees
            else sorted(member.assigned or ()),
        )
        for name, member in (snapshot.members or {}).items()
    }
    return replace(
        snapshot,
        members=members,
        subscriptions=REPORTED if agrees else NOT_REPORTED,
        state_of=rebalance.rebalance_id,
        at_rest=BY_RECORDS,
        doubt=None,
        state_at=rebalance.at,
        # As large as in the records, which also know topics that nobody holds.
        least_sizes=None,
        undated_sizes=rebalance.undated_sizes,
    )


def _has_subscriptions(snapshot: Case, known: Members) -> bool:
    """Return whether a snapshot reports the subscriptions of its counterparts."""
    return snapshot.subscriptions == REPORTED and all(
        member.subscription == known[name].subscription
        for name, member in (snapshot.members or {}).items()
    )


def _with_idle_members(snapshot: Case, recorded: Members) -> tuple[Case, Members]:
    """Add the members without partitions, which the text does not list; return both."""
    found = {name: member for name, member in recorded.items() if not member.assigned}
    idle = {
        name: replace(member, owned={}, assigned={}, subscription=[])
        for name, member in found.items()
    }
    everyone = dict(sorted((idle | (snapshot.members or {})).items()))
    return replace(snapshot, members=everyone, members_listed=ALL_LISTED), found


def _same_state(state: Case, rebalance: Members) -> Members | None:
    """Return each member's counterpart; None unless all have the same partitions.

    A static member that returned to a stable group has a new member id and the same
    instance id (KIP-345).
    """
    snapshot = state.members or {}
    if state.members_listed == HOLDERS_LISTED:
        rebalance = {
            name: member for name, member in rebalance.items() if member.assigned
        }
    by_instance = {m.instance_id: m for m in rebalance.values() if m.instance_id}
    found: Members = {}
    for name, member in snapshot.items():
        other = rebalance.get(name)
        if other is None and member.instance_id is not None:
            other = by_instance.get(member.instance_id)
        if other is None or (other.assigned or {}) != (member.assigned or {}):
            return None
        found[name] = other
    return found if len(found) == len(rebalance) else None
