"""Responses to JoinGroup and SyncGroup."""

from __future__ import annotations

from typing import Final

from conformance.wire.broker_messages import Request, encode_response, part
from conformance.wire.catalog import NO_ERROR
from conformance.wire.leader_exchange import LeaderExchange
from rebalance.protocol import MemberAssignment, encode_assignment

CONSUMER: Final = "consumer"  # type of the group protocol
REBALANCE_IN_PROGRESS: Final = 27
NOTHING: Final = encode_assignment(MemberAssignment(version=0, partitions=()))


def leadership(request: Request, exchange: LeaderExchange) -> bytes:
    """Respond to JoinGroup: the consumer leads the members of the instance."""
    members = [
        part(
            request,
            "JoinGroupResponseMember",
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            metadata=member.metadata,
        )
        for member in exchange.members
    ]
    return encode_response(
        request,
        error_code=NO_ERROR,
        generation_id=exchange.generation,
        protocol_type=CONSUMER,
        protocol_name=exchange.protocol,
        leader=exchange.leader,
        member_id=exchange.leader,
        members=members,
    )


def refusal(request: Request, error: int) -> bytes:
    """Respond to JoinGroup with an error."""
    return encode_response(
        request,
        error_code=error,
        generation_id=-1,
        protocol_type=CONSUMER,
        protocol_name="",
        leader="",
        member_id="",
        members=[],
    )


def synced(request: Request, protocol: str, *, settles: bool) -> bytes:
    """Respond to SyncGroup: no partitions, or that the consumer must join again."""
    return encode_response(
        request,
        error_code=NO_ERROR if settles else REBALANCE_IN_PROGRESS,
        protocol_type=CONSUMER,
        protocol_name=protocol,
        assignment=NOTHING if settles else b"",
    )
