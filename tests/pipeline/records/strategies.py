"""Random records of every version, with all fields of the version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from pipeline.records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRecord,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    GroupMember,
    GroupMetadata,
    OffsetCommit,
    TopicIdPartitions,
    TopicMetadata,
)
from rebalance.protocol import (
    COOPERATIVE_STICKY,
    STICKY,
    encode_assignment,
    encode_generation,
    encode_sticky_user_data,
    encode_subscription,
)
from tests.support.wire_strategies import (
    BYTES,
    INT32,
    INT64,
    TEXT,
    assignments,
    sticky_user_data,
    subscriptions,
)

T = TypeVar("T")
VERSIONS = st.integers(0, 4)
NEWER_TAGS = st.dictionaries(st.integers(2, 2**32 - 1), BYTES, max_size=2)
"""Tags that no reader knows; 0 and 1 have a meaning in some records."""
UNKNOWN_TAGS = st.dictionaries(st.integers(1, 2**32 - 1), BYTES, max_size=3)


@st.composite
def offset_commits(draw: st.DrawFn) -> OffsetCommit:
    version = draw(VERSIONS)
    topic_ids = st.none() | st.binary(min_size=16, max_size=16)
    return OffsetCommit(
        group_id=draw(TEXT),
        topic=draw(TEXT),
        partition=draw(INT32),
        version=version,
        offset=draw(INT64),
        leader_epoch=draw(INT32) if version >= 3 else -1,
        metadata=draw(TEXT | st.just("x" * 300)),
        commit_timestamp=draw(INT64),
        expire_timestamp=draw(INT64) if version == 1 else -1,
        topic_id=draw(topic_ids) if version >= 4 else None,
    )


@st.composite
def groups(draw: st.DrawFn) -> GroupMetadata:
    version = draw(VERSIONS)
    return GroupMetadata(
        group_id=draw(TEXT),
        version=version,
        protocol_type=draw(TEXT),
        generation=draw(INT32),
        protocol=draw(st.none() | TEXT),
        leader=draw(st.none() | TEXT),
        state_timestamp=draw(INT64) if version >= 2 else -1,
        members=tuple(draw(st.lists(_members(version), max_size=3))),
    )


def _members(version: int) -> st.SearchStrategy[GroupMember]:
    return st.builds(
        GroupMember,
        member_id=TEXT,
        group_instance_id=st.none() | TEXT if version >= 3 else st.none(),
        client_id=TEXT,
        client_host=TEXT,
        rebalance_timeout=INT32 if version >= 1 else st.just(-1),
        session_timeout=INT32,
        subscription=BYTES | st.just(bytes(200)),
        assignment=BYTES,
    )


def _tuples(items: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(items, max_size=3).map(tuple)


_TOPIC_IDS = st.binary(min_size=16, max_size=16)
_MAYBE = st.none() | TEXT
_ASSIGNED = _tuples(
    st.builds(
        TopicIdPartitions,
        topic_id=_TOPIC_IDS,
        partitions=_tuples(INT32),
        epochs=st.none() | _tuples(INT32),
    )
)
_TOPICS = st.builds(
    TopicMetadata,
    topic_id=_TOPIC_IDS,
    name=TEXT,
    partitions=INT32,
    racks=_tuples(st.tuples(INT32, _tuples(TEXT))),
)
_CLASSIC = st.builds(
    ClassicMemberMetadata,
    session_timeout=INT32,
    protocols=_tuples(st.tuples(TEXT, BYTES | st.just(bytes(200)))),
)


_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("group_id", "member_id", "client_id", "client_host"), TEXT),
    **dict.fromkeys(("instance_id", "rack", "regex", "server_assignor"), _MAYBE),
    **dict.fromkeys(("epoch", "previous_epoch", "rebalance_timeout"), INT32),
    **dict.fromkeys(("metadata_hash", "creation_time", "computed_at"), INT64),
    **dict.fromkeys(("version", "resolved_at"), INT64),
    **dict.fromkeys(("assigned", "revoking"), _ASSIGNED),
    "state": st.integers(-128, 127),
    "topics": _tuples(TEXT),
    "classic": st.none() | _CLASSIC,
}
"""Fields of the records of the new protocol, which have the same type in most."""


def _records_of(
    kind: type[ConsumerGroupRecord], **others: st.SearchStrategy[Any]
) -> st.SearchStrategy[ConsumerGroupRecord]:
    return st.builds(kind, **{name: (_FIELDS | others)[name] for name in kind._fields})


def consumer_records() -> st.SearchStrategy[ConsumerGroupRecord]:
    """Draw a record of the new protocol, of any kind."""
    return st.one_of(
        _records_of(ConsumerGroupMetadata),
        _records_of(ConsumerGroupPartitionMetadata, topics=_tuples(_TOPICS)),
        _records_of(ConsumerGroupMemberMetadata),
        _records_of(ConsumerGroupTargetAssignmentMetadata),
        _records_of(ConsumerGroupTargetAssignmentMember),
        _records_of(ConsumerGroupCurrentMemberAssignment),
        _records_of(ConsumerGroupRegularExpression, regex=TEXT),
    )


@st.composite
def consumer_groups(draw: st.DrawFn) -> GroupMetadata:
    """Draw a classic group whose members sent messages of the consumer protocol."""
    group = draw(groups())
    members = [
        member._replace(
            subscription=draw(_newer(_subscription_messages())),
            assignment=draw(
                st.just(b"") | _newer(assignments().map(encode_assignment))
            ),
        )
        for member in group.members
    ]
    return group._replace(
        protocol_type=draw(st.sampled_from(("consumer",) * 8 + ("", "connect"))),
        protocol=draw(st.sampled_from(_ASSIGNORS)),
        members=tuple(members),
    )


_ASSIGNORS = ("range", STICKY, STICKY, COOPERATIVE_STICKY, "stream", None)
_USER_DATA = (
    BYTES
    | sticky_user_data().map(encode_sticky_user_data)
    | INT32.map(encode_generation)
)


@st.composite
def _subscription_messages(draw: st.DrawFn) -> bytes:
    subscription = draw(subscriptions())
    if draw(st.booleans()):
        subscription = replace(subscription, user_data=draw(_USER_DATA))
    if subscription.version == 1 and draw(st.booleans()):
        subscription = replace(subscription, owned=(), is_short=True)
    return encode_subscription(subscription)


@st.composite
def _newer(draw: st.DrawFn, messages: st.SearchStrategy[bytes]) -> bytes:
    """Draw a message, which can have a newer version and bytes that no reader knows."""
    message = draw(messages)
    if message[:2] == b"\x00\x03" and draw(st.booleans()):
        return b"\x00\x04" + message[2:] + draw(BYTES)
    return message
