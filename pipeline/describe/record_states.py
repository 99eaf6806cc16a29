"""Match snapshots with the states that the records of the same group contain.

A generation in ``__consumer_offsets``, or a target assignment of the new protocol,
states its members, their subscriptions, and their assignments. A snapshot with the same
members and the same assignments shows the state after it: it takes the subscriptions
from there, and is not counted a second time. Records of the new protocol contain topic
ids, and describe text contains names, so the names of all ids must be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from pipeline.cases import NOT_REPORTED, REPORTED, SNAPSHOT, Case, CaseMember, unpack
from pipeline.judging.topic_names import with_names
from pipeline.sources.rows import CASE, Row, case_row
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
    for row in rows:
        group_id = row.get("group_id")
        if row["what"] != CASE:
            yield row
        elif row["source_partition"] is not None:
            if group_id in waiting:
                rebalance = _named(unpack(row["value"]), names)
                if rebalance is not None:
                    waiting[group_id] = [
                        _completed(one, rebalance) for one in waiting[group_id]
                    ]
            yield row
        elif (case := unpack(row["value"])).owned_from == SNAPSHOT:
            waiting.setdefault(case.group_id, []).append(case)
        else:
            yield row
    for group_id in sorted(waiting):
        yield from map(case_row, waiting[group_id])


def _named(rebalance: Case, names: Mapping[str, str]) -> Case | None:
    try:
        return with_names(rebalance, names)
    except InstanceError:
        return None  # is quarantined when it is judged


def _completed(snapshot: Case, rebalance: Case) -> Case:
    """Return the snapshot with what a rebalance to the same state reports.

    If several rebalances led to this state, the last one counts, and the subscriptions
    are reported only if all agree.
    """
    known = _same_state(snapshot.members or {}, rebalance.members or {})
    if known is None:
        return snapshot
    agrees = snapshot.state_of is None or (
        snapshot.subscriptions == REPORTED
        and all(
            member.subscription == known[name].subscription
            for name, member in (snapshot.members or {}).items()
        )
    )
    members = {
        name: replace(
            member,
            subscription=known[name].subscription
            if agrees
            else sorted(_topics(member)),
        )
        for name, member in (snapshot.members or {}).items()
    }
    return replace(
        snapshot,
        members=members,
        subscriptions=REPORTED if agrees else NOT_REPORTED,
        state_of=rebalance.rebalance_id,
        state_at=rebalance.at,
        # As large as in the records, which also know topics that nobody holds.
        least_sizes=None,
        undated_sizes=rebalance.undated_sizes,
    )


def _same_state(snapshot: Members, rebalance: Members) -> Members | None:
    """Return each member's counterpart; None unless all have the same partitions.

    A static member that returned to a stable group has a new member id and the same
    instance id (KIP-345).
    """
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


def _topics(member: CaseMember) -> Iterable[str]:
    return member.assigned or ()
