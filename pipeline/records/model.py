"""Records of ``__consumer_offsets`` as frozen values.

They are named tuples: to make one takes a third of the time of a frozen dataclass.
"""

from __future__ import annotations

from typing import NamedTuple

UNKNOWN = -1
"""Kafka's value for an unknown number, which we use as well."""


class OffsetCommit(NamedTuple):
    """A group's committed offset of one partition (record types 0 and 1).

    Times are milliseconds since 1970 in UTC; ``topic_id`` is 16 bytes, since Kafka 4.1.
    """

    group_id: str
    topic: str
    partition: int
    version: int
    offset: int
    commit_timestamp: int
    leader_epoch: int = UNKNOWN
    metadata: str = ""
    expire_timestamp: int = UNKNOWN
    topic_id: bytes | None = None


class OffsetTombstone(NamedTuple):
    """Tombstone of a committed offset: expired, deleted, or its topic deleted."""

    group_id: str
    topic: str
    partition: int


class GroupMember(NamedTuple):
    """One member of a classic group; its two messages are not decoded.

    Timeouts are in milliseconds. ``assignment`` is empty if the leader sent no message
    for this member.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout: int
    subscription: bytes
    assignment: bytes
    rebalance_timeout: int = UNKNOWN


class GroupMetadata(NamedTuple):
    """A classic group after a rebalance, or without members (record type 2).

    ``protocol_type`` is ``consumer`` for consumer groups, ``connect`` for Kafka
    Connect, and empty for a group that only commits. ``protocol`` is the assignor's
    name.
    """

    group_id: str
    version: int
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[GroupMember, ...]
    state_timestamp: int = UNKNOWN


class GroupTombstone(NamedTuple):
    """Tombstone of a classic group."""

    group_id: str


class OtherGroupRecord(NamedTuple):
    """A valid record of another kind of group; ``reason`` states which.

    ``kind`` is Kafka's name of the record, such as ``ShareGroupMetadata``.
    """

    kind: str
    group_id: str
    reason: str
    tombstone: bool
