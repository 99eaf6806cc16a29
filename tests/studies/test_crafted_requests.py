"""Requests of crafted members, of a leader that hands out claims, and of a barrier."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import closing
from threading import Thread
from typing import Any

import pytest

from conformance.wire import DIALECTS
from conformance.wire.broker_messages import (
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
    Request,
    decode_request,
    encode_response,
)
from rebalance import OutsideError
from rebalance.protocol import (
    MemberAssignment,
    Partitions,
    decode_assignment,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
)
from studies.confirmation.crafted_member import (
    CraftedClaims,
    CraftedMember,
    CraftedSubscription,
)
from studies.confirmation.group_connection import (
    MEMBER_ID_REQUIRED,
    REBALANCE_IN_PROGRESS,
    GroupConnection,
    JoinedGroup,
)
from studies.confirmation.handing_leader import UUID_LENGTH, HandingLeader
from studies.confirmation.join_barrier import JoinBarrier


@pytest.mark.parametrize("client", sorted(DIALECTS))
@pytest.mark.parametrize("protocol", ["sticky", "cooperative-sticky"])
def test_a_crafted_member_claims_in_the_words_of_its_client(
    client: str, protocol: str
) -> None:
    claims = (("x-0", (0, 1)), ("x-1", (0,)))
    dialect = DIALECTS[client]
    written = CraftedSubscription(dialect=dialect, protocol=protocol, version=3)
    data = written.write(["x-0", "x-1"], CraftedClaims(partitions=claims, generation=7))
    read = decode_subscription(data)
    assert read.topics == ("x-0", "x-1")
    if protocol == "sticky":
        assert read.owned == ()
        assert read.user_data is not None
        assert decode_sticky_user_data(read.user_data).partitions == claims
    else:
        assert read.owned == claims
    assert read.generation == (7 if dialect.states_generation else -1)


class FakeConnection(GroupConnection):
    """A connection to a group that others join, one with each rebalance."""

    def __init__(self, *others: str) -> None:
        self.member_id = member_id("hands-out")
        self.given: list[dict[str, Partitions]] = []
        self.has_left = False
        self._others, self._generation = others, 0

    def join(self, metadata: bytes) -> JoinedGroup:
        self._generation += 1
        names = ("hands-out", *self._others[: self._generation - 1])
        return JoinedGroup(
            generation=self._generation,
            is_leader=True,
            members={member_id(name): metadata for name in names},
        )

    def sync(self, generation: int, assignments: Any = ()) -> bytes | None:
        if generation == 2:
            return None  # a rebalance began meanwhile
        given = {
            member[: -UUID_LENGTH - 1]: decode_assignment(data).partitions
            for member, data in assignments
        }
        self.given.append(given)
        return b"assignment"

    def is_rebalancing(self, generation: int) -> bool:
        return generation <= len(self._others)

    def leave(self) -> None:
        self.has_left = True

    def close(self) -> None:
        pass


def member_id(name: str) -> str:
    return f"{name}-{'0' * UUID_LENGTH}"


def test_a_leader_hands_out_claims() -> None:
    connection = FakeConnection("a", "b", "c")
    claims: dict[str, Partitions] = {"b": (("t", (0, 2)),), "c": ()}
    leader = HandingLeader(connection, claims, least_generation=6)
    handed = leader.wait_until_handed_out(20)
    assert handed.generation == 6
    assert set(handed.metadata) == {"hands-out", "a", "b", "c"}
    assert connection.given[0] == {"hands-out": ()}
    assert connection.given[-1] == {"hands-out": (), "a": (), **claims}
    leader.leave()
    assert connection.has_left


def test_a_member_that_does_not_join_is_missed() -> None:
    leader = HandingLeader(FakeConnection("a"), {"b": ()})
    with pytest.raises(OutsideError, match="not handed out"):
        leader.wait_until_handed_out(0.5)
    leader.end()


class FakeCoordinator:
    """A coordinator in a thread, for one connection and one member."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []
        self.not_ready: list[int] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection, connection.makefile("rb") as stream:
            while head := stream.read(4):
                frame = stream.read(struct.unpack(">i", head)[0])
                request = decode_request(frame)
                who = getattr(request.body, "member_id", "")
                self.seen.append((request.key, who))
                connection.sendall(encode_response(request, **self._fields(request)))
        self._server.close()

    def _fields(self, request: Request) -> dict[str, Any]:
        if request.key == HEARTBEAT and self.not_ready:
            return {"error_code": self.not_ready.pop()}
        if request.key == JOIN_GROUP and not request.body.member_id:
            assert request.body.protocols[0].name == "sticky"
            return {"error_code": MEMBER_ID_REQUIRED, "member_id": "a-1"}
        if request.key == JOIN_GROUP:
            return {"generation_id": 4, "leader": "b-2", "member_id": "a-1"}
        if request.key == SYNC_GROUP:
            data = encode_assignment(MemberAssignment(version=1, partitions=HELD))
            return {"assignment": data}
        is_late = request.key == HEARTBEAT and len(self.seen) > 5
        return {"error_code": REBALANCE_IN_PROGRESS if is_late else 0}

    def close(self) -> None:
        self._thread.join(10)


HELD: Partitions = (("t", (0, 1)),)


def connected(coordinator: FakeCoordinator) -> GroupConnection:
    return GroupConnection(
        coordinator.address, "g", "a", "sticky", session_ms=1_000, join_ms=1_000
    )


def test_a_barrier_never_joins() -> None:
    coordinator = FakeCoordinator()
    barrier = JoinBarrier(connected(coordinator))
    barrier.open()
    barrier.end()
    coordinator.close()
    assert coordinator.seen == [(JOIN_GROUP, ""), (LEAVE_GROUP, "a-1")]


def test_a_group_is_ready_when_its_coordinator_answers() -> None:
    """A coordinator that is not there or loads is asked for again."""
    coordinator = FakeCoordinator()
    coordinator.not_ready = [14, 16, 15]
    with closing(connected(coordinator)) as connection:
        connection.wait_until_ready()
    coordinator.close()
    assert [key for key, _ in coordinator.seen] == [FIND_COORDINATOR, HEARTBEAT] * 4


def test_a_group_without_a_coordinator_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = "studies.confirmation.group_connection.READY_SECONDS"
    monkeypatch.setattr(module, 0.5)
    coordinator = FakeCoordinator()
    coordinator.not_ready = [15] * 100
    with (
        closing(connected(coordinator)) as connection,
        pytest.raises(OutsideError, match="no coordinator in"),
    ):
        connection.wait_until_ready()
    coordinator.close()


def test_a_crafted_member_joins_with_its_id_and_follows() -> None:
    coordinator = FakeCoordinator()
    written = CraftedSubscription(dialect=DIALECTS["librdkafka"], protocol="sticky")
    member = CraftedMember(connected(coordinator), written, ["t"])
    deadline = time.monotonic() + 20
    while len(coordinator.seen) < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    member.end()
    coordinator.close()
    keys = [key for key, _ in coordinator.seen[:8]]
    assert keys[:4] == [JOIN_GROUP, JOIN_GROUP, SYNC_GROUP, HEARTBEAT]
    assert keys[4:] == [HEARTBEAT, HEARTBEAT, JOIN_GROUP, SYNC_GROUP]
    assert {who for _, who in coordinator.seen[1:]} == {"a-1"}
