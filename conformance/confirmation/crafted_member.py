"""A member whose requests are ours, with the message classes of kafka-python.

It joins like a consumer, claims what it was last assigned, and keeps its claims when
its subscription changes. It is a thread with a connection of its own.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from threading import Event, Thread
from typing import Any, Final

from conformance.wire.messages import APIS, HEARTBEAT, JOIN_GROUP, SYNC_GROUP
from rebalance import WireError
from rebalance.protocol import (
    Partitions,
    Subscription,
    decode_assignment,
    encode_subscription,
)

MEMBER_ID_REQUIRED: Final = 79
REBALANCE_IN_PROGRESS: Final = 27
VERSIONS: Final = {JOIN_GROUP: 5, SYNC_GROUP: 3, HEARTBEAT: 3}
HEARTBEAT_SECONDS: Final = 0.2


class CraftedMember:
    """A member of a cooperative group that never leads it.

    Parameters
    ----------
    address, group, name, assignor : str
        ``name`` is the client id, and so begins the member id.
    topics : sequence of str
    session_ms, join_ms : int
    """

    def __init__(
        self,
        address: str,
        group: str,
        name: str,
        assignor: str,
        topics: Sequence[str],
        *,
        session_ms: int,
        join_ms: int,
    ) -> None:
        self.topics = tuple(topics)
        self.may_join = Event()
        self.may_join.set()
        self._name, self._assignor = name, assignor
        self._common = {"group_id": group}
        self._limits = {
            "session_timeout_ms": session_ms,
            "rebalance_timeout_ms": join_ms,
        }
        host, _, port = address.partition(":")
        limit = join_ms / 1000 + 10
        self._connection = socket.create_connection((host, int(port)), timeout=limit)
        self._member_id = ""
        self._owned: Partitions = ()
        self._changed, self._ended = Event(), Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription; the member joins again when it may."""
        self.topics = tuple(topics)
        self._changed.set()

    def end(self) -> None:
        """Close the connection, without leaving the group."""
        self._ended.set()
        self.may_join.set()
        self._connection.close()

    def _run(self) -> None:
        try:
            generation = self._join()
            while not self._ended.is_set():
                time.sleep(HEARTBEAT_SECONDS)
                who = {"member_id": self._member_id, "generation_id": generation}
                error = self._ask(HEARTBEAT, **who).error_code
                wants = error == REBALANCE_IN_PROGRESS or self._changed.is_set()
                if wants and self.may_join.is_set():
                    generation = self._join()
        except (OSError, WireError):
            return  # the broker, or the group, has no more use for it

    def _join(self) -> int:
        """Join until the group is stable; return its generation."""
        while True:
            self._changed.clear()
            found = self._ask(
                JOIN_GROUP,
                member_id=self._member_id,
                protocol_type="consumer",
                protocols=[self._protocol()],
                **self._limits,
            )
            self._member_id = found.member_id or self._member_id
            if found.error_code == MEMBER_ID_REQUIRED:
                continue
            _check(found.error_code)
            who = {
                "member_id": self._member_id,
                "generation_id": found.generation_id,
            }
            synced = self._ask(SYNC_GROUP, assignments=[], **who)
            if synced.error_code == REBALANCE_IN_PROGRESS:
                continue
            _check(synced.error_code)
            data = synced.assignment
            owned = decode_assignment(data).partitions if data else ()
            has_revoked = bool(_pairs(self._owned) - _pairs(owned))
            self._owned = owned
            if not has_revoked:
                return int(found.generation_id)

    def _protocol(self) -> Any:
        subscription = Subscription(version=1, topics=self.topics, owned=self._owned)
        return APIS[JOIN_GROUP].request.JoinGroupRequestProtocol(
            version=VERSIONS[JOIN_GROUP],
            name=self._assignor,
            metadata=encode_subscription(subscription),
        )

    def _ask(self, key: int, **fields: Any) -> Any:
        version = VERSIONS[key]
        message = APIS[key].request(version=version, **self._common, **fields)
        message.with_header(correlation_id=1, client_id=self._name)
        self._connection.sendall(bytes(message.encode(header=True, framed=True)))
        head = self._receive(4)
        frame = head + self._receive(struct.unpack(">i", head)[0])
        return APIS[key].response[version].decode(frame, header=True, framed=True)

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


def _pairs(partitions: Partitions) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in partitions for number in numbers}
