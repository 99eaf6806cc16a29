"""Records of consumer groups of the new protocol (KIP-848) as frozen values.

The classes have the names of Kafka's messages. Topics occur by their id, 16 bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from pipeline.records.model import UNKNOWN


class TopicIdPartitions(NamedTuple):
    """Partitions of one topic; ``epochs`` are those of their assignment (KIP-1251)."""

    topic_id: bytes
    partitions: tuple[int, ...]
    epochs: tuple[int, ...] | None = None


class ConsumerGroupMetadata(NamedTuple):
    """The group epoch (record type 3).

    ``metadata_hash`` covers the subscribed topics (Kafka 4.1, 0: none), and
    ``creation_time`` is in milliseconds (KIP-1282).
    """

    group_id: str
    epoch: int
    metadata_hash: int = 0
    creation_time: int = UNKNOWN


class TopicMetadata(NamedTuple):
    """A subscribed topic; ``racks`` are pairs of partition and racks, if recorded."""

    topic_id: bytes
    name: str
    partitions: int
    racks: tuple[tuple[int, tuple[str, ...]], ...] = ()


class ConsumerGroupPartitionMetadata(NamedTuple):
    """The subscribed topics (record type 4), which only Kafka 4.0 writes."""

    group_id: str
    topics: tuple[TopicMetadata, ...]


class ClassicMemberMetadata(NamedTuple):
    """Metadata of a member of the classic protocol in a group of the new protocol.

    ``protocols`` are pairs of an assignor's name and its subscription message; the
    timeout is in milliseconds.
    """

    session_timeout: int
    protocols: tuple[tuple[str, bytes], ...]


class ConsumerGroupMemberMetadata(NamedTuple):
    """A member (record type 5); ``classic`` if it uses the classic protocol.

    ``regex`` is a subscription by regular expression, empty or None if it has none.
    """

    group_id: str
    member_id: str
    instance_id: str | None
    rack: str | None
    client_id: str
    client_host: str
    topics: tuple[str, ...]
    regex: str | None
    rebalance_timeout: int
    server_assignor: str | None
    classic: ClassicMemberMetadata | None = None


class ConsumerGroupTargetAssignmentMetadata(NamedTuple):
    """The epoch of the target assignment (record type 6), written when it is complete.

    ``computed_at`` is in milliseconds, 0 if unknown (KIP-1263, Kafka 4.3).
    """

    group_id: str
    epoch: int
    computed_at: int = 0


class ConsumerGroupTargetAssignmentMember(NamedTuple):
    """A member's part of the target assignment (record type 7)."""

    group_id: str
    member_id: str
    assigned: tuple[TopicIdPartitions, ...]


class ConsumerGroupCurrentMemberAssignment(NamedTuple):
    """A member's present assignment (record type 8).

    ``revoking`` are partitions that it must still revoke. ``state`` is 0 if it is
    stable, 1 while it must revoke, and 2 while it waits for others to revoke.
    """

    group_id: str
    member_id: str
    epoch: int
    previous_epoch: int
    state: int
    assigned: tuple[TopicIdPartitions, ...]
    revoking: tuple[TopicIdPartitions, ...]


class ConsumerGroupRegularExpression(NamedTuple):
    """The topics that match a regular expression (record type 16).

    ``version`` is that of the metadata image; ``resolved_at`` is in milliseconds.
    """

    group_id: str
    regex: str
    topics: tuple[str, ...]
    version: int
    resolved_at: int


class ConsumerGroupTombstone(NamedTuple):
    """Tombstone of one of these records.

    ``kind`` is Kafka's name of the record; ``subject`` is the member id or the regular
    expression, None if the key has only the group.
    """

    kind: str
    group_id: str
    subject: str | None = None


ConsumerGroupRecord: TypeAlias = (
    ConsumerGroupMetadata
    | ConsumerGroupPartitionMetadata
    | ConsumerGroupMemberMetadata
    | ConsumerGroupTargetAssignmentMetadata
    | ConsumerGroupTargetAssignmentMember
    | ConsumerGroupCurrentMemberAssignment
    | ConsumerGroupRegularExpression
    | ConsumerGroupTombstone
)
