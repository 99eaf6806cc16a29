"""Every record of both recordings decodes; counts per kind are pinned."""

from __future__ import annotations

from collections import Counter

from pipeline.records import GroupMetadata, OffsetCommit, SetAside, decode_record
from tests.wire import RecordBytes, churn, first_look


def census(records: tuple[RecordBytes, ...]) -> dict[str, int]:
    """Count records by what they are; set-aside ones by Kafka's name."""
    found: Counter[str] = Counter()
    for key, value in records:
        record = decode_record(key, value)
        name = record.kind if isinstance(record, SetAside) else type(record).__name__
        found[name] += 1
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
