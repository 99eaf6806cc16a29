"""Output of ``kafka-dump-log`` by the real tool."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from conformance.broker import Broker, dump_log
from pipeline.records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRecord,
    ConsumerGroupTargetAssignmentMember,
    GroupMetadata,
    OffsetCommit,
    Record,
    decode_record,
)
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    encode_assignment,
    encode_subscription,
)
from tests.pipeline.dumped_groups import fill, segment_of
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_dump_log import (
    damage,
    read_text,
    records,
    without_epochs,
)
from tests.pipeline.test_log_segments import NAME, batch, segment
from tests.records.consumer_writers import consumer_key, consumer_value
from tests.records.strategies import consumer_records, groups, offset_commits
from tests.records.writers import group_key, group_value, offset_key, offset_value
from tests.wire_strategies import assignments, subscriptions

pytestmark = pytest.mark.heavy

NOTHING = ClassicMemberMetadata(session_timeout=0, protocols=())


def test_the_real_tool_on_a_real_segment(broker: Broker, tmp_path: Path) -> None:
    """It also has the records of other tests' groups."""
    fill(broker, "dumped-")
    place = segment_of(broker).parent.name
    (tmp_path / place).mkdir()
    segments = [tmp_path / place / NAME]
    shutil.copy(segment_of(broker), segments[0])
    theirs = records(read_path(segments[0]))
    printed = read_text(dump_log(segments))
    lossy = read_text(dump_log(segments, encoding="US-ASCII"))
    assert records(printed) == theirs
    assert damage(printed) == []
    kinds = {type(decode_record(row["key"], row["value"])) for row in theirs}
    assert {OffsetCommit, GroupMetadata, ConsumerGroupMemberMetadata} <= kinds
    # Names that an encoding cannot express are not read as others.
    groups_read = {decode_record(row["key"], None).group_id for row in theirs}
    assert {"dumped-klassisch-ü", "dumped-java", "dumped-next"} <= groups_read
    plain = [row for row in theirs if "ü".encode() not in row["key"]]
    assert records(lossy) == plain
    assert len(damage(lossy)) == len(theirs) - len(plain) > 0
    assert all("in a locale of UTF-8" in one[1] for one in damage(lossy))


def test_the_real_tool_on_random_records(tmp_path: Path) -> None:
    """What Kafka prints of records that no broker here writes."""
    drawn: list[tuple[bytes, bytes | None]] = []

    @given(
        offset_commits(), groups(), consumer_records(), subscriptions(), assignments()
    )
    def draw(
        commit: OffsetCommit,
        group: GroupMetadata,
        record: ConsumerGroupRecord,
        subscription: Subscription,
        assignment: MemberAssignment,
    ) -> None:
        members = replace(
            group,
            protocol_type="consumer",
            members=tuple(
                replace(
                    member,
                    subscription=encode_subscription(subscription),
                    assignment=encode_assignment(assignment),
                )
                for member in group.members
            ),
        )
        drawn.extend(
            (
                (offset_key(commit), offset_value(commit)),
                (group_key(group.group_id), group_value(group)),
                (group_key(members.group_id), group_value(members)),
                (consumer_key(record), consumer_value(as_in_kafka(record))),
            )
        )

    draw()
    parts = [
        {
            "key": key.hex(),
            "value": None if value is None else value.hex(),
            "timestamp": 1,
            "offset": offset,
        }
        for offset, (key, value) in enumerate(drawn)
    ]
    path = segment(tmp_path, b"".join(batch([part]) for part in parts))
    rows = read_text(dump_log([path]))
    assert damage(rows) == []
    assert len(records(rows)) == len(drawn) > 100
    for row, (key, value) in zip(records(rows), drawn, strict=True):
        ours = decode_record(row["key"], row["value"])
        theirs = decode_record(key, value)
        assert as_printed(ours) == as_printed(theirs)


def as_in_kafka(record: ConsumerGroupRecord) -> ConsumerGroupRecord:
    """Leave out the tags that the tool, Kafka 4.3.1, does not know."""
    if isinstance(record, ConsumerGroupMetadata):
        return replace(record, creation_time=-1)
    if isinstance(record, ConsumerGroupTargetAssignmentMember):
        return replace(record, assigned=without_epochs(record.assigned))
    if isinstance(record, ConsumerGroupCurrentMemberAssignment):
        assigned, revoking = map(without_epochs, (record.assigned, record.revoking))
        return replace(record, assigned=assigned, revoking=revoking)
    return record


def as_printed(record: Record) -> Record:
    """Leave out what is not printed: the version of each assignment, a topic id of
    zeros, which is the default, and means none, and classic metadata without content.
    """
    if isinstance(record, ConsumerGroupMemberMetadata) and record.classic == NOTHING:
        return replace(record, classic=None)
    if isinstance(record, OffsetCommit) and record.topic_id == bytes(16):
        return replace(record, topic_id=None)
    if not isinstance(record, GroupMetadata) or record.protocol_type != "consumer":
        return record
    members = (
        replace(member, assignment=member.assignment[2:]) for member in record.members
    )
    return replace(record, members=tuple(members))
