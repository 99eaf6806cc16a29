"""Cases of the new protocol: one per target assignment that the coordinator computed.

The assignor's input is the target assignment before, not the partitions that members
have at that moment (``TargetAssignmentBuilder`` of Kafka's group coordinator), so
members own it in the case. The partitions that they have are their claim; a member
whose claim differs had not reached the target before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from pipeline.cases import PREVIOUS, Case, CaseMember, Held, Offsets
from pipeline.history.consumer_state import Present, Roster, seat_of
from pipeline.history.generations import Seat
from pipeline.records import ConsumerGroupMemberMetadata
from pipeline.records.place import Place

UNIFORM: Final = "uniform"
"""Kafka's default, the first of ``group.consumer.assignors``."""
_NAMES: Final = {"range": "server-range"}
"""Server assignors whose names client assignors have as well."""


class Assigned(NamedTuple):
    """A member in one target assignment; ``before`` None if it had no target."""

    member: ConsumerGroupMemberMetadata
    subscription: tuple[str, ...]
    before: Held | None
    present: Present | None
    target: Held

    @property
    def member_id(self) -> str:
        """The member id."""
        return self.member.member_id

    @property
    def seat(self) -> Seat:
        """The instance id of a static member, else the member id."""
        return seat_of(self.member)


class Target(NamedTuple):
    """A complete target assignment of one epoch."""

    group_id: str
    epoch: int
    people: list[Assigned]
    roster: Roster


class PreviousTarget(NamedTuple):
    """Members by seat of the target assignment before, with their subscriptions."""

    epoch: int | None
    subscriptions: dict[Seat, tuple[str, ...]]


def previous_of(target: Target) -> PreviousTarget:
    """Return the data with which the next target assignment is compared."""
    return PreviousTarget(
        epoch=target.epoch,
        subscriptions={
            participant.seat: participant.subscription for participant in target.people
        },
    )


def case_of_target(
    target: Target,
    previous: PreviousTarget,
    place: Place,
    committed: Offsets,
    undated_sizes: dict[str, int] | None,
) -> Case:
    """Return the case of a target assignment."""
    people, earlier = target.people, previous.subscriptions
    return Case(
        rebalance_id=place.name,
        group_id=target.group_id,
        source_kind="consumer-offsets",
        source=place.source,
        source_partition=place.partition,
        source_offset=place.offset,
        generation=target.epoch,
        at=place.at,
        protocol="consumer",
        client_assignor=server_assignor(
            participant.member.server_assignor for participant in people
        ),
        owned_from=PREVIOUS,
        members={
            participant.member_id: _member(participant, previous)
            for participant in people
        },
        left=len(earlier.keys() - {participant.seat for participant in people}),
        resubscribed=sum(
            participant.seat in earlier
            and earlier[participant.seat] != participant.subscription
            for participant in people
        ),
        claims_disagree=sum(map(_had_not_reached, people)),
        committed=committed,
        undated_sizes=undated_sizes,
        recorded_sizes=_sizes(target.roster, people),
    )


def server_assignor(stated: Iterable[str | None]) -> str | None:
    """Return the server assignor that most members name; None if two are tied.

    Follows ``computePreferredServerAssignor``: members that name none do not count, and
    if none does, the broker's default is used.
    """
    votes = Counter(filter(None, stated))
    most = max(votes.values(), default=0)
    names = [name for name, count in votes.items() if count == most]
    if not names:
        return UNIFORM
    return _NAMES.get(names[0], names[0]) if len(names) == 1 else None


def _member(assigned: Assigned, previous: PreviousTarget) -> CaseMember:
    member, present = assigned.member, assigned.present
    return CaseMember(
        subscription=list(assigned.subscription),
        owned=assigned.before or {},
        generation=None if assigned.before is None else previous.epoch,
        assigned=assigned.target,
        claimed=None if present is None else present.held,
        claimed_generation=None if present is None else present.epoch,
        rack=member.rack or None,
        instance_id=member.instance_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        joined=assigned.seat not in previous.subscriptions,
    )


def _had_not_reached(assigned: Assigned) -> bool:
    if assigned.before is None or assigned.present is None:
        return False
    return assigned.present.held != assigned.before


def _sizes(roster: Roster, people: list[Assigned]) -> dict[str, int] | None:
    wanted = {topic for participant in people for topic in participant.subscription}
    found = {
        topic: roster.sizes[topic].partitions
        for topic in sorted(wanted)
        if topic in roster.sizes
    }
    return found or None
