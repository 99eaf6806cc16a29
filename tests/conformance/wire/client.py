"""The other side of the wire: requests as a client encodes them, and a link."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from conformance.wire.broker_messages import APIS, JOIN_GROUP, SYNC_GROUP
from rebalance.protocol import (
    MemberAssignment,
    Subscription,
    encode_assignment,
    encode_subscription,
)


def request(key: int, version: int, /, correlation: int = 7, **fields: Any) -> bytes:
    """Return a request as a frame without its length."""
    message = APIS[key].request(version=version, **fields)
    message.with_header(correlation_id=correlation, client_id="test")
    return bytes(message.encode(header=True, framed=True))[4:]


SUBSCRIPTION = encode_subscription(Subscription(version=3, topics=("wire",)))


def joining(
    assignor: str = "range",
    version: int = 5,
    kind: str = "consumer",
    metadata: bytes = SUBSCRIPTION,
) -> bytes:
    """Return the JoinGroup of a member that subscribes to the base topic."""
    one = APIS[JOIN_GROUP].request.JoinGroupRequestProtocol
    return request(
        JOIN_GROUP,
        version,
        group_id="wire",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type=kind,
        protocols=[one(version=version, name=assignor, metadata=metadata)],
    )


def syncing(held: dict[str, dict[str, list[int]]], version: int = 3) -> bytes:
    """Return the SyncGroup of a leader; topics have their names on the wire."""
    one = APIS[SYNC_GROUP].request.SyncGroupRequestAssignment
    return request(
        SYNC_GROUP,
        version,
        group_id="wire",
        generation_id=1,
        member_id="m0",
        assignments=[
            one(version=version, member_id=member, assignment=assigned(topics))
            for member, topics in held.items()
        ],
    )


def assigned(topics: dict[str, list[int]]) -> bytes:
    partitions = tuple((topic, tuple(numbers)) for topic, numbers in topics.items())
    return encode_assignment(MemberAssignment(version=1, partitions=partitions))


@dataclass(slots=True, eq=False)
class FakeLink:
    """A connection that keeps what is sent."""

    frames: list[bytes] = field(default_factory=list)
    is_closed: bool = False

    def send(self, frame: bytes) -> None:
        assert struct.unpack_from(">i", frame) == (len(frame) - 4,)
        self.frames.append(frame)

    def close(self) -> None:
        self.is_closed = True

    def take(self, key: int, version: int) -> Any:
        """Decode the only response that has not been taken."""
        (frame,) = self.frames
        self.frames.clear()
        return APIS[key].response[version].decode(frame, header=True, framed=True)
