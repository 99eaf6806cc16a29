"""Classic group records: ``GroupMetadataKey.json``, ``GroupMetadataValue.json``.

Version 1 of the value added the rebalance timeout, 2 the time of the last change of
state, 3 static members, 4 made the encoding flexible.
"""

from __future__ import annotations

from typing import Final

from pipeline.records.model import (
    UNKNOWN,
    GroupMember,
    GroupMetadata,
    GroupTombstone,
)
from pipeline.records.version import value_version
from rebalance.protocol import Cursor

_LEAST_MEMBER: Final = 2 + 2 + 2 + 4 + 4 + 4  # bytes, version 0, everything empty
_LEAST_FLEXIBLE_MEMBER: Final = 1 + 1 + 1 + 1 + 4 + 4 + 1 + 1 + 1
_NO_TAGS: Final[dict[int, int]] = {}  # no tags are known; all are skipped


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
