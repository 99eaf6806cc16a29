"""Every record of both recordings decodes; counts per kind are pinned."""

from __future__ import annotations

from collections import Counter

from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTombstone,
    GroupMetadata,
    OffsetCommit,
    decode_record,
)
from tests.support.wire import RecordBytes, churn, first_look


def census(records: tuple[RecordBytes, ...]) -> dict[str, int]:
    """Count records by what they are; tombstones of new groups by Kafka's name."""
    found: Counter[str] = Counter()
    for key, value in records:
        record = decode_record(key, value)
        if isinstance(record, ConsumerGroupTombstone):
            found[record.kind] += 1
        else:
            found[type(record).__name__] += 1
    return dict(found)


def test_churn() -> None:
    assert census(churn()) == {
        "OffsetCommit": 6060,
        "GroupMetadata": 559,
        "ConsumerGroupMetadata": 136,
        "ConsumerGroupMemberMetadata": 88 + 59,
        "ConsumerGroupTargetAssignmentMetadata": 128,
        "ConsumerGroupTargetAssignmentMember": 516 + 59,
        "ConsumerGroupCurrentMemberAssignment": 1112 + 59,
        "ConsumerGroupRegularExpression": 2 + 2,
    }
    assert len(churn()) == 8780


def test_first_look() -> None:
    assert census(first_look()) == {
        "OffsetCommit": 1830,
        "OffsetTombstone": 1,
        "GroupMetadata": 85,
        "GroupTombstone": 15,
        "ConsumerGroupMetadata": 12,
        "ConsumerGroupMemberMetadata": 6 + 6,
        "ConsumerGroupTargetAssignmentMetadata": 5,
        "ConsumerGroupTargetAssignmentMember": 8 + 6,
        "ConsumerGroupCurrentMemberAssignment": 19 + 6,
        "ConsumerGroupRegularExpression": 2 + 1,
    }
    assert len(first_look()) == 2002


def test_what_the_broker_wrote() -> None:
    """Kafka 4.3.1: commits in version 4 with the topic's id, groups in version 3."""
    records = [decode_record(key, value) for key, value in churn() + first_look()]
    commits = [r for r in records if isinstance(r, OffsetCommit)]
    assert {(c.version, len(c.topic_id or b"")) for c in commits} == {(4, 16)}
    groups = [r for r in records if isinstance(r, GroupMetadata)]
    assert {g.version for g in groups} == {3}
    assert {g.protocol_type for g in groups} == {"", "consumer"}
    assert any(m.group_instance_id for g in groups for m in g.members)


def test_what_the_broker_wrote_of_new_groups() -> None:
    """Kafka 4.3.1: a hash of the topics, the time of each target, no classic member."""
    records = [decode_record(key, value) for key, value in churn() + first_look()]
    groups = [r for r in records if isinstance(r, ConsumerGroupMetadata)]
    assert min(g.epoch for g in groups) == 2
    assert sum(g.metadata_hash == 0 for g in groups) == 3  # groups without members
    targets = [
        r for r in records if isinstance(r, ConsumerGroupTargetAssignmentMetadata)
    ]
    assert min(t.computed_at for t in targets) > 1_795_000_000_000
    members = [r for r in records if isinstance(r, ConsumerGroupMemberMetadata)]
    assert {m.server_assignor for m in members} == {None, "range"}
    assert {m.regex for m in members} == {"", r"(^feed\..*)", "(^orders.*)"}
    assert {m.classic for m in members} == {None}
    present = [
        r for r in records if isinstance(r, ConsumerGroupCurrentMemberAssignment)
    ]
    assert {p.state for p in present} == {0, 1, 2}
