"""Write histories of groups as the broker does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.cases import Case
from pipeline.history.reconstruct import GroupHistory
from pipeline.records import (
    GroupMember,
    GroupMetadata,
    OffsetCommit,
)
from pipeline.records.place import Place
from rebalance.protocol import (
    MemberAssignment,
    Partitions,
    StickyUserData,
    Subscription,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)
from tests.pipeline.records.consumer_writers import AnyRecord, written

Held = Mapping[str, Iterable[int]]
GROUP = "orders"
START_MS = 1_700_000_000_000


def partitions(held: Held) -> Partitions:
    return tuple((topic, tuple(numbers)) for topic, numbers in held.items())


def member(
    member_id: str,
    topics: Iterable[str],
    assigned: Held,
    *,
    owns: Held | None = None,
    generation: int = -1,
    sticky: bool = False,
    instance_id: str | None = None,
) -> GroupMember:
    """Return a member; ``owns`` is its claim, in sticky's user data if ``sticky``."""
    claim = partitions(owns or {})
    user_data = None
    if sticky and owns is not None:
        said = StickyUserData(version=1, partitions=claim, generation=generation)
        user_data = encode_sticky_user_data(said)
    subscription = Subscription(
        version=3,
        topics=tuple(topics),
        user_data=user_data,
        owned=() if sticky else claim,
        generation=generation,
    )
    given = MemberAssignment(version=3, partitions=partitions(assigned))
    return GroupMember(
        member_id=member_id,
        group_instance_id=instance_id,
        client_id=f"client of {member_id}",
        client_host="/127.0.0.1",
        rebalance_timeout=60_000,
        session_timeout=10_000,
        subscription=encode_subscription(subscription),
        assignment=encode_assignment(given),
    )


def group(
    generation: int,
    *members: GroupMember,
    assignor: str | None = "range",
    protocol_type: str = "consumer",
    group_id: str = GROUP,
) -> GroupMetadata:
    return GroupMetadata(
        group_id=group_id,
        version=3,
        protocol_type=protocol_type,
        generation=generation,
        protocol=assignor if members else None,
        leader=members[0].member_id if members else None,
        state_timestamp=0,
        members=members,
    )


def commit(
    topic: str, partition: int, offset: int, *, group_id: str = GROUP
) -> OffsetCommit:
    return OffsetCommit(
        group_id=group_id,
        topic=topic,
        partition=partition,
        version=3,
        offset=offset,
        commit_timestamp=START_MS,
    )


@dataclass
class Log:
    """Records of one partition of ``__consumer_offsets``, a second apart.

    ``ahead`` is what waiting has added to the time, in milliseconds.
    """

    partition: int = 0
    ahead: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)

    def wait(self, milliseconds: int) -> Log:
        """Let time pass; it goes back if negative."""
        self.ahead += milliseconds
        return self

    def add(self, *records: AnyRecord) -> Log:
        for record in records:
            self.put(*written(record))
        return self

    def put(self, key: bytes, value: bytes | None) -> Log:
        offset = len(self.records)
        self.records.append(
            {
                "topic": "__consumer_offsets",
                "partition": self.partition,
                "offset": offset,
                "timestamp": START_MS + 1000 * offset + self.ahead,
                "key": key.hex(),
                "value": None if value is None else value.hex(),
            }
        )
        return self


def replay(*records: GroupMetadata | OffsetCommit) -> list[Case]:
    """Feed records to a history, a second apart."""
    return list(_replay(records))


def _replay(records: Iterable[GroupMetadata | OffsetCommit]) -> Iterator[Case]:
    history = GroupHistory(GROUP)
    for offset, record in enumerate(records):
        if isinstance(record, OffsetCommit):
            history.commit(record)
        else:
            place = Place(
                source="s", partition=7, offset=offset, at=START_MS + 1000 * offset
            )
            yield from history.metadata(record, place)
    yield from history.finish()
