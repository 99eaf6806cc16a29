"""Write histories of groups of the new protocol as the coordinator does (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.cases import Case
from pipeline.history.stream import histories
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
    ConsumerGroupTombstone,
    TopicIdPartitions,
    TopicMetadata,
)
from pipeline.rows import QUARANTINED, Row, keyed, record_row
from pipeline.topic_ids import text_of_id
from tests.pipeline.groups import GROUP, START_MS
from tests.pipeline.local_reading import cases_of
from tests.pipeline.records.consumer_writers import AnyRecord as Written
from tests.pipeline.records.consumer_writers import written
from tests.support.wire import RecordBytes

Held = Mapping[str, Iterable[int]]
IDS = {topic: bytes(15) + topic.encode() for topic in "tuv"}
NAMES = {text_of_id(topic_id): topic for topic, topic_id in IDS.items()}


def by_id(held: Held) -> tuple[TopicIdPartitions, ...]:
    return tuple(
        TopicIdPartitions(topic_id=IDS[topic], partitions=tuple(numbers))
        for topic, numbers in held.items()
    )


def new_member(
    member_id: str,
    topics: Iterable[str] = ("t",),
    *,
    instance_id: str | None = None,
    regex: str | None = "",
    assignor: str | None = None,
    rack: str | None = None,
    classic: ClassicMemberMetadata | None = None,
) -> ConsumerGroupMemberMetadata:
    return ConsumerGroupMemberMetadata(
        group_id=GROUP,
        member_id=member_id,
        instance_id=instance_id,
        rack=rack,
        client_id=f"client of {member_id}",
        client_host="/127.0.0.1",
        topics=tuple(topics),
        regex=regex,
        rebalance_timeout=300_000,
        server_assignor=assignor,
        classic=classic,
    )


CLASSIC = ClassicMemberMetadata(session_timeout=45_000, protocols=(("range", b""),))


def epoch(number: int, *, metadata_hash: int = 7) -> ConsumerGroupMetadata:
    return ConsumerGroupMetadata(
        group_id=GROUP, epoch=number, metadata_hash=metadata_hash
    )


def target(member_id: str, held: Held) -> ConsumerGroupTargetAssignmentMember:
    return ConsumerGroupTargetAssignmentMember(
        group_id=GROUP, member_id=member_id, assigned=by_id(held)
    )


def complete(
    number: int, *, computed_at: int = START_MS
) -> ConsumerGroupTargetAssignmentMetadata:
    return ConsumerGroupTargetAssignmentMetadata(
        group_id=GROUP, epoch=number, computed_at=computed_at
    )


def has(
    member_id: str, held: Held, *, revoking: Held | None = None, number: int = 2
) -> ConsumerGroupCurrentMemberAssignment:
    return ConsumerGroupCurrentMemberAssignment(
        group_id=GROUP,
        member_id=member_id,
        epoch=number,
        previous_epoch=0,
        state=1 if revoking else 0,
        assigned=by_id(held),
        revoking=by_id(revoking or {}),
    )


def matches(regex: str, *topics: str) -> ConsumerGroupRegularExpression:
    return ConsumerGroupRegularExpression(
        group_id=GROUP, regex=regex, topics=topics, version=1, resolved_at=START_MS
    )


def sizes(**topics: int) -> ConsumerGroupPartitionMetadata:
    return ConsumerGroupPartitionMetadata(
        group_id=GROUP,
        topics=tuple(
            TopicMetadata(topic_id=IDS[topic], name=topic, partitions=count)
            for topic, count in topics.items()
        ),
    )


def tombstone(kind: type, subject: str | None = None) -> ConsumerGroupTombstone:
    return ConsumerGroupTombstone(kind=kind.__name__, group_id=GROUP, subject=subject)


def gone(member_id: str) -> list[ConsumerGroupRecord]:
    """Return the tombstones of a member, in the coordinator's order."""
    return [
        tombstone(ConsumerGroupCurrentMemberAssignment, member_id),
        tombstone(ConsumerGroupTargetAssignmentMember, member_id),
        tombstone(ConsumerGroupMemberMetadata, member_id),
    ]


def ended(*members: str) -> list[ConsumerGroupRecord]:
    """Return the tombstones of a whole group, in the coordinator's order."""
    return [
        *(
            tombstone(ConsumerGroupCurrentMemberAssignment, member)
            for member in members
        ),
        *(tombstone(ConsumerGroupTargetAssignmentMember, member) for member in members),
        tombstone(ConsumerGroupTargetAssignmentMetadata),
        *(tombstone(ConsumerGroupMemberMetadata, member) for member in members),
        tombstone(ConsumerGroupMetadata),
    ]


FIRST = (
    new_member("a"),
    epoch(2),
    target("a", {"t": [0, 1, 2, 3]}),
    complete(2),
    has("a", {"t": [0, 1, 2, 3]}),
)
"""A new group of Kafka 4.1 and later, with one member."""
JOIN = (
    new_member("b"),
    epoch(3),
    target("a", {"t": [0, 1]}),
    target("b", {"t": [2, 3]}),
    complete(3),
    has("b", {}, number=3),
)
"""A second member joins; the first one still has everything."""

AnyRecord = Written | RecordBytes


@dataclass
class Replayed:
    """A reconstructed case; topics by name."""

    cases: list[Case]
    quarantined: list[Row]


def rows_of(*records: AnyRecord) -> list[Row]:
    """Return rows, a second apart."""
    return [keyed(_row(offset, record)) for offset, record in enumerate(records)]


def rebuild(*records: AnyRecord) -> Replayed:
    """Reconstruct a group from records, a second apart."""
    return rebuild_rows(rows_of(*records))


def rebuild_rows(rows: list[Row]) -> Replayed:
    """Reconstruct a group from rows."""
    found = list(histories(rows))
    return Replayed(
        cases=cases_of(found, NAMES),
        quarantined=[row for row in found if row["what"] in QUARANTINED],
    )


def _row(offset: int, record: AnyRecord) -> Row:
    place = {"source_partition": 7, "source_offset": offset}
    place["at"] = START_MS + 1000 * offset
    key, value = written(record) if isinstance(record, Written) else record
    return record_row("s", place, key=key, value=value)
