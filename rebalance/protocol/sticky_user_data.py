"""User data of the sticky assignors in a subscription (KIP-54, KIP-341).

Follows ``StickyAssignor`` and ``CooperativeStickyAssignor`` of Apache Kafka 4.3:

- ``sticky``: version 0 (KIP-54) contains the owned partitions; version 1 (KIP-341) adds
their generation. The version number is not written: a reader tries 1, then 0. Only
kafka-python 3 writes a 16-bit version 1 as prefix, which Java cannot read and drops. -
``cooperative-sticky``: only the generation, because the owned partitions are a field of
the subscription. librdkafka writes sticky's version 1 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance.errors import WireError
from rebalance.protocol.consumer import (
    UNKNOWN_GENERATION,
    Partitions,
    read_partitions,
    write_partitions,
)
from rebalance.protocol.cursor import Cursor
from rebalance.protocol.writer import Writer

_PREFIX: Final = b"\x00\x01"


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyUserData:
    """Owned partitions; ``prefixed`` if written by kafka-python 3."""

    version: int
    partitions: Partitions
    generation: int = UNKNOWN_GENERATION
    prefixed: bool = False


def decode_sticky_user_data(data: bytes) -> StickyUserData:
    """Read the user data of the ``sticky`` assignor, in any of its three forms.

    A message without prefix that starts with these bytes would list at least 65,536
    topics, so short data is unambiguous; long data is read without prefix if possible.

    Raises
    ------
    WireError
        If no form fits; Kafka's assignors then assume that the member owns nothing.
    """
    try:
        return _plain(data)
    except WireError:
        if not data.startswith(_PREFIX):
            raise
    return _prefixed(data)


def encode_sticky_user_data(data: StickyUserData) -> bytes:
    """Write the user data of the ``sticky`` assignor.

    Raises
    ------
    WireError
        If the version is not 0 or 1 (1 alone with the prefix), or a value does not fit.
    """
    if data.version not in (0, 1) or (data.prefixed and data.version == 0):
        raise WireError(f"version {data.version}, 0 or 1 can be written", offset=0)
    writer = Writer()
    if data.prefixed:
        writer.int16(data.version, "version")
    write_partitions(writer, data.partitions, "partitions held")
    if data.version >= 1:
        writer.int32(data.generation, "generation")
    return writer.message()


def decode_generation(data: bytes) -> int:
    """Read Java's user data of ``cooperative-sticky``: a generation, 32 bits.

    Raises
    ------
    WireError
        If there are not exactly four bytes.
    """
    cursor = Cursor(data)
    generation = cursor.int32("generation")
    cursor.end("generation")
    return generation


def encode_generation(generation: int) -> bytes:
    """Write Java's user data of ``cooperative-sticky``."""
    writer = Writer()
    writer.int32(generation, "generation")
    return writer.message()


def _plain(data: bytes) -> StickyUserData:
    cursor = Cursor(data)
    partitions = read_partitions(cursor, "partitions held")
    if not cursor.left:
        return StickyUserData(version=0, partitions=partitions)
    generation = cursor.int32("generation")
    cursor.end("sticky user data")
    return StickyUserData(version=1, partitions=partitions, generation=generation)


def _prefixed(data: bytes) -> StickyUserData:
    cursor = Cursor(data)
    version = cursor.int16("version")
    partitions = read_partitions(cursor, "partitions held")
    generation = cursor.int32("generation")
    cursor.end("sticky user data")
    return StickyUserData(
        version=version, partitions=partitions, generation=generation, prefixed=True
    )
