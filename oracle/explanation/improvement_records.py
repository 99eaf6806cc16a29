"""Records of statements that an assignment is not the best one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from oracle.explanation.statement_records import (
    ClaimRecord,
    Gain,
    LagRecord,
    Statement,
    TransferRecord,
)
from rebalance import (
    Count,
    Optional,
    Value,
)


class Violated(Statement):
    """The assignment violates a rule of the judge, so many times."""

    kind: Literal["violation"] = "violation"
    """Kind of the statement."""

    rule: str
    """Name of the rule."""

    count: Count
    """Number of violations."""

    claims: list[ClaimRecord] = Field(default=[])
    """All claims on that partition, the newest first, also of members that do not
    subscribe to the topic."""

    holders: list[str] = Field(default=[])
    """The members that it is assigned to."""

    readers: list[str] = Field(default=[])
    """Those of them that subscribe to its topic."""

    claimant: Optional[str] = None
    """Who still holds it, where it is assigned to another member."""

    finding: Optional[str] = None
    """Name of the page in docs/findings with this pattern."""

    partitions: Count = 0
    """Number of partitions that violate the rule, as the audit's page counts them:
    several members count once. 0 if the rule is not about partitions."""

    has_more: bool = False
    """Whether there are further violations that the judge does not list."""

    member: Optional[str] = None
    """Member of the first place, as far as the rule names it."""

    topic: Optional[str] = None
    """Topic of the first place, as far as the rule names it."""

    partition: Optional[Count] = None
    """Partition of the first place, as far as the rule names it."""


class Gap(Statement):
    """An objective, or the move budget, whose best value is lower.

    ``value`` is that of the assignment, after the chains of ``balance`` if there are
    any; both are in units of 1 ÷ scale.
    """

    kind: Literal["gap"] = "gap"
    """Kind of the statement."""

    of: str
    """The objective, or ``max-moves``."""

    after: list[str] = Field(default=[])
    """The objectives before it, in which both are equal."""

    is_least: bool = True
    """Whether no allowed assignment that is as good in these has a lower value; false:
    none has been found."""

    same_balance: bool = False
    """Whether all allowed assignments are dec-min balanced."""

    value: Value
    """Its value."""

    best: Value
    """Its best value."""

    scale: Optional[Count] = None
    """Values are in units of 1 ÷ scale; absent: 1."""


class Unbalanced(Statement):
    """The fewest transfers that make the assignment dec-min balanced."""

    kind: Literal["balance"] = "balance"
    """Kind of the statement."""

    chains: Count
    """Number of chains of transfers."""

    transfers: Count
    """Number of transfers."""

    loads: list[Count]
    """Loads before, largest first."""

    best_loads: list[Count]
    """Loads after, largest first."""

    gain: Gain
    """Gain of all transfers together."""


class ImprovingChain(Statement):
    """Chains of transfers that improve the balance; each receiver is the next giver."""

    kind: Literal["chain"] = "chain"
    """Kind of the statement."""

    chains: Count
    """Number of chains, all with the same topics and members; ``transfers`` lists them
    one after the other."""

    transfers: list[TransferRecord]
    """The transfers."""

    loads: list[Count]
    """Of the first giver and the last receiver before these chains, after the
    statements before."""

    gain: Gain
    """Gain of the transfers."""


class UnevenTopic(Statement):
    """A topic in which one member holds too many partitions, and another too few."""

    kind: Literal["topic"] = "topic"
    """Kind of the statement."""

    topic: str
    """The topic."""

    member: str
    """Member with too many of its partitions."""

    to: str
    """Member that one should go to."""

    loads: list[Count]
    """Partitions of the topic of both members."""


class ClaimExchange(Statement):
    """Transfers after which balance is the same, and more claims are kept.

    ``restored`` are those of the transfers that return a partition to its owner.
    """

    kind: Literal["exchange"] = "exchange"
    """Kind of the statement."""

    transfers: list[TransferRecord]
    """All transfers of the exchange."""

    restored: list[TransferRecord]
    """Those to owners."""

    gain: Gain
    """Gain of the transfers."""


class MovesGivenBack(Statement):
    """Transfers after which the balance is met within the move budget."""

    kind: Literal["budget"] = "budget"
    """Kind of the statement."""

    moves: list[Count]
    """Moves of the assignment, before and after the transfers."""

    budget: Count
    """Moves that are allowed."""

    count: Count
    """Number of transfers."""

    transfers: list[TransferRecord]
    """The transfers, the first of them if there are many."""

    returned: list[TransferRecord]
    """Those of them that return a partition to its owner."""


class PeakMember(Statement):
    """A member with the peak lag, and partitions that it could give to others.

    ``partitions`` are its largest lags. ``lags`` are its lag before and after the
    transfers, and that of the receiver after them, records. The larger of both lags, ÷
    capacity, decreases.
    """

    kind: Literal["peak"] = "peak"
    """Kind of the statement."""

    member: str
    """The member."""

    load: Count
    """Number of its partitions."""

    partitions: list[LagRecord]
    """Its partitions with the largest lags."""

    transfers: list[TransferRecord]
    """Possible transfers from it and to it."""

    lags: list[Count]
    """Its lag before and after, and that of the receiver after, records."""


class BetterAssignment(Statement):
    """Transfers to the best assignment: their number, and the first of them."""

    kind: Literal["difference"] = "difference"
    """Kind of the statement."""

    count: Count
    """Number of transfers."""

    transfers: list[TransferRecord]
    """The first of them."""
