"""Records of explanation/1: an answer, and the statements that support it.

`docs/documents.md` describes them, `docs/explain.md` what they mean. The JSON Schema is
`docs/data/explanation-1.schema.json`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from rebalance import (
    BoundTerm,
    Count,
    Figures,
    Optional,
    Value,
    parse_record,
)

FORMAT: Final = "explanation/1"


class _Record(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=True
    )


class TransferRecord(_Record):
    """One partition that goes from one member to another."""

    topic: str
    partition: Count
    giver: str = Field(alias="from")
    to: str

    @classmethod
    def of(cls, topic: str, partition: int, *, giver: str, to: str) -> TransferRecord:
        """Return the record; ``from`` is no name in Python."""
        value = {"topic": topic, "partition": partition, "from": giver, "to": to}
        return cls.model_validate(value)


class Gain(_Record):
    """What transfers gain; less than 0 if they cost something.

    Attributes
    ----------
    kip54_score, moves
        By how much the balance score and the moves decrease.
    """

    kip54_score: Optional[int] = None
    moves: Optional[int] = None


class Statement(_Record):
    """One checked statement; ``text`` is its sentence, with long lists shortened."""

    text: str


class Violated(Statement):
    """The assignment violates a rule of the judge, so many times."""

    kind: Literal["violation"] = "violation"
    rule: str
    count: Count
    member: Optional[str] = None
    topic: Optional[str] = None
    partition: Optional[Count] = None


class Gap(Statement):
    """An objective, or the move budget, whose best value is lower.

    ``value`` is that of the assignment, after the chains of ``balance`` if there are
    any; both are in units of 1 ÷ scale.
    """

    kind: Literal["gap"] = "gap"
    of: str
    value: Value
    best: Value
    scale: Optional[Count] = None


class Unbalanced(Statement):
    """The fewest transfers that make the assignment dec-min balanced."""

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
    """

    kind: Literal["chain"] = "chain"
    chains: Count
    transfers: list[TransferRecord]
    loads: list[Count]
    gain: Gain


class UnevenTopic(Statement):
    """A topic in which one member holds too many partitions, and another too few."""

    kind: Literal["topic"] = "topic"
    topic: str
    member: str
    to: str
    loads: list[Count]


class ClaimExchange(Statement):
    """Transfers after which balance is the same, and more claims are kept.

    ``restored`` are those of the transfers that return a partition to its owner.
    """

    kind: Literal["exchange"] = "exchange"
    transfers: list[TransferRecord]
    restored: list[TransferRecord]
    gain: Gain


class LagRecord(_Record):
    """A partition and its lag, records."""

    topic: str
    partition: Count
    lag: Count


class PeakMember(Statement):
    """A member with the peak lag, and what it could give up to whom.

    ``partitions`` are its largest lags. ``lags`` are its lag before and after the
    transfers, and that of the receiver after them, records. The larger of both lags, ÷
    capacity, decreases.
    """

    kind: Literal["peak"] = "peak"
    member: str
    load: Count
    partitions: list[LagRecord]
    transfers: list[TransferRecord]
    lags: list[Count]


class BetterAssignment(Statement):
    """Transfers to the best assignment: their number, and the first of them."""

    kind: Literal["difference"] = "difference"
    count: Count
    transfers: list[TransferRecord]


class TightBlock(Statement):
    """Topics whose partitions can only go to some members.

    Attributes
    ----------
    above
        Other subscribers of the topics; they hold at least as many partitions in every
        balanced assignment.
    below
        Other topics to which the members subscribe; in every balanced assignment they
        go to members with fewer partitions.
    loads
        Of the members, largest first.
    capacities
        In the same order, if members have capacities. "As many" and "fewer" partitions
        then refer to load ÷ capacity.
    """

    kind: Literal["block"] = "block"
    topics: list[str]
    partitions: Count
    members: list[str]
    loads: list[Count]
    capacities: Optional[list[Count]] = None
    above: list[str]
    below: list[str]


class CrowdedClaims(Statement):
    """Claims that no balanced assignment keeps together.

    Attributes
    ----------
    members, topics
        Of ``topics``, the members own ``claims`` partitions.
    others
        Partitions of the topics that only they can hold, without such an owner.
    room
        The most partitions that they hold together in a balanced assignment.
    leaving
        claims + others - room: at least so many claims go to other members.
    """

    kind: Literal["claims"] = "claims"
    members: list[str]
    topics: list[str]
    claims: Count
    others: Count
    room: Count
    leaving: Count


class OutrankedClaims(Statement):
    """Claims on a topic that balance gives to members with a lower level.

    ``by_capacity``: the level is one of load ÷ capacity.
    """

    kind: Literal["outranked"] = "outranked"
    member: str
    topic: str
    partitions: list[Count]
    to: list[str]
    by_capacity: bool


class LowerBound(Statement):
    """A term that proves the bound of an objective (docs/bounds.md).

    Attributes
    ----------
    topics, members, lag
        Of a term ``average`` that follows from subscriptions alone: the total ``lag``
        of the ``topics``, all of whose subscribers are among so many ``members``.
    partitions
        Of a term ``crowd``: the number of partitions that reach its threshold.
    """

    kind: Literal["bound"] = "bound"
    of: str
    bound: Value
    scale: Optional[Count] = None
    term: BoundTerm
    topics: Optional[list[str]] = None
    members: Optional[Count] = None
    lag: Optional[Count] = None
    partitions: Optional[Count] = None


class Certified(Statement):
    """A bound that a certificate proves, which the judge has checked."""

    kind: Literal["certificate"] = "certificate"
    of: str
    bound: Value
    scale: Optional[Count] = None


class Uncheckable(Statement):
    """A bound that rests on the report of an engine's search.

    ``after`` are the objectives before: the bound holds where these are the best.
    """

    kind: Literal["search"] = "search"
    of: str
    after: list[str]
    bound: Value
    scale: Optional[Count] = None
    engine: str


AnyStatement = Annotated[
    Violated
    | Gap
    | Unbalanced
    | ImprovingChain
    | UnevenTopic
    | ClaimExchange
    | PeakMember
    | BetterAssignment
    | TightBlock
    | CrowdedClaims
    | OutrankedClaims
    | LowerBound
    | Certified
    | Uncheckable,
    Field(discriminator="kind"),
]
Verdict = Literal["best", "not-best", "invalid", "infeasible", "unknown"]


class Explanation(_Record):
    """Whether an assignment is the best one under a policy, and why.

    Attributes
    ----------
    subject
        ``given``, or ``optimum`` if no assignment was given.
    answer
        ``best``: proved, or by the report of a search, which a statement then says.
        ``not-best``: a better one is known. ``invalid``: a rule is violated.
        ``infeasible``: no assignment satisfies the policy. ``unknown``: no better one
        is known, and that none exists is not proved.
    figures
        Of the assignment, counted by the judge.
    statements
        In the order in which they answer the question.
    more
        Statements that are not listed, by kind.
    withdrawn
        Statements that failed their check: a defect of this program.
    reason
        Why nothing is proved, or no assignment exists.
    """

    format: Literal["explanation/1"] = FORMAT
    group: str
    id: Optional[str] = None
    policy: str
    subject: Literal["given", "optimum"]
    answer: Verdict
    figures: Optional[Figures] = None
    statements: list[AnyStatement]
    more: dict[str, Count] = {}
    withdrawn: Count = 0
    reason: Optional[str] = None

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return self.model_dump(by_alias=True, exclude_none=True)


def parse_explanation(text: bytes | str) -> Explanation:
    """Read an explanation/1 document.

    Raises
    ------
    DocumentError
        If it is not one.
    """
    return parse_record(Explanation, text)
