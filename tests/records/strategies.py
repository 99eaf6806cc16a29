"""Random records of every version, with all fields of the version."""

from __future__ import annotations

from hypothesis import strategies as st

from pipeline.records import GroupMember, GroupMetadata, OffsetCommit
from tests.wire_strategies import BYTES, INT32, INT64, TEXT

VERSIONS = st.integers(0, 4)
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
