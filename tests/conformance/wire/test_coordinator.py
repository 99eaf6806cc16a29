"""The coordinator's state, without a network."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from conformance.clients import Answer, Verdict
from conformance.wire import Dialect, WrittenAs
from conformance.wire import leader_coordinator as module
from conformance.wire.broker_messages import (
    API_VERSIONS,
    APIS,
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    METADATA,
    SYNC_GROUP,
)
from conformance.wire.catalog import Catalog
from conformance.wire.group_responses import REBALANCE_IN_PROGRESS
from conformance.wire.leader_coordinator import (
    GROUP_IS_FULL,
    INCONSISTENT_PROTOCOL,
    LeaderCoordinator,
    Lost,
)
from conformance.wire.leader_exchange import LeaderExchange, exchange_of
from rebalance import WireError, rebalance_of
from rebalance.protocol import Subscription, encode_subscription
from tests.conformance.wire.client import FakeLink, joining, request, syncing
from tests.support.shapes import rebalance

TOPIC = "w1-000000"
GROUP = rebalance(
    {"t": {"partitions": 2, "racks": [["a"], ["b", "a"]]}},
    {"m0": {"subscription": ["t"], "instance_id": "s"}, "m1": {"subscription": ["t"]}},
)
ALIVE = request(HEARTBEAT, 3, group_id="wire", generation_id=1, member_id="m0")
WHOLE = {"m0": {TOPIC: [0]}, "m1": {TOPIC: [1]}}


def exchange() -> LeaderExchange:
    return exchange_of(
        rebalance_of(GROUP),
        number=1,
        dialect=Dialect(),
        written=WrittenAs(protocol="range", version=3, base=0),
    )


def new(**settings: Any) -> tuple[LeaderCoordinator, FakeLink]:
    catalog = Catalog("127.0.0.1", 9092, flexible=settings.pop("flexible", False))
    return LeaderCoordinator(catalog, **{"rehearses": False} | settings), FakeLink()


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(**arguments: Any) -> None:
        asyncio.run(test(**arguments))

    return run


def metadata_of(*topics: str) -> bytes:
    one = APIS[METADATA].request.MetadataRequestTopic
    return request(METADATA, 8, topics=[one(version=8, name=t) for t in topics])


def state_of(coordinator: LeaderCoordinator) -> tuple[bool, bool]:
    return coordinator.is_rejoining, coordinator.has_left


def lead(coordinator: LeaderCoordinator, link: FakeLink) -> asyncio.Future[Answer]:
    coordinator.receive(link, joining())
    assert link.frames == []
    answer = coordinator.ask(exchange())
    led = link.take(JOIN_GROUP, 5)
    assert (led.error_code, led.leader, led.member_id) == (0, "m0", "m0")
    assert [m.member_id for m in led.members] == ["m0", "m1"]
    assert [m.group_instance_id for m in led.members] == ["s", None]
    assert led.protocol_name == "range"
    return answer


def sent(coordinator: LeaderCoordinator, link: FakeLink, frame: bytes) -> Any:
    """Return the response to a request, in its version."""
    coordinator.receive(link, frame)
    return link.take(*struct.unpack_from(">hh", frame))


def code(coordinator: LeaderCoordinator, link: FakeLink, frame: bytes) -> int:
    return int(sent(coordinator, link, frame).error_code)


def fetch(coordinator: LeaderCoordinator, link: FakeLink) -> Any:
    return sent(coordinator, link, metadata_of(TOPIC))


def rehearsed(
    **settings: Any,
) -> tuple[LeaderCoordinator, FakeLink, asyncio.Future[Answer]]:
    """Let a leader answer the first time, which does not count."""
    coordinator, link = new(rehearses=True, **settings)
    answer = lead(coordinator, link)
    fetch(coordinator, link)
    coordinator.receive(link, syncing({}))
    return coordinator, link, answer


@in_loop
async def test_one_instance_and_the_next() -> None:
    coordinator, link = new()
    for _ in range(2):
        answer = lead(coordinator, link)
        fetch(coordinator, link)
        assert code(coordinator, link, syncing(WHOLE)) == REBALANCE_IN_PROGRESS
        held = (await answer).assignment
        assert held is not None
        assert held.members == {"m0": {"t": [0]}, "m1": {"t": [1]}}


@in_loop
async def test_metadata_of_an_instance() -> None:
    coordinator, link = new()
    lead(coordinator, link)
    seen = fetch(coordinator, link)
    assert {(b.node_id, b.rack) for b in seen.brokers} == {
        (0, None),
        (1, "a"),
        (2, "b"),
    }
    (topic,) = seen.topics
    assert [p.replica_nodes for p in topic.partitions] == [[1], [2, 1]]
    coordinator.receive(link, metadata_of("t", "wire"))
    assert [t.error_code for t in link.take(METADATA, 8).topics] == [3, 0]
    coordinator.receive(link, request(METADATA, 8, topics=None))
    assert [t.name for t in link.take(METADATA, 8).topics] == [TOPIC]


@in_loop
async def test_an_answer_without_metadata_does_not_count() -> None:
    coordinator, link = new()
    answer = lead(coordinator, link)
    coordinator.receive(link, syncing({}))
    assert link.frames == []
    other = FakeLink()
    fetch(coordinator, other)
    assert link.take(SYNC_GROUP, 3).error_code == REBALANCE_IN_PROGRESS
    assert code(coordinator, link, joining()) == 0
    coordinator.receive(link, syncing(WHOLE))
    assert (await answer).verdict is Verdict.ANSWERED


@in_loop
async def test_a_leader_that_never_requests_metadata() -> None:
    hold, module.HOLD_SECONDS = module.HOLD_SECONDS, 0.01  # type: ignore[misc]
    try:
        coordinator, link = new(rehearses=True)
        answer = lead(coordinator, link)
        coordinator.receive(link, syncing({}))
        held = (await asyncio.wait_for(answer, 5)).assignment
    finally:
        module.HOLD_SECONDS = hold  # type: ignore[misc]
    assert held is not None
    assert held.members == {"m0": {}, "m1": {}}
    assert link.take(SYNC_GROUP, 3).error_code == REBALANCE_IN_PROGRESS


@in_loop
async def test_a_rehearsal() -> None:
    coordinator, link = new(rehearses=True)
    answer = lead(coordinator, link)
    fetch(coordinator, link)
    assert code(coordinator, link, syncing({})) == REBALANCE_IN_PROGRESS
    assert not answer.done()
    assert code(coordinator, link, joining()) == 0
    coordinator.receive(link, syncing(WHOLE))
    assert (await answer).assignment is not None


@in_loop
async def test_a_rehearsal_that_settles() -> None:
    coordinator, link = new(rehearses=True, settles=True)
    answer = lead(coordinator, link)
    fetch(coordinator, link)
    synced = sent(coordinator, link, syncing({}))
    assert (synced.error_code, len(synced.assignment)) == (0, 10)
    assert code(coordinator, link, ALIVE) == REBALANCE_IN_PROGRESS
    assert code(coordinator, link, joining()) == 0
    assert code(coordinator, link, ALIVE) == 0
    assert code(coordinator, link, syncing(WHOLE)) == 0
    assert (await answer).assignment is not None


@pytest.mark.parametrize("ends_first", [True, False])
@in_loop
async def test_a_leader_that_joins_again_over_a_new_connection(
    ends_first: bool,
) -> None:
    """As kafka-go does in each generation."""
    coordinator, link, answer = rehearsed()
    assert state_of(coordinator) == (True, False)
    other = FakeLink()
    if ends_first:
        coordinator.forget(link)
        assert state_of(coordinator) == (True, True)
    assert code(coordinator, other, joining()) == 0
    if not ends_first:
        coordinator.forget(link)
    assert state_of(coordinator) == (False, False)
    coordinator.receive(FakeLink(), joining())  # a second consumer
    coordinator.receive(other, syncing(WHOLE))
    assert (await answer).assignment is not None


@in_loop
async def test_a_connection_that_is_closed_during_a_rehearsal() -> None:
    coordinator, link, answer = rehearsed()
    coordinator.forget(link, "unreadable")
    with pytest.raises(Lost, match="unreadable"):
        await answer


@in_loop
async def test_a_consumer_that_gives_up_after_its_answer() -> None:
    coordinator, link = new()
    lead(coordinator, link)
    fetch(coordinator, link)
    coordinator.receive(link, syncing(WHOLE))
    seen = [coordinator.gave_up]
    coordinator.forget(link)
    seen.append(coordinator.gave_up)
    coordinator.receive(FakeLink(), joining())
    seen.append(coordinator.gave_up)
    assert seen == [False, True, False]


@in_loop
async def test_a_leader_that_joins_again_and_again() -> None:
    coordinator, link = new()
    answer = lead(coordinator, link)
    for _ in range(module.MOST_JOINS - 1):
        assert code(coordinator, link, joining()) == 0
    coordinator.receive(link, joining())
    assert (await answer).verdict is Verdict.ERROR
    assert (await answer).reason == "joined 3 times without an assignment"
    lead(coordinator, link)


@in_loop
async def test_a_lost_connection() -> None:
    coordinator, link = new()
    answer = lead(coordinator, link)
    coordinator.forget(link)
    with pytest.raises(Lost):
        await answer
    lead(coordinator, FakeLink())
    waiting, other = new()
    waiting.receive(other, joining())
    waiting.forget(other)
    assert waiting.waiting is None
    with pytest.raises(RuntimeError, match="no consumer"):
        waiting.ask(exchange())


@in_loop
async def test_a_leader_that_is_abandoned() -> None:
    coordinator, link = new()
    lead(coordinator, link)
    coordinator.abandon()
    assert link.is_closed
    assert code(coordinator, link, syncing(WHOLE)) == REBALANCE_IN_PROGRESS


@in_loop
async def test_a_generation_that_settles() -> None:
    coordinator, link = new(settles=True)
    answer = lead(coordinator, link)
    fetch(coordinator, link)
    assert code(coordinator, link, ALIVE) == 0
    synced = sent(coordinator, link, syncing(WHOLE))
    assert synced.error_code == 0
    assert bytes(synced.assignment) == b"\0\0\0\0\0\0\xff\xff\xff\xff"
    assert (await answer).assignment is not None
    assert code(coordinator, link, ALIVE) == REBALANCE_IN_PROGRESS


@in_loop
async def test_refusals() -> None:
    coordinator, link = new(assignor="sticky")
    assert code(coordinator, link, joining("range")) == INCONSISTENT_PROTOCOL
    assert coordinator.refused == "it offers range, not sticky"
    assert (
        code(coordinator, link, joining("sticky", kind="connect"))
        == INCONSISTENT_PROTOCOL
    )
    coordinator.receive(link, joining("sticky"))
    other = FakeLink()
    assert code(coordinator, other, joining("sticky")) == GROUP_IS_FULL
    coordinator.ask(exchange())
    link.frames.clear()
    assert code(coordinator, other, joining("sticky")) == GROUP_IS_FULL


@in_loop
async def test_subscriptions_of_consumers() -> None:
    coordinator, link = new()
    short = b"\0\1" + encode_subscription(Subscription(version=0, topics=("t",)))[2:]
    coordinator.receive(link, joining(metadata=short))
    waiting = coordinator.waiting
    assert waiting is not None
    assert (waiting.version, waiting.is_short) == (1, True)
    with pytest.raises(WireError) as refused:
        coordinator.receive(link, joining(metadata=short[:-1]))
    assert refused.value.reason == (
        "JoinGroup (API 11) version 5: subscription for 'range': "
        "at byte 9: user data: 4 bytes wanted, 3 left"
    )


@in_loop
async def test_versions_and_coordinator() -> None:
    coordinator, link = new()
    coordinator.receive(link, request(API_VERSIONS, 3))
    offered = {v.api_key: v.max_version for v in link.take(API_VERSIONS, 3).api_keys}
    assert offered == {key: api.plain for key, api in APIS.items()}
    unknown = bytearray(request(API_VERSIONS, 3))
    unknown[3] = 99
    coordinator.receive(link, bytes(unknown))
    assert link.take(API_VERSIONS, 0).error_code == 35
    newer, _ = new(flexible=True)
    newer.receive(link, request(API_VERSIONS, 3))
    offered = {v.api_key: v.max_version for v in link.take(API_VERSIONS, 3).api_keys}
    assert offered == {key: api.newest for key, api in APIS.items()}
    place = sent(coordinator, link, request(FIND_COORDINATOR, 2, key="wire"))
    assert (place.node_id, place.host, place.port) == (0, "127.0.0.1", 9092)
    (place,) = sent(
        coordinator, link, request(FIND_COORDINATOR, 4, coordinator_keys=["wire"])
    ).coordinators
    assert (place.key, place.port) == ("wire", 9092)
    assert code(coordinator, link, request(LEAVE_GROUP, 1, group_id="wire")) == 0
