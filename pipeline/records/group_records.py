"""Classic group records: ``GroupMetadataKey.json``, ``GroupMetadataValue.json``.

Version 1 of the value added the rebalance timeout, 2 the time of the last change of
state, 3 static members, 4 made the encoding flexible.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final, TypeAlias

from pipeline.records.model import (
    UNKNOWN,
    GroupMember,
    GroupMetadata,
    GroupTombstone,
)
from pipeline.records.version import value_version
from rebalance import WireError
from rebalance.protocol import Cursor

_LEAST_MEMBER: Final = 2 + 2 + 2 + 4 + 4 + 4  # bytes, version 0, everything empty
_LEAST_FLEXIBLE_MEMBER: Final = 1 + 1 + 1 + 1 + 4 + 4 + 1 + 1 + 1
_NO_TAGS: Final[dict[int, int]] = {}  # no tags are known; all are skipped
_USUAL: Final = 3
"""Version that Kafka 2.3 and newer write."""
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")
_TIMEOUTS: Final = struct.Struct(">iii")
"""Both timeouts, and the length of the subscription."""
_NAMES: Final = 4
_LONGEST_KEPT: Final = 1_024
"""Bytes of the longest names of a member that are kept decoded."""

_Names: TypeAlias = tuple[str, str | None, str, str]


def decode_group(key: Cursor, value: bytes | None) -> GroupMetadata | GroupTombstone:
    """Decode a classic group; ``key`` is positioned after the record type.

    Raises
    ------
    WireError
        If key or value is not such a message.
    """
    group_id = key.string("key: group")
    key.end("key")
    if value is None:
        return GroupTombstone(group_id=group_id)
    return _group(group_id, Cursor(value))


def _group(group_id: str, value: Cursor) -> GroupMetadata:
    version = value_version(value)
    flexible = version >= 4
    text = value.compact_string if flexible else value.string
    nullable = value.nullable_compact_string if flexible else value.nullable_string
    protocol_type = text("value: protocol type")
    generation = value.int32("value: generation")
    protocol = nullable("value: protocol")
    leader = nullable("value: leader")
    changed = value.int64("value: state timestamp") if version >= 2 else UNKNOWN
    members = _kept_members(value) if version == _USUAL else None
    if members is None:
        members = _members(value, version)
        if flexible:
            value.tagged("value", _NO_TAGS)
        value.end("value")
    return GroupMetadata(
        group_id=group_id,
        version=version,
        protocol_type=protocol_type,
        generation=generation,
        protocol=protocol,
        leader=leader,
        state_timestamp=changed,
        members=members,
    )


def _members(value: Cursor, version: int) -> tuple[GroupMember, ...]:
    if version >= 4:
        count = value.compact_count("value: members", least=_LEAST_FLEXIBLE_MEMBER)
    else:
        count = value.count("value: members", least=_LEAST_MEMBER)
    return tuple(_member(value, version) for _ in range(count))


def _kept_members(value: Cursor) -> tuple[GroupMember, ...] | None:
    """Decode members of version 3 that fill the rest of a value; None otherwise.

    A member has the same names in one generation after another, which are decoded once.
    What is odd is left to `_members`, which states what is wrong.
    """
    data, at = value.rest() or b"", 0
    members = []
    try:
        (count,) = _INT32.unpack_from(data, at)
        at += _INT32.size
        for _ in range(count):
            start = at
            for _ in range(_NAMES):
                (length,) = _INT16.unpack_from(data, at)
                at += _INT16.size + max(length, 0)
            names = _names_of(data[start:at])
            rebalance_timeout, session_timeout, length = _TIMEOUTS.unpack_from(data, at)
            start = at + _TIMEOUTS.size
            at = start + length
            (given,) = _INT32.unpack_from(data, at)
            if min(length, given) < 0:
                return None
            subscription, start = data[start:at], at + _INT32.size
            at = start + given
            members.append(
                GroupMember(
                    member_id=names[0],
                    group_instance_id=names[1],
                    client_id=names[2],
                    client_host=names[3],
                    rebalance_timeout=rebalance_timeout,
                    session_timeout=session_timeout,
                    subscription=subscription,
                    assignment=data[start:at],
                )
            )
    except (struct.error, WireError):
        return None
    if count < 0 or at != len(data):
        return None
    value.skip()
    return tuple(members)


def _names_of(data: bytes) -> _Names:
    return _kept_names(data) if len(data) <= _LONGEST_KEPT else _decoded_names(data)


def _decoded_names(data: bytes) -> _Names:
    cursor = Cursor(data)
    return (
        cursor.string("member"),
        cursor.nullable_string("group instance"),
        cursor.string("client"),
        cursor.string("client host"),
    )


_kept_names = lru_cache(4_096)(_decoded_names)


def _member(value: Cursor, version: int) -> GroupMember:
    """Decode a member; arguments are in the order of the bytes."""
    flexible = version >= 4
    text = value.compact_string if flexible else value.string
    nullable = value.nullable_compact_string if flexible else value.nullable_string
    blob = value.compact_blob if flexible else value.blob
    member = GroupMember(
        member_id=text("value: member"),
        group_instance_id=nullable("value: group instance") if version >= 3 else None,
        client_id=text("value: client"),
        client_host=text("value: client host"),
        rebalance_timeout=(
            value.int32("value: rebalance timeout") if version >= 1 else UNKNOWN
        ),
        session_timeout=value.int32("value: session timeout"),
        subscription=blob("value: subscription"),
        assignment=blob("value: assignment"),
    )
    if flexible:
        value.tagged("value: member", _NO_TAGS)
    return member
