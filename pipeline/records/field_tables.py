"""Fields of Kafka's messages by version, as tables for a compiled reader.

The tables repeat Kafka's message files (``GroupMetadataValue.json`` and so on, Apache
Kafka 4.4), which tests compare with the schemas in Kafka's own jars. `pipeline.records`
and `rebalance.protocol` read the same messages one by one, and state the fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from rebalance import ABSENT, Int64

_ALWAYS: Final = 1 << 15
VERSIONS: Final = 5
"""Versions of a message, from 0 on."""


class Kind(IntEnum):
    """Type of a field, and its values on the tape (`field_kernels.read_message`)."""

    INT8 = 1
    INT16 = 2
    INT32 = 4
    INT64 = 8
    TEXT = 20  # number of the name, `ABSENT` if null
    BYTES = 21  # position and length, the latter `ABSENT` if null
    UUID = 22  # number of the id
    ARRAY = 23  # number of items, and the items
    INT32S = 24  # of a tag, not kept


class Step(IntEnum):
    """Steps of a program other than those that read a field of a `Kind`."""

    VALUE = 30  # put a value that the version lacks
    TAGS = 31  # tagged fields
    TAG = 32  # the kind of a known tag, after `TAGS`


class Field(NamedTuple):
    """A field of a message.

    ``default`` is put on the tape for versions before ``since`` and after ``until``. A
    field with a ``tag`` is optional in flexible versions. A field that is not ``kept``
    is read and not put.
    """

    name: str
    kind: Kind
    since: int = 0
    until: int = _ALWAYS
    default: int = ABSENT
    nullable: bool = False
    kept: bool = True
    tag: int | None = None
    fields: tuple[Field, ...] = ()


class Message(NamedTuple):
    """A message; from version ``flexible`` on, it has compact lengths and tags."""

    name: str
    newest: int
    fields: tuple[Field, ...]
    flexible: int = _ALWAYS


class Programs(NamedTuple):
    """Steps that read each version of each message.

    Attributes
    ----------
    steps : int64 (n, 4)
        A `Kind` or `Step` and its arguments. Of a field: whether it is kept, whether it
        can be null or, of an array, how many steps an item has, and whether its length
        is compact. Of `VALUE`: the value; of `TAGS`: the number of known tags; of
        `TAG`: the tag, its kind, and the default.
    begin : int64 (messages * `VERSIONS` + 1,)
        First step of each version.
    """

    steps: Int64
    begin: Int64


def programs_of(messages: Sequence[Message]) -> Programs:
    """Return the programs of messages; those of versions above the newest are empty."""
    found = [
        [*_steps(message.fields, version, is_flexible=version >= message.flexible)]
        if version <= message.newest
        else []
        for message in messages
        for version in range(VERSIONS)
    ]
    steps = [step for program in found for step in program]
    begin = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return Programs(np.array(steps, np.int64), begin)


def _steps(
    fields: Sequence[Field], version: int, *, is_flexible: bool
) -> Iterator[tuple[int, int, int, int]]:
    for field in fields:
        if field.tag is not None and is_flexible:
            continue
        if field.tag is not None or not field.since <= version <= field.until:
            if field.kept:
                yield Step.VALUE, field.default, 0, 0
                if field.kind is Kind.BYTES:
                    yield Step.VALUE, ABSENT, 0, 0
        elif field.kind is Kind.ARRAY:
            body = [*_steps(field.fields, version, is_flexible=is_flexible)]
            yield Kind.ARRAY, int(field.kept), len(body), int(is_flexible)
            yield from body
        else:
            yield field.kind, int(field.kept), int(field.nullable), int(is_flexible)
    if is_flexible and fields[0].name:
        tags = [field for field in fields if field.tag is not None]
        yield Step.TAGS, len(tags), 0, 0
        for field in tags:
            yield Step.TAG, field.tag or 0, field.kind, field.default


_VERSION: Final = Field("version", Kind.INT16, kept=False)  # of a key, the type
_GROUP: Final = Field("group", Kind.TEXT, kept=False)

OFFSET_KEY: Final = Message(
    "OffsetCommitKey",
    0,
    (
        _VERSION,
        _GROUP,
        Field("topic", Kind.TEXT),
        Field("partition", Kind.INT32),
    ),
)
GROUP_KEY: Final = Message("GroupMetadataKey", 0, (_VERSION, _GROUP))

OFFSET_VALUE: Final = Message(
    "OffsetCommitValue",
    4,
    (
        _VERSION,
        Field("offset", Kind.INT64),
        Field("leaderEpoch", Kind.INT32, since=3, kept=False),
        Field("metadata", Kind.TEXT, kept=False),
        Field("commitTimestamp", Kind.INT64, kept=False),
        Field("expireTimestamp", Kind.INT64, since=1, until=1, kept=False),
        Field("topicId", Kind.UUID, since=4, tag=0),
    ),
    flexible=4,
)
GROUP_VALUE: Final = Message(
    "GroupMetadataValue",
    4,
    (
        _VERSION,
        Field("protocolType", Kind.TEXT),
        Field("generation", Kind.INT32),
        Field("protocol", Kind.TEXT, nullable=True),
        Field("leader", Kind.TEXT, nullable=True),
        Field("currentStateTimestamp", Kind.INT64, since=2, kept=False),
        Field(
            "members",
            Kind.ARRAY,
            fields=(
                Field("memberId", Kind.TEXT),
                Field("groupInstanceId", Kind.TEXT, since=3, nullable=True),
                Field("clientId", Kind.TEXT),
                Field("clientHost", Kind.TEXT),
                Field("rebalanceTimeout", Kind.INT32, since=1, kept=False),
                Field("sessionTimeout", Kind.INT32, kept=False),
                Field("subscription", Kind.BYTES),
                Field("assignment", Kind.BYTES),
            ),
        ),
    ),
    flexible=4,
)
_PARTITIONS: Final = (
    Field("topic", Kind.TEXT),
    Field("partitions", Kind.ARRAY, fields=(Field("", Kind.INT32),)),
)
SUBSCRIPTION: Final = Message(
    "ConsumerProtocolSubscription",
    3,
    (
        Field("version", Kind.INT16),
        Field("topics", Kind.ARRAY, fields=(Field("", Kind.TEXT),)),
        Field("userData", Kind.BYTES, nullable=True),
        Field("ownedPartitions", Kind.ARRAY, 1, default=0, fields=_PARTITIONS),
        Field("generationId", Kind.INT32, 2),
        Field("rackId", Kind.TEXT, 3, nullable=True),
    ),
)
ASSIGNMENT: Final = Message(
    "ConsumerProtocolAssignment",
    3,
    (
        _VERSION,
        Field("assignedPartitions", Kind.ARRAY, fields=_PARTITIONS),
        Field("userData", Kind.BYTES, nullable=True, kept=False),
    ),
)
STICKY_DATA: Final = Message(
    "StickyAssignorUserData",
    1,
    (
        Field("previousAssignment", Kind.ARRAY, fields=_PARTITIONS),
        Field("generation", Kind.INT32, 1),
    ),
)
PREFIXED_STICKY_DATA: Final = Message(
    "StickyAssignorUserData after a version, as kafka-python 3 writes it",
    1,
    (_VERSION, *STICKY_DATA.fields),
)
"""Not Kafka's: see `rebalance.protocol.sticky_user_data`."""

GROUP_EPOCH: Final = Message(
    "ConsumerGroupMetadataValue",
    0,
    (
        _VERSION,
        Field("epoch", Kind.INT32),
        Field("metadataHash", Kind.INT64, default=0, tag=0),
        Field("creationTime", Kind.INT64, tag=1),
    ),
    flexible=0,
)
GROUP_MEMBER: Final = Message(
    "ConsumerGroupMemberMetadataValue",
    0,
    (
        _VERSION,
        Field("instanceId", Kind.TEXT, nullable=True),
        Field("rackId", Kind.TEXT, nullable=True),
        Field("clientId", Kind.TEXT),
        Field("clientHost", Kind.TEXT),
        Field("subscribedTopicNames", Kind.ARRAY, fields=(Field("", Kind.TEXT),)),
        Field("subscribedTopicRegex", Kind.TEXT, nullable=True),
        Field("rebalanceTimeoutMs", Kind.INT32, kept=False),
        Field("serverAssignor", Kind.TEXT, nullable=True),
        Field("classicMemberMetadata", Kind.BYTES, tag=0),
    ),
    flexible=0,
)
CLASSIC_MEMBER: Final = Message(
    "ClassicMemberMetadata",
    0,
    (
        Field("sessionTimeoutMs", Kind.INT32, kept=False),
        Field(
            "supportedProtocols",
            Kind.ARRAY,
            fields=(
                Field("name", Kind.TEXT, kept=False),
                Field("metadata", Kind.BYTES, kept=False),
            ),
        ),
    ),
    flexible=0,
)
"""A struct of `GROUP_MEMBER`, after the byte that says that it is not null."""
TARGET_EPOCH: Final = Message(
    "ConsumerGroupTargetAssignmentMetadataValue",
    0,
    (
        _VERSION,
        Field("assignmentEpoch", Kind.INT32),
        Field("assignmentTimestamp", Kind.INT64, default=0, tag=0),
    ),
    flexible=0,
)
_TOPIC_PARTITIONS: Final = (
    Field("topicId", Kind.UUID),
    Field("partitions", Kind.ARRAY, fields=(Field("", Kind.INT32),)),
    Field("assignmentEpochs", Kind.INT32S, kept=False, tag=0),
)
TARGET: Final = Message(
    "ConsumerGroupTargetAssignmentMemberValue",
    0,
    (_VERSION, Field("topicPartitions", Kind.ARRAY, fields=_TOPIC_PARTITIONS)),
    flexible=0,
)
CURRENT: Final = Message(
    "ConsumerGroupCurrentMemberAssignmentValue",
    0,
    (
        _VERSION,
        Field("memberEpoch", Kind.INT32),
        Field("previousMemberEpoch", Kind.INT32, kept=False),
        Field("state", Kind.INT8, kept=False),
        Field("assignedPartitions", Kind.ARRAY, fields=_TOPIC_PARTITIONS),
        Field("partitionsPendingRevocation", Kind.ARRAY, fields=_TOPIC_PARTITIONS),
    ),
    flexible=0,
)
REGULAR_EXPRESSION: Final = Message(
    "ConsumerGroupRegularExpressionValue",
    0,
    (
        _VERSION,
        Field("topics", Kind.ARRAY, fields=(Field("", Kind.TEXT),)),
        Field("version", Kind.INT64, kept=False),
        Field("timestamp", Kind.INT64, kept=False),
    ),
    flexible=0,
)
SUBJECT_KEY: Final = Message(
    "ConsumerGroupMemberMetadataKey",
    0,
    (_VERSION, _GROUP, Field("memberId", Kind.TEXT)),
)
"""Also the key of other records of a member, and of a regular expression."""

VALUES_BY_TYPE: Final = {
    3: GROUP_EPOCH,
    5: GROUP_MEMBER,
    6: TARGET_EPOCH,
    7: TARGET,
    8: CURRENT,
    16: REGULAR_EXPRESSION,
}
"""Values of the new protocol (KIP-848) by record type."""
