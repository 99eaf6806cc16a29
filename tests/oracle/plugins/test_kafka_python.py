"""Our assignor in kafka-python's coordinator, without a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from unittest.mock import MagicMock

import pytest
from kafka.cluster import ClusterMetadata
from kafka.consumer.subscription_state import SubscriptionState
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaConfigurationError
from kafka.protocol.consumer import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment
from kafka.protocol.metadata import MetadataResponse

from oracle.plugins.kafka_python import KafkaPythonAssignor, assignor
from rebalance.protocol import decode_assignment, decode_subscription

Held = dict[str, list[int]]
GIVEN = "0000 00000001 000174 00000001 00000005 ffffffff"  # partition 5 of t
VERSION = 8  # of a metadata response


def cluster(count: int = 4) -> ClusterMetadata:
    """One topic, partitions in turn on a broker in rack r and one in rack s."""
    topic = MetadataResponse.MetadataResponseTopic
    brokers = [
        MetadataResponse.MetadataResponseBroker(node_id=n, host="h", port=n, rack=rack)
        for n, rack in enumerate(["r", "s"])
    ]
    partitions = [
        topic.MetadataResponsePartition(
            error_code=0,
            partition_index=n,
            leader_id=n % 2,
            leader_epoch=0,
            replica_nodes=[n % 2],
            isr_nodes=[n % 2],
            offline_replicas=[],
        )
        for n in range(count)
    ]
    user_data = MetadataResponse(
        version=VERSION,
        brokers=brokers,
        cluster_id="c",
        controller_id=0,
        topics=[
            topic(error_code=0, name="t", is_internal=False, partitions=partitions)
        ],
    )
    known = ClusterMetadata()
    known.update_metadata(
        MetadataResponse.decode(user_data.encode(version=VERSION), version=VERSION)
    )
    return known


class Consumer:
    """One member: the client's coordinator, and nothing behind it."""

    def __init__(
        self, *assignors: type[KafkaPythonAssignor], topics: str = "t"
    ) -> None:
        client = MagicMock()
        client._manager.cluster = cluster()
        self.subscription = SubscriptionState()
        self.subscription.subscribe(topics=topics.split())
        self.coordinator = ConsumerCoordinator(
            client,
            self.subscription,
            assignors=assignors,
            group_id="g",
            enable_auto_commit=False,
            api_version=(2, 8),
        )

    def joins(self) -> bytes:
        return bytes(self.coordinator.group_protocols()[0][1].encode())

    def leads(
        self, static: Mapping[str, str] | None = None, /, **joined: bytes
    ) -> dict[str, bytes]:
        members = [
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=member_id,
                group_instance_id=(static or {}).get(member_id),
                metadata=metadata,
            )
            for member_id, metadata in joined.items()
        ]
        (name, _) = self.coordinator.group_protocols()[0]
        given = self.coordinator._perform_assignment("a", name, members)
        return {member_id: assigned.encode() for member_id, assigned in given.items()}

    def is_given(self, data: bytes, generation: int) -> None:
        (name, _) = self.coordinator.group_protocols()[0]
        done = self.coordinator._on_join_complete_async(generation, "a", name, data)
        asyncio.run(done)


def held(data: bytes) -> Held:
    return {topic: list(ns) for topic, ns in decode_assignment(data).partitions}


def test_a_rebalance_and_another() -> None:
    ours = assignor("chain-sticky", name="sticky")
    a, b = Consumer(ours), Consumer(ours)
    alone = a.leads(a=a.joins())
    assert held(alone["a"]) == {"t": [0, 1, 2, 3]}
    a.is_given(alone["a"], 7)
    said = decode_subscription(a.joins())
    assert said.generation == 7
    numbers = "".join(f"{n:08x}" for n in range(4))
    user_data = f"00000001 000174 00000004 {numbers} 00000007"
    assert said.user_data == bytes.fromhex(user_data)
    assert decode_subscription(b.joins()).user_data is None  # it has its own memory
    both = a.leads(a=a.joins(), b=b.joins())
    assert sorted(held(both["a"])["t"] + held(both["b"])["t"]) == [0, 1, 2, 3]
    a.is_given(both["a"], 8)
    b.is_given(both["b"], 8)
    assert b.leads(b=b.joins(), a=a.joins()) == both  # nobody moves


def test_racks_are_known() -> None:
    near, far = (Consumer(assignor("range", rack=rack)) for rack in ("s", "r"))
    given = near.leads(a=near.joins(), b=far.joins())
    assert (held(given["a"]), held(given["b"])) == ({"t": [1, 3]}, {"t": [0, 2]})


def test_static_members_go_by_their_names() -> None:
    """``range`` has them first, in the order of ``group.instance.id`` (KIP-345)."""
    one = Consumer(assignor("range"))
    said = {"a": one.joins(), "b": one.joins(), "c": one.joins()}
    by_id = one.leads(**said)
    by_name = one.leads({"c": "1", "a": "2"}, **said)
    assert [held(by_id[m])["t"] for m in "abc"] == [[0, 1], [2], [3]]
    assert [held(by_name[m])["t"] for m in "cab"] == [[0, 1], [2], [3]]


def test_a_topic_that_is_not_known_yet() -> None:
    one = Consumer(assignor("oracle"), topics="t later")
    assert held(one.leads(a=one.joins())["a"]) == {"t": [0, 1, 2, 3]}


def test_what_kafka_python_itself_writes_is_understood() -> None:
    theirs, ours = StickyPartitionAssignor(), assignor("chain-sticky", name="sticky")
    assignment = ours().assign(cluster(), [])  # nobody: nothing
    assert assignment == {}
    leader = Consumer(ours)
    given = leader.leads(a=leader.joins())["a"]
    theirs.on_assignment(_decoded(given), 3)
    said = theirs.metadata({"t"}).encode()
    both = leader.leads(a=leader.joins(), b=said)
    kept = held(both["b"])["t"]
    assert len(kept) == 2
    theirs.on_assignment(_decoded(both["b"]), 4)
    again = leader.leads(b=theirs.metadata({"t"}).encode(), a=leader.joins())
    assert held(again["b"])["t"] == kept


def test_kafka_pythons_sticky_reads_its_own_user_data() -> None:
    """Stated in docs/plugins.md; if this fails, the client now reads Java's form."""
    ours = assignor("chain-sticky", name="sticky")()
    ours.on_assignment(_decoded(bytes.fromhex(GIVEN)), 3)
    read = StickyPartitionAssignor.parse_member_metadata(ours.metadata({"t"}))
    assert read.partitions == []


def test_kafka_pythons_own_cooperative_reads_ours() -> None:
    ours = assignor("chain-sticky", name="cooperative-sticky")()
    ours.on_assignment(_decoded(bytes.fromhex(GIVEN)), 3)
    read = CooperativeStickyAssignor.parse_member_metadata(ours.metadata({"t"}))
    assert (read.partitions, read.generation) == ([("t", 5)], 3)


def _decoded(data: bytes) -> Any:
    return ConsumerProtocolAssignment.decode(data)


def test_cooperative_or_eager_is_reported_to_the_client() -> None:
    cooperative = assignor("chain-sticky", name="cooperative-sticky")
    assert Consumer(cooperative).joins()[:2] == b"\0\3"
    with pytest.raises(KafkaConfigurationError, match="EAGER and COOPERATIVE"):
        Consumer(cooperative, RangePartitionAssignor)
    Consumer(assignor("chain-sticky"), RangePartitionAssignor)
    Consumer(assignor("chain-sticky", cooperative=True), cooperative)
    with pytest.raises(ValueError, match="sticky is eager in every client"):
        assignor("sticky", cooperative=True)


def test_cooperative_claims_are_in_their_field() -> None:
    one = Consumer(assignor("chain-sticky", name="cooperative-sticky"))
    one.is_given(one.leads(a=one.joins())["a"], 5)
    said = decode_subscription(one.joins())
    assert (said.owned, said.generation) == ((("t", (0, 1, 2, 3)),), 5)
    assert said.user_data == b"\0\0\0\5"


def test_one_list_for_two_consumers() -> None:
    ours = [assignor("oracle")]
    a, b = Consumer(*ours), Consumer(*ours)
    a.is_given(a.leads(a=a.joins())["a"], 1)
    assert decode_subscription(b.joins()).user_data is None
