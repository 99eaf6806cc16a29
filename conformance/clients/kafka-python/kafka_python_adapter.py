"""The assignors of kafka-python 2 and 3, called as the leader of a group calls them.

In version 3, each consumer has assignor objects, and the leader passes its members as
they joined. Version 2.1 and later pass subscriptions with the names of static members,
2.0 without; both have classes with a state in the class.
"""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from typing import Any, Final

import kafka
from adapter_lines import Held, JoinedMember, LeaderCluster, serve
from eager_classes import held_partitions, sent_metadata
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

ASSIGNORS: Final[dict[str, Any]] = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}
MAJOR: Final = int(kafka.__version__.split(".", maxsplit=1)[0])


def main() -> None:
    """Serve the assignor that the first argument names."""
    logging.disable(logging.CRITICAL)
    name = sys.argv[1]
    made = _with_objects(name) if MAJOR >= 3 else _with_classes(ASSIGNORS[name])
    serve(name, made)


def _with_objects(name: str) -> Any:
    from kafka.coordinator.assignors.cooperative_sticky import (  # noqa: PLC0415
        CooperativeStickyAssignor,
    )
    from kafka.protocol.consumer.metadata import (  # noqa: PLC0415
        ConsumerProtocolAssignment,
        ConsumerProtocolSubscription,
    )

    assignor = (ASSIGNORS | {"cooperative-sticky": CooperativeStickyAssignor})[name]

    def sent(member: JoinedMember) -> bytes:
        own = assignor()
        if member.has_joined_before:
            last = ConsumerProtocolAssignment(0, member.owned_by_topic, b"")
            own.on_assignment(last, member.generation)
        encoded: bytes = own.metadata(set(member.subscription)).encode()
        return encoded

    def assign(cluster: LeaderCluster, members: list[JoinedMember]) -> Held:
        joined = [
            SimpleNamespace(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=ConsumerProtocolSubscription.decode(sent(member)),
            )
            for member in members
        ]
        held: Held = {}
        for member_id, given in assignor().assign(cluster, joined).items():
            held[member_id] = {}
            for partition in given.partitions():
                topic = held[member_id].setdefault(partition.topic, [])
                topic.append(partition.partition)
        return held

    return assign


def _with_classes(assignor: Any) -> Any:
    from kafka.coordinator.protocol import ConsumerProtocol  # noqa: PLC0415

    try:
        from kafka.coordinator.subscription import Subscription  # noqa: PLC0415
    except ImportError:  # before 2.1
        Subscription = None  # noqa: N806  # a class of the client
    protocol = ConsumerProtocol if Subscription is None else ConsumerProtocol[0]

    def read(member: JoinedMember) -> Any:
        data = sent_metadata(
            assignor, member, protocol.ASSIGNMENT, passes_generation=True
        )
        metadata = protocol.METADATA.decode(data)
        return Subscription(metadata, member.instance_id) if Subscription else metadata

    def assign(cluster: LeaderCluster, members: list[JoinedMember]) -> Held:
        joined = {member.member_id: read(member) for member in members}
        return held_partitions(assignor.assign(cluster, joined))

    return assign


if __name__ == "__main__":
    main()
