"""One generation of a classic group, decoded: members, subscriptions, assignment."""

from __future__ import annotations

from collections.abc import Container
from typing import Final, NamedTuple, TypeAlias

from pipeline.cases import Held
from pipeline.records import GroupMember, GroupMetadata
from rebalance import WireError
from rebalance.protocol import (
    ClaimSource,
    MemberClaim,
    Partitions,
    decode_assignment,
    decode_subscription,
    member_claim,
)

CONSUMER: Final = "consumer"
STICKY: Final = "sticky"
COOPERATIVE: Final = "cooperative-sticky"
STREAMS: Final = "stream"
"""Name of Kafka Streams' assignor, which assigns tasks."""

Seat: TypeAlias = tuple[bool, str]


class Participant(NamedTuple):
    """A member in one generation.

    ``seat`` identifies it across generations: the instance id of a static member, which
    gets a new member id and its old partitions when it returns (KIP-345), else the
    member id. ``claimed`` are the partitions of the claim. ``assigned`` repeats a
    partition that is assigned twice, for the judge; ``held`` does not.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rack: str | None
    subscription: list[str]
    claim: MemberClaim
    claimed: Held
    assigned: Held
    held: Held
    seat: Seat


class Generation(NamedTuple):
    """A classic consumer group as one record describes it; times are milliseconds."""

    group_id: str
    generation: int
    assignor: str | None
    leader: str | None
    participants: list[Participant]


def why_not_judged(record: GroupMetadata) -> str | None:
    """Return why a group is set aside; None for a consumer group."""
    kind = record.protocol_type
    if not record.members and kind in (CONSUMER, ""):
        return None
    if kind != CONSUMER:
        return f"a group of protocol type {kind or 'none'}, not consumer"
    if record.protocol == STREAMS:
        return "a Kafka Streams group: tasks are assigned, not partitions"
    return None


def decode_generation_of(record: GroupMetadata) -> Generation:
    """Decode the messages of all members.

    Raises
    ------
    WireError
        If a message cannot be read, or two members have the same id.
    """
    assignor = record.protocol or ""
    participants = [_participant(member, assignor) for member in record.members]
    for what, names in (
        ("member", [p.member_id for p in participants]),
        ("static member", [p.instance_id for p in participants if p.instance_id]),
    ):
        if len(set(names)) < len(names):
            twice = sorted(name for name in set(names) if names.count(name) > 1)
            raise WireError(f"value: {what} {twice[0]!r} listed twice", offset=0)
    return Generation(
        group_id=record.group_id,
        generation=record.generation,
        assignor=record.protocol,
        leader=record.leader,
        participants=participants,
    )


def reports(assignor: str | None, claim: MemberClaim) -> bool:
    """Return whether the claim is the member's report of all that it owns.

    Under ``sticky``, a member without user data owns nothing; under others, the owned
    partitions in the subscription are used, if its version has them.
    """
    if claim.source is ClaimSource.NOWHERE:
        return assignor == STICKY
    return claim.source is not ClaimSource.UNREADABLE


def wanted(held: Held, subscription: Container[str]) -> Held:
    """Remove topics to which the member does not subscribe."""
    return {topic: held[topic] for topic in held if topic in subscription}


def _held(partitions: Partitions) -> Held:
    """Merge topics and sort; a partition assigned twice is kept for the judge."""
    merged: dict[str, list[int]] = {}
    for topic, numbers in partitions:
        if min(numbers, default=0) < 0:
            raise WireError(f"partition {min(numbers)} of {topic!r}", offset=0)
        merged.setdefault(topic, []).extend(numbers)
    return {topic: sorted(merged[topic]) for topic in sorted(merged) if merged[topic]}


class _Reported(NamedTuple):
    """A member's subscription message under an assignor."""

    rack: str | None
    topics: list[str]
    claim: MemberClaim
    claimed: Held  # topics and numbers ascending, each once


class _MemberMessage(NamedTuple):
    """A member's assignment message, and the same without repetitions."""

    assigned: Held
    held: Held


def _reported(message: bytes, assignor: str) -> _Reported:
    subscription = decode_subscription(message)
    claim = member_claim(subscription, assignor)
    return _Reported(
        rack=subscription.rack or None,
        topics=sorted(set(subscription.topics)),
        claim=claim,
        claimed={topic: list(numbers) for topic, numbers in claim.partitions},
    )


def _assigned(message: bytes) -> _MemberMessage:
    assigned = _held(decode_assignment(message).partitions) if message else {}
    held = {topic: sorted(set(numbers)) for topic, numbers in assigned.items()}
    return _MemberMessage(assigned, held)


def _participant(member: GroupMember, assignor: str) -> Participant:
    message, given = member.subscription, member.assignment
    try:
        reported, part = _reported(message, assignor), _assigned(given)
    except WireError as error:
        reason = f"value: member {member.member_id!r}: {error.reason}"
        raise WireError(reason, offset=error.offset) from None
    instance_id = member.group_instance_id or None
    return Participant(
        member_id=member.member_id,
        instance_id=instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rack=reported.rack,
        subscription=reported.topics,
        claim=reported.claim,
        claimed=reported.claimed,
        assigned=part.assigned,
        held=part.held,
        seat=(instance_id is not None, instance_id or member.member_id),
    )
