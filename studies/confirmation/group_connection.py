"""A connection that sends one crafted member's requests to a group's coordinator.

The messages are kafka-python's classes. The broker has one node, so that every
connection reaches the coordinator.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.wire.broker_messages import (
    APIS,
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
)
from rebalance import OutsideError, WireError

MEMBER_ID_REQUIRED: Final = 79
REBALANCE_IN_PROGRESS: Final = 27
NOT_READY: Final = frozenset({14, 15, 16})
"""The coordinator loads, is not available, or is not this broker: just started."""
VERSIONS: Final = {
    FIND_COORDINATOR: 2,
    JOIN_GROUP: 5,
    SYNC_GROUP: 3,
    HEARTBEAT: 3,
    LEAVE_GROUP: 2,
}
READY_SECONDS: Final = 20.0
READY_LOOK_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 10.0
"""Time of an answer beyond the time that members have to join."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedGroup:
    """The response to JoinGroup.

    Attributes
    ----------
    generation : int
    is_leader : bool
    members : dict
        The metadata of each member by its id; of the leader only.
    """

    generation: int
    is_leader: bool
    members: dict[str, bytes]


class GroupConnection:
    """Requests of one member; each waits for its response.

    Parameters
    ----------
    address, group, name, protocol : str
        ``name`` is the client id, and so begins the id of a dynamic member.
    session_ms, join_ms : int
        Session timeout, and the time that members have to join.
    instance_id : str or None
        Of a static member (KIP-345).

    Raises
    ------
    OSError
        If there is no connection.
    """

    def __init__(
        self,
        address: str,
        group: str,
        name: str,
        protocol: str,
        *,
        session_ms: int,
        join_ms: int,
        instance_id: str | None = None,
    ) -> None:
        self.member_id = ""
        self._group, self._name, self._protocol = group, name, protocol
        self._instance = {"group_instance_id": instance_id}
        self._limits = {
            "session_timeout_ms": session_ms,
            "rebalance_timeout_ms": join_ms,
        }
        host, _, port = address.partition(":")
        limit = join_ms / 1000 + ANSWER_SECONDS
        self._connection = socket.create_connection((host, int(port)), timeout=limit)

    def wait_until_ready(self) -> None:
        """Wait until the group has a coordinator, which knows no such member.

        A broker that has just started creates the topic of groups when it is first
        asked for a coordinator.

        Raises
        ------
        OutsideError
            If that takes too long.
        OSError
            If the connection ends, or there is no answer in time.
        """
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            self._send(FIND_COORDINATOR, key=self._group, key_type=0)
            beat = self._ask(HEARTBEAT, **self._who(generation=0), **self._instance)
            if beat.error_code not in NOT_READY:
                return
            time.sleep(READY_LOOK_SECONDS)
        raise OutsideError(f"no coordinator in {READY_SECONDS:g} s")

    def ask_to_join(self, metadata: bytes) -> JoinedGroup | None:
        """Send JoinGroup once; None if the broker first gives an id (KIP-394).

        Raises
        ------
        WireError
            If the coordinator returns another error.
        OSError
            If the connection ends, or there is no answer in time.
        """
        protocol = APIS[JOIN_GROUP].request.JoinGroupRequestProtocol(
            version=VERSIONS[JOIN_GROUP], name=self._protocol, metadata=metadata
        )
        found = self._ask(
            JOIN_GROUP,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[protocol],
            **self._limits,
            **self._instance,
        )
        self.member_id = found.member_id or self.member_id
        if found.error_code == MEMBER_ID_REQUIRED:
            return None
        _check(found.error_code)
        return JoinedGroup(
            generation=int(found.generation_id),
            is_leader=found.leader == self.member_id,
            members={
                member.member_id: bytes(member.metadata) for member in found.members
            },
        )

    def join(self, metadata: bytes) -> JoinedGroup:
        """Join; errors are those of `ask_to_join`."""
        while True:
            joined = self.ask_to_join(metadata)
            if joined is not None:
                return joined

    def sync(
        self, generation: int, assignments: Sequence[tuple[str, bytes]] = ()
    ) -> bytes | None:
        """Return this member's assignment, or None if it has to join again.

        Raises
        ------
        WireError
            If the coordinator returns another error.
        OSError
            If the connection ends, or there is no answer in time.
        """
        kind = APIS[SYNC_GROUP].request.SyncGroupRequestAssignment
        given = [
            kind(version=VERSIONS[SYNC_GROUP], member_id=member, assignment=data)
            for member, data in assignments
        ]
        synced = self._ask(
            SYNC_GROUP, assignments=given, **self._who(generation), **self._instance
        )
        if synced.error_code == REBALANCE_IN_PROGRESS:
            return None
        _check(synced.error_code)
        return bytes(synced.assignment)

    def is_rebalancing(self, generation: int) -> bool:
        """Send a heartbeat; return whether the member has to join again.

        Raises
        ------
        WireError
            If the coordinator returns another error.
        OSError
            If the connection ends, or there is no answer in time.
        """
        beat = self._ask(HEARTBEAT, **self._who(generation), **self._instance)
        if beat.error_code == REBALANCE_IN_PROGRESS:
            return True
        _check(beat.error_code)
        return False

    def leave(self) -> None:
        """Leave the group, also before the member has joined with its id.

        Raises
        ------
        WireError
            If the coordinator returns an error.
        OSError
            If the connection ends, or there is no answer in time.
        """
        _check(self._ask(LEAVE_GROUP, member_id=self.member_id).error_code)

    def close(self) -> None:
        """Close the connection, without leaving the group."""
        self._connection.close()

    def _who(self, generation: int) -> dict[str, Any]:
        return {"member_id": self.member_id, "generation_id": generation}

    def _ask(self, key: int, **fields: Any) -> Any:
        return self._send(key, group_id=self._group, **fields)

    def _send(self, api: int, **fields: Any) -> Any:
        version = VERSIONS[api]
        message = APIS[api].request(version=version, **fields)
        message.with_header(correlation_id=1, client_id=self._name)
        self._connection.sendall(bytes(message.encode(header=True, framed=True)))
        head = self._receive(4)
        frame = head + self._receive(struct.unpack(">i", head)[0])
        return APIS[api].response[version].decode(frame, header=True, framed=True)

    def _receive(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            more = self._connection.recv(size - len(got))
            if not more:
                raise OSError("the broker has closed the connection")
            got += more
        return got


def _check(error: int) -> None:
    if error:
        raise WireError(f"error {error} of the coordinator", offset=0)
