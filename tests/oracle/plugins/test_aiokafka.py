"""Our assignor in aiokafka's coordinator, without a broker."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock

import pytest
from aiokafka.cluster import ClusterMetadata
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
    StickyPartitionAssignor,
)
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka.protocol.metadata import MetadataResponse_v1

from oracle.plugins import Memory, Mode
from oracle.plugins.aiokafka import AiokafkaAssignor, assignor
from rebalance.protocol import (
    decode_assignment,
    decode_sticky_user_data,
    decode_subscription,
    encode_subscription,
)


def cluster() -> ClusterMetadata:
    partitions = [(0, n, 0, [0], [0]) for n in range(4)]
    known = ClusterMetadata()
    known.update_metadata(
        MetadataResponse_v1([(0, "h", 1, "r")], 0, [(0, "t", False, partitions)])
    )
    return known


def leads(assignor: AiokafkaAssignor, **joined: bytes) -> dict[str, list[int]]:
    """Let the client's coordinator decode, call the assignor, and encode."""
    coordinator = GroupCoordinator.__new__(GroupCoordinator)
    coordinator._assignors = [assignor]
    coordinator._subscription = MagicMock()
    coordinator._client = MagicMock(_maybe_wait_metadata=AsyncMock())
    coordinator._cluster = cluster()
    coordinator._get_metadata_snapshot = dict
    coordinator.group_id = "g"
    members = [(member_id, None, data) for member_id, data in joined.items()]
    response = SimpleNamespace(
        API_VERSION=5, group_protocol=assignor.name, members=members
    )
    given = asyncio.run(coordinator._perform_assignment(response))
    return {
        member_id: [
            n for _, ns in decode_assignment(data.encode()).partitions for n in ns
        ]
        for member_id, data in given.items()
    }


def joins(assignor: AiokafkaAssignor) -> bytes:
    return bytes(assignor.metadata({"t"}).encode())


def is_given(assignor: AiokafkaAssignor, *numbers: int) -> None:
    assignor.on_assignment(
        ConsumerProtocolMemberAssignment(0, [("t", list(numbers))], b"")
    )


def test_a_rebalance_and_another() -> None:
    a, b = assignor("oracle", name="sticky"), assignor("oracle", name="sticky")
    assert leads(a, a=joins(a)) == {"a": [0, 1, 2, 3]}
    is_given(a, 0, 1, 2, 3)
    both = leads(a, a=joins(a), b=joins(b))
    assert sorted(both["a"] + both["b"]) == [0, 1, 2, 3]
    is_given(a, *both["b"])  # the other way round, so that nothing is by chance
    is_given(b, *both["a"])
    assert leads(b, a=joins(a), b=joins(b)) == {"a": both["b"], "b": both["a"]}


def test_claims_without_a_generation_are_kip_54s() -> None:
    one = assignor("chain-sticky")
    is_given(one, 2)
    said = decode_subscription(joins(one))
    assert said.user_data == bytes.fromhex("00000001 000174 00000001 00000002")
    assert said.generation == -1


def test_generations_of_the_consumer_that_is_followed() -> None:
    one = assignor("chain-sticky")
    one.follow(SimpleNamespace(_coordinator=SimpleNamespace(generation=6)))
    is_given(one, 2)
    said = decode_subscription(joins(one))
    assert said.generation == 6
    assert decode_sticky_user_data(said.user_data or b"").generation == 6


@pytest.mark.parametrize("consumer", [None, 3, SimpleNamespace(_coordinator=None)])
def test_a_consumer_without_a_generation(consumer: object) -> None:
    one = assignor("chain-sticky")
    one.follow(consumer)
    is_given(one, 2)
    assert decode_subscription(joins(one)).generation == -1


def test_the_newer_of_two_claims_counts() -> None:
    old, new = Memory(), Memory()
    old.remember([("t", n) for n in (0, 1)], 3)
    new.remember([("t", n) for n in (0, 1, 2)], 4)
    said = [
        encode_subscription(memory.subscription(["t"], mode=Mode.EAGER))
        for memory in (old, new)
    ]
    leader = assignor("fairest-sticky")
    given = leads(leader, a=said[0], b=said[1])
    assert {0, 1} <= set(given["b"])


def test_what_aiokafka_itself_writes_is_understood() -> None:
    theirs, leader = StickyPartitionAssignor(), assignor("chain-sticky", name="sticky")
    said = theirs._metadata(["t"], [SimpleNamespace(topic="t", partition=3)], 5)
    given = leads(leader, a=said.encode(), b=joins(leader))
    assert 3 in given["a"]


@pytest.mark.parametrize(("generation", "count"), [(-1, 0), (6, 1)])
def test_aiokafkas_own_reads_ours_with_a_generation(
    generation: int, count: int
) -> None:
    """Stated in docs/plugins.md; if this fails, the client now reads version 0."""
    one = assignor("chain-sticky", name="sticky")
    one.follow(SimpleNamespace(_coordinator=SimpleNamespace(generation=generation)))
    is_given(one, 2)
    said = ConsumerProtocolMemberMetadata.decode(joins(one))
    read = StickyPartitionAssignor.parse_member_metadata(said)
    assert (len(read.partitions), read.generation) == (count, generation)


def test_the_client_is_eager() -> None:
    with pytest.raises(ValueError, match="cooperative in every client, not eager"):
        assignor("chain-sticky", name="cooperative-sticky")


def test_a_rack_is_sent_to_other_leaders() -> None:
    assert decode_subscription(joins(assignor("range", rack="r"))).rack == "r"
