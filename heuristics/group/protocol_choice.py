"""Selection of a group's assignor and of its rebalance protocol.

Sources: ``ClassicGroup.selectProtocol`` and ``ClassicGroupMember.vote`` (Kafka 4.0) for
the vote; ``ConsumerCoordinator`` (Kafka 2.4 to 4.0, KIP-429) for the static choice;
KIP-726 (the wiki's version 21) for the dynamic one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

from heuristics.assignor import Assignor
from rebalance import OracleError


class GroupError(OracleError, ValueError):
    """An invalid setup of a group, or an event that cannot happen."""

    def __init__(self, reason: str, *, subject: object) -> None:
        super().__init__(f"{reason}: {subject!r}")
        self.reason = reason
        self.subject = subject


class RebalanceProtocol(IntEnum):
    """How partitions change hands; a greater value is more advanced (KIP-429)."""

    EAGER = 0  # all are revoked before joining
    COOPERATIVE = 1  # all are kept; partitions that move are revoked, then assigned


class ProtocolChoice(Enum):
    """When a member chooses the rebalance protocol."""

    STATIC = "static"  # once, at the start, from its list, as in all releases
    DYNAMIC = "dynamic"  # by the assignor that the coordinator selected (KIP-726)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """An entry of ``partition.assignment.strategy``.

    ``assignor`` must not refuse the group's subscriptions. Every strategy can do EAGER,
    as Kafka's own can; one that can do COOPERATIVE withholds the partitions in transfer
    whichever protocol the members follow, as ``CooperativeStickyAssignor``. One that
    ``remembers`` receives each member's last assignment as user data, as
    ``StickyAssignor`` does (KIP-54), because members own nothing under EAGER.
    """

    name: str
    assignor: Assignor
    highest: RebalanceProtocol = RebalanceProtocol.EAGER
    remembers: bool = False


def static_protocol(strategies: Sequence[Strategy]) -> RebalanceProtocol:
    """Return the highest protocol that all of a member's strategies support.

    A list with one eager-only assignor is therefore eager: two rolling bounces are
    needed to leave it (KIP-429).

    Raises
    ------
    GroupError
        If there is no strategy.
    """
    if not strategies:
        raise GroupError("no assignor configured", subject=())
    return min(strategy.highest for strategy in strategies)


def candidates(preferences: Sequence[Sequence[str]]) -> frozenset[str]:
    """Names that every member lists."""
    if not preferences:
        return frozenset()
    return frozenset.intersection(*(frozenset(names) for names in preferences))


def selected(preferences: Iterable[Sequence[str]]) -> str:
    """Return the assignor with most votes; a member votes for its first candidate.

    Ties: the least name; upstream uses hash order.

    Raises
    ------
    GroupError
        If there is no candidate; the coordinator does not admit members that cause
        this.
    """
    lists = [tuple(names) for names in preferences]
    common = candidates(lists)
    if not common:
        raise GroupError("the members have no assignor in common", subject=lists)
    votes = Counter(next(name for name in names if name in common) for names in lists)
    return min(votes, key=lambda name: (-votes[name], name))
