"""The classic group protocol (KIP-429, KIP-726, KIP-345), simulated step by step."""

from heuristics.group.coordinator import Coordinator, GroupState
from heuristics.group.events import Event, Kind
from heuristics.group.group import Group
from heuristics.group.history import History, Step, least_moves
from heuristics.group.member import Configuration, Member, Phase
from heuristics.group.messages import Refusal
from heuristics.group.protocol import (
    GroupError,
    ProtocolChoice,
    RebalanceProtocol,
    Strategy,
    selected,
    static_protocol,
)
from heuristics.group.safeguards import Safeguards

__all__ = [
    "Configuration",
    "Coordinator",
    "Event",
    "Group",
    "GroupError",
    "GroupState",
    "History",
    "Kind",
    "Member",
    "Phase",
    "ProtocolChoice",
    "RebalanceProtocol",
    "Refusal",
    "Safeguards",
    "Step",
    "Strategy",
    "least_moves",
    "selected",
    "static_protocol",
]
