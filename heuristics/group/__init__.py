"""Simulation of the classic group protocol (KIP-429, KIP-726, KIP-345) by events.

=====================  =======================================================
`protocol_choice`      the vote on assignors; static and dynamic choice
`member`               a consumer: partitions it holds, revokes, loses, commits
`coordinator`          the broker: generations, timeouts, static members, commits
`classic_leader`       the assignor's answer, less the partitions in transfer
`events`, `simulation`  every step is an event, so that a caller selects the order
`group_history`        all events, their moves, and a lower bound on moves
`safeguards`           safety rules, each of which a test can disable
=====================  =======================================================

Each module names its sources and its omissions. Some rules are our own, where upstream
can end with two committers or with a partition without an owner: see `Safeguards`.
"""

from heuristics.group.coordinator import Coordinator
from heuristics.group.events import Event, EventKind
from heuristics.group.group_history import least_moves
from heuristics.group.member import Configuration, Phase
from heuristics.group.messages import Refusal
from heuristics.group.protocol_choice import (
    GroupError,
    ProtocolChoice,
    RebalanceProtocol,
    Strategy,
    selected,
    static_protocol,
)
from heuristics.group.safeguards import Safeguards
from heuristics.group.simulation import Group

__all__ = [
    "Configuration",
    "Coordinator",
    "Event",
    "EventKind",
    "Group",
    "GroupError",
    "Phase",
    "ProtocolChoice",
    "RebalanceProtocol",
    "Refusal",
    "Safeguards",
    "Strategy",
    "least_moves",
    "selected",
    "static_protocol",
]
