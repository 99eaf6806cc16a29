"""Consumer protocol: a member's subscription, and its assignment by the leader.

Follows ``ConsumerProtocolSubscription.json`` and ``ConsumerProtocolAssignment.json`` of
Apache Kafka 4.3 and ``ConsumerProtocol``: a reader parses a version that it does not
know as the newest that it knows, and ignores the remaining bytes. Version 1 added the
owned partitions (KIP-429), 2 their generation (KIP-792), 3 the rack (KIP-881).

This decoder is stricter than Java. It rejects bytes that no client writes: bytes after
the end of a known version, a length below -1 (Java: null), and bytes that are not UTF-8
(Java: U+FFFD). In one point it is less strict: kafka-go's version 1 of a subscription
ends before the owned partitions. franz-go, sarama, and aiokafka read it as one of a
member that owns nothing, as this decoder does; kafka-clients and kafka-python refuse
it. No other version can be short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance.errors import WireError
from rebalance.protocol.cursor import Cursor
from rebalance.protocol.writer import Writer

Partitions: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""Topics and partition numbers in the order of the bytes; topics can be repeated."""

NEWEST_VERSION: Final = 3
UNKNOWN_GENERATION: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The subscription that a member sends when it joins, as encoded.

    ``version`` is the encoded number, even one above 3. ``user_data`` and ``rack``
    distinguish None from empty: librdkafka writes an empty rack for no rack, and Kafka
    accepts it. Fields that the version lacks have their default values. ``is_short``:
    whether version 1 ends before its owned partitions, as kafka-go writes it.
    """

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: Partitions = ()
    generation: int = UNKNOWN_GENERATION
    rack: str | None = None
    is_short: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAssignment:
    """The assignment of one member, as encoded."""

    version: int
    partitions: Partitions
    user_data: bytes | None = None


def decode_subscription(data: bytes) -> Subscription:
    """Decode a member's subscription, version 0 to 3 or newer.

    Raises
    ------
    WireError
        If the bytes are cut off, too many, or no subscription. A version newer than 3
        can have bytes after the rack.
    """
    cursor = Cursor(data)
    version = _version(cursor)
    topics = tuple(
        cursor.string("topic") for _ in range(cursor.count("topics", least=2))
    )
    user_data = cursor.nullable_blob("user data")
    owned: Partitions = ()
    generation, rack = UNKNOWN_GENERATION, None
    is_short = version == 1 and not cursor.left
    if version >= 1 and not is_short:
        owned = read_partitions(cursor, "owned partitions")
    if version >= 2:
        generation = cursor.int32("generation")
    if version >= 3:
        rack = cursor.nullable_string("rack")
    _end(cursor, version, "subscription")
    return Subscription(
        version=version,
        topics=topics,
        user_data=user_data,
        owned=owned,
        generation=generation,
        rack=rack,
        is_short=is_short,
    )


def encode_subscription(subscription: Subscription) -> bytes:
    """Encode a subscription; fields that its version lacks are omitted, as in Kafka.

    Raises
    ------
    WireError
        If the version is not 0 to 3, a value does not fit its field, or one that is
        short has another version than 1 or owned partitions.
    """
    writer, version = _begin(subscription.version)
    if subscription.is_short and (version != 1 or subscription.owned):
        raise WireError("only version 1 without owned partitions is short", offset=0)
    writer.int32(len(subscription.topics), "topics")
    for topic in subscription.topics:
        writer.string(topic, "topic")
    writer.nullable_blob(subscription.user_data, "user data")
    if version >= 1 and not subscription.is_short:
        write_partitions(writer, subscription.owned, "owned partitions")
    if version >= 2:
        writer.int32(subscription.generation, "generation")
    if version >= 3:
        writer.nullable_string(subscription.rack, "rack")
    return writer.message()


def decode_assignment(data: bytes) -> MemberAssignment:
    """Decode the assignment of one member, version 0 to 3 or newer.

    A member that the leader omitted has no bytes in a group's record; the caller
    handles this case.

    Raises
    ------
    WireError
        If the bytes are cut off, too many, or no assignment. A version newer than 3 can
        have bytes after the user data.
    """
    cursor = Cursor(data)
    version = _version(cursor)
    partitions = read_partitions(cursor, "partitions")
    user_data = cursor.nullable_blob("user data")
    _end(cursor, version, "assignment")
    return MemberAssignment(version=version, partitions=partitions, user_data=user_data)


def encode_assignment(assignment: MemberAssignment) -> bytes:
    """Encode the assignment of one member.

    Raises
    ------
    WireError
        If the version is not 0 to 3, or a value does not fit its field.
    """
    writer, _ = _begin(assignment.version)
    write_partitions(writer, assignment.partitions, "partitions")
    writer.nullable_blob(assignment.user_data, "user data")
    return writer.message()


def read_partitions(cursor: Cursor, what: str) -> Partitions:
    """Read an array of topics with their partition numbers."""
    return tuple(
        (cursor.string(f"{what}: topic"), cursor.int32s(f"{what}: numbers"))
        for _ in range(cursor.count(what, least=6))
    )


def write_partitions(writer: Writer, partitions: Partitions, what: str) -> None:
    """Write an array of topics with their partition numbers."""
    writer.int32(len(partitions), what)
    for topic, numbers in partitions:
        writer.string(topic, f"{what}: topic")
        writer.int32s(numbers, f"{what}: numbers")


def _version(cursor: Cursor) -> int:
    version = cursor.int16("version")
    if version < 0:
        raise WireError(f"version {version}", offset=0)
    return version


def _end(cursor: Cursor, version: int, what: str) -> None:
    if version <= NEWEST_VERSION:
        cursor.end(what)


def _begin(version: int) -> tuple[Writer, int]:
    if not 0 <= version <= NEWEST_VERSION:
        reason = f"version {version}, 0 to {NEWEST_VERSION} can be written"
        raise WireError(reason, offset=0)
    writer = Writer()
    writer.int16(version, "version")
    return writer, version
