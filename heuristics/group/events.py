"""Events: the steps of every history of a group."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class EventKind(Enum):
    """Kinds of events. The subject is a process, or a member id where stated."""

    REVOKED = "revoked"  # the callback after a SyncGroup ends
    RECEIVE = "receive"  # a JoinGroup's answer arrives
    SYNC = "sync"  # a SyncGroup and its answer
    HEARTBEAT = "heartbeat"  # a heartbeat with news
    JOIN = "join"  # revokes as the protocol asks, then sends a JoinGroup
    REBALANCE_TIMEOUT = "rebalance timeout"  # no subject
    SYNC_TIMEOUT = "sync timeout"  # no subject
    SESSION_TIMEOUT = "session timeout"  # the subject is a member id
    FOLLOW_UP = "follow up"  # a leader rejoins to assign the withheld partitions
    LOSE_JOIN = "lose join"  # a JoinGroup's answer is lost
    LOSE_SYNC = "lose sync"  # a SyncGroup's answer is lost
    # From outside; `Group` has a method for each.
    START = "start"
    CRASH = "crash"
    LEAVE = "leave"
    ENFORCE = "enforce"  # ``enforceRebalance`` (KIP-568), or a new subscription


class Event(NamedTuple):
    """One event."""

    kind: EventKind
    subject: str = ""


PROGRESS = (
    EventKind.REVOKED,
    EventKind.RECEIVE,
    EventKind.SYNC,
    EventKind.HEARTBEAT,
    EventKind.JOIN,
)
TIMEOUTS = (
    EventKind.REBALANCE_TIMEOUT,
    EventKind.SYNC_TIMEOUT,
    EventKind.SESSION_TIMEOUT,
)
FAULTS = (EventKind.LOSE_JOIN, EventKind.LOSE_SYNC)
