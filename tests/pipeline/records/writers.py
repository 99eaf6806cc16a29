"""Write records of ``__consumer_offsets`` from their fields, for tests only.

Shares no code with the reader: ``struct`` and the tables of Kafka's message files.
"""

from __future__ import annotations

import struct

from pipeline.records import (
    GroupMember,
    GroupMetadata,
    OffsetCommit,
    OffsetTombstone,
)

Tags = dict[int, bytes]


def uvarint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + uvarint(rest) if rest else bytes([low])


def text(value: str | None, *, compact: bool = False) -> bytes:
    if value is None:
        return b"\x00" if compact else b"\xff\xff"
    raw = value.encode()
    return (uvarint(len(raw) + 1) if compact else struct.pack(">h", len(raw))) + raw


def blob(value: bytes, *, compact: bool = False) -> bytes:
    size = uvarint(len(value) + 1) if compact else struct.pack(">i", len(value))
    return size + value


def tagged(tags: Tags) -> bytes:
    fields = (uvarint(t) + uvarint(len(v)) + v for t, v in sorted(tags.items()))
    return uvarint(len(tags)) + b"".join(fields)


def offset_key(
    commit: OffsetCommit | OffsetTombstone, *, record_type: int = 1
) -> bytes:
    names = text(commit.group_id) + text(commit.topic)
    return struct.pack(">h", record_type) + names + struct.pack(">i", commit.partition)


def offset_value(commit: OffsetCommit, unknown: Tags | None = None) -> bytes:
    version = commit.version
    out = struct.pack(">hq", version, commit.offset)
    if version >= 3:
        out += struct.pack(">i", commit.leader_epoch)
    out += text(commit.metadata, compact=version >= 4)
    out += struct.pack(">q", commit.commit_timestamp)
    if version == 1:
        out += struct.pack(">q", commit.expire_timestamp)
    if version >= 4:
        known = {} if commit.topic_id is None else {0: commit.topic_id}
        out += tagged((unknown or {}) | known)
    return out


def group_key(group_id: str) -> bytes:
    return b"\x00\x02" + text(group_id)


def group_value(group: GroupMetadata, unknown: Tags | None = None) -> bytes:
    version, compact = group.version, group.version >= 4
    out = struct.pack(">h", version) + text(group.protocol_type, compact=compact)
    out += struct.pack(">i", group.generation)
    out += text(group.protocol, compact=compact) + text(group.leader, compact=compact)
    if version >= 2:
        out += struct.pack(">q", group.state_timestamp)
    count = len(group.members)
    out += uvarint(count + 1) if compact else struct.pack(">i", count)
    for member in group.members:
        out += _member(member, version, unknown)
    return out + (tagged(unknown or {}) if compact else b"")


def _member(member: GroupMember, version: int, unknown: Tags | None) -> bytes:
    compact = version >= 4
    out = text(member.member_id, compact=compact)
    if version >= 3:
        out += text(member.group_instance_id, compact=compact)
    out += text(member.client_id, compact=compact)
    out += text(member.client_host, compact=compact)
    if version >= 1:
        out += struct.pack(">i", member.rebalance_timeout)
    out += struct.pack(">i", member.session_timeout)
    out += blob(member.subscription, compact=compact)
    out += blob(member.assignment, compact=compact)
    return out + (tagged(unknown or {}) if compact else b"")
