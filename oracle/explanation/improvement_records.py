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
    """The assignment violates a rule of the judge, so many times.

    Attributes
    ----------
    kind
        Kind of the statement.
    rule
        Name of the rule.
    count
        Number of violations.
    member, topic, partition
        The first place, as far as the rule names it.
    claimant
        Who still holds it, where it is assigned to another member.
    claims
        All claims on that partition, the newest first, also of members that do not
        subscribe to the topic.
    holders
        The members that it is assigned to.
    readers
        Those of them that subscribe to its topic.
    finding
        Name of the page in docs/findings with this pattern.
    partitions
        Number of partitions that violate the rule, as the audit's page counts them:
        several members count once. 0 if the rule is not about partitions.
    has_more
        Whether there are further violations that the judge does not list.
    """

    kind: Literal["violation"] = "violation"
    rule: str
    count: Count
    claims: list[ClaimRecord] = Field(default=[])
    holders: list[str] = Field(default=[])
    readers: list[str] = Field(default=[])
    claimant: Optional[str] = None
    finding: Optional[str] = None
    partitions: Count = 0
    has_more: bool = False
    member: Optional[str] = None
    topic: Optional[str] = None
    partition: Optional[Count] = None


class Gap(Statement):
    """An objective, or the move budget, whose best value is lower.

    ``value`` is that of the assignment, after the chains of ``balance`` if there are
    any; both are in units of 1 ÷ scale.

    Attributes
    ----------
    kind
        Kind of the statement.
    of
        The objective, or ``max-moves``.
    after
        The objectives before it, in which both are equal.
    is_least
        Whether no allowed assignment that is as good in these has a lower value; false:
        none has been found.
    same_balance
        Whether all allowed assignments are dec-min balanced.
    value
        Its value.
    best
        Its best value.
    scale
        Values are in units of 1 ÷ scale; absent: 1.
    """

    kind: Literal["gap"] = "gap"
    of: str
    after: list[str] = Field(default=[])
    is_least: bool = True
    same_balance: bool = False
    value: Value
    best: Value
    scale: Optional[Count] = None


class Unbalanced(Statement):
    """The fewest transfers that make the assignment dec-min balanced.

    Attributes
    ----------
    kind
        Kind of the statement.
    chains
        Number of chains of transfers.
    transfers
        Number of transfers.
    loads
        Loads before, largest first.
    best_loads
        Loads after, largest first.
    gain
        Gain of all transfers together.
    """

    kind: Literal["balance"] = "balance"
    chains: Count
    transfers: Count
    loads: list[Count]
    best_loads: list[Count]
    gain: Gain


class ImprovingChain(Statement):
    """Chains of transfers that improve the balance; each receiver is the next giver.

    Attributes
    ----------
    chains
        Number of chains, all with the same topics and members; ``transfers`` lists them
        one after the other.
    loads
        Of the first giver and the last receiver before these chains, after the
        statements before.
    kind
        Kind of the statement.
    transfers
        The transfers.
    gain
        Gain of the transfers.
    """

    kind: Literal["chain"] = "chain"
    chains: Count
    transfers: list[TransferRecord]
    loads: list[Count]
    gain: Gain


class UnevenTopic(Statement):
    """A topic in which one member holds too many partitions, and another too few.

    Attributes
    ----------
    kind
        Kind of the statement.
    topic
        The topic.
    member
        Member with too many of its partitions.
    to
        Member that one should go to.
    loads
        Partitions of the topic of both members.
    """

    kind: Literal["topic"] = "topic"
    topic: str
    member: str
    to: str
    loads: list[Count]


class ClaimExchange(Statement):
    """Transfers after which balance is the same, and more claims are kept.

    ``restored`` are those of the transfers that return a partition to its owner.

    Attributes
    ----------
    kind
        Kind of the statement.
    transfers
        All transfers of the exchange.
    restored
        Those to owners.
    gain
        Gain of the transfers.
    """

    kind: Literal["exchange"] = "exchange"
    transfers: list[TransferRecord]
    restored: list[TransferRecord]
    gain: Gain


class MovesGivenBack(Statement):
    """Transfers after which the balance is met within the move budget.

    Attributes
    ----------
    kind
        Kind of the statement.
    moves
        Moves of the assignment, before and after the transfers.
    budget
        Moves that are allowed.
    count
        Number of transfers.
    transfers
        The transfers, the first of them if there are many.
    returned
        Those of them that return a partition to its owner.
    """

    kind: Literal["budget"] = "budget"
    moves: list[Count]
    budget: Count
    count: Count
    transfers: list[TransferRecord]
    returned: list[TransferRecord]


class PeakMember(Statement):
    """A member with the peak lag, and partitions that it could give to others.

    ``partitions`` are its largest lags. ``lags`` are its lag before and after the
    transfers, and that of the receiver after them, records. The larger of both lags, ÷
    capacity, decreases.

    Attributes
    ----------
    kind
        Kind of the statement.
    member
        The member.
    load
        Number of its partitions.
    partitions
        Its partitions with the largest lags.
    transfers
        Possible transfers from it and to it.
    lags
        Its lag before and after, and that of the receiver after, records.
    """

    kind: Literal["peak"] = "peak"
    member: str
    load: Count
    partitions: list[LagRecord]
    transfers: list[TransferRecord]
    lags: list[Count]


class BetterAssignment(Statement):
    """Transfers to the best assignment: their number, and the first of them.

    Attributes
    ----------
    kind
        Kind of the statement.
    count
        Number of transfers.
    transfers
        The first of them.
    """

    kind: Literal["difference"] = "difference"
    count: Count
    transfers: list[TransferRecord]
