"""Records of every type and version: recorded, written anew, and with Java's bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from pipeline.records import (
    ConsumerGroupRecord,
    GroupMember,
    GroupMetadata,
    OffsetCommit,
    Record,
    decode_record,
)
from rebalance.protocol import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from tests.pipeline.records.consumer_writers import TYPES, AnyRecord, written
from tests.pipeline.records.writers import Tags
from tests.support.wire import (
    RecordBytes,
    churn,
    first_look,
    java,
    recorded_members,
    recorded_records,
)

ASSIGNORS: Final = ("range", "sticky", "cooperative-sticky", "stream", None)

UNKNOWN: Final[Tags] = {7: b"later", 2**32 - 1: b""}
"""Tags that no reader knows."""


@cache
def recorded() -> tuple[RecordBytes, ...]:
    return churn() + first_look() + recorded_records()


@cache
def written_anew() -> tuple[RecordBytes, ...]:
    """Return the recorded values in every version; of commits, one in twenty."""
    return tuple(
        written(other, UNKNOWN)
        for number, (key, value) in enumerate(dict.fromkeys(recorded()))
        if value is not None and (key[:2] != b"\x00\x01" or number % 20 == 0)
        for other in _in_every_version(decode_record(key, value))
    )


@cache
def of_clients() -> tuple[RecordBytes, ...]:
    """Return groups of one member of each client, with several assignors."""
    return tuple(
        written(group_of(member.subscription, member.assignment, assignor))
        for member in recorded_members()
        for assignor in (member.assignor, *ASSIGNORS)
    )


@cache
def of_java() -> tuple[RecordBytes, ...]:
    """Return every key without a value, every value, and groups of one member."""
    keys = {vector.fields["record_type"]: vector.data for vector in java("key")}
    types = {0: "offset-commit-value", 1: "offset-commit-value"}
    types |= {2: "group-metadata-value"} | {of: name for name, of in TYPES.items()}
    values = [
        (keys[of], vector.data) for of, name in types.items() for vector in java(name)
    ]
    subscriptions = [vector.data for vector in java("subscription")]
    subscriptions += [
        encode_subscription(Subscription(version=1, topics=(), user_data=vector.data))
        for name in ("sticky-user-data", "cooperative-user-data")
        for vector in java(name)
    ]
    sent = [(subscription, b"") for subscription in subscriptions]
    sent += [(subscriptions[0], vector.data) for vector in java("assignment")]
    groups = [written(group_of(*pair, of)) for pair in sent for of in ASSIGNORS]
    return (*((key, None) for key in keys.values()), *values, *groups)


def group_of(
    subscription: bytes, assignment: bytes, assignor: str | None
) -> GroupMetadata:
    member = GroupMember(
        member_id="m",
        group_instance_id=None,
        client_id="c",
        client_host="/h",
        session_timeout=1,
        subscription=subscription,
        assignment=assignment,
    )
    return GroupMetadata(
        group_id="g",
        version=3,
        protocol_type="consumer",
        generation=1,
        protocol=assignor,
        leader="m",
        members=(member,),
    )


def _in_every_version(record: Record) -> Iterator[AnyRecord]:
    """Yield a record in each version; of classic groups, the messages in it, too."""
    if isinstance(record, OffsetCommit | GroupMetadata):
        yield from (record._replace(version=version) for version in range(5))
    elif isinstance(record, ConsumerGroupRecord):
        yield record
    if isinstance(record, GroupMetadata) and record.members:
        for version in range(4):
            members = (_in_version(member, version) for member in record.members)
            yield record._replace(members=tuple(members))


def _in_version(member: GroupMember, version: int) -> GroupMember:
    subscription = replace(decode_subscription(member.subscription), version=version)
    member = member._replace(subscription=encode_subscription(subscription))
    if member.assignment:
        assigned = replace(decode_assignment(member.assignment), version=version)
        member = member._replace(assignment=encode_assignment(assigned))
    return member
