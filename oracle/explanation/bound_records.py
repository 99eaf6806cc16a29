"""Records of statements that no assignment is better."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from oracle.explanation.statement_records import Statement
from rebalance import (
    BoundTerm,
    Count,
    Optional,
    Value,
)


class TightBlock(Statement):
    """Topics whose partitions can only go to some members.

    Attributes
    ----------
    above
        Other subscribers of the topics; they hold at least as many partitions in every
        balanced assignment.
    below
        Other topics to which the members subscribe; in every balanced assignment they
        go to members with a lower level, and so with at most as many partitions.
    least, most_below
        In every balanced assignment each of the members holds at least ``least``
        partitions, and each member that ``below`` goes to at most ``most_below``.
        Absent with capacities, and without ``below``.
    loads
        Of the members, largest first.
    capacities
        In the same order, if members have capacities. "As many" and "fewer" partitions
        then refer to load ÷ capacity.
    kind
        Kind of the statement.
    topics
        The topics.
    partitions
        Number of their partitions.
    members
        The members.
    """

    kind: Literal["block"] = "block"
    topics: list[str]
    partitions: Count
    members: list[str]
    loads: list[Count]
    capacities: Optional[list[Count]] = None
    above: list[str]
    below: list[str]
    least: Optional[Count] = None
    most_below: Optional[Count] = None


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
    kind
        Kind of the statement.
    claims
        Partitions of the topics that the members own.
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

    Attributes
    ----------
    kind
        Kind of the statement.
    member
        Owner of the partitions.
    topic
        The topic.
    partitions
        The owned partitions.
    to
        Members that receive them.
    by_capacity
        Whether levels are of load ÷ capacity.
    least, most
        In every balanced assignment the owner holds at least ``least`` partitions, and
        each of the others at most ``most``. Absent with capacities.
    """

    kind: Literal["outranked"] = "outranked"
    member: str
    topic: str
    partitions: list[Count]
    to: list[str]
    by_capacity: bool
    least: Optional[Count] = None
    most: Optional[Count] = None


class LowerBound(Statement):
    """A term that proves the bound of an objective (docs/bounds.md).

    Attributes
    ----------
    topics, members, lag
        Of a term ``average`` that follows from subscriptions alone: the total ``lag``
        of the ``topics``, all of whose subscribers are among so many ``members``.
    partitions
        Of a term ``crowd``: the number of partitions that reach its threshold.
    kind
        Kind of the statement.
    of
        The objective.
    after
        The objectives before it: the bound holds of the allowed assignments that are as
        good in these.
    bound
        Its bound.
    scale
        The bound is in units of 1 ÷ scale; absent: 1.
    term
        The term that proves it.
    """

    kind: Literal["bound"] = "bound"
    of: str
    after: list[str] = Field(default=[])
    bound: Value
    scale: Optional[Count] = None
    term: BoundTerm
    topics: Optional[list[str]] = None
    members: Optional[Count] = None
    lag: Optional[Count] = None
    partitions: Optional[Count] = None


class Certified(Statement):
    """A bound that a certificate proves, which the judge has checked.

    Attributes
    ----------
    kind
        Kind of the statement.
    of
        The objective.
    after
        The objectives before it: the bound holds of the allowed assignments that are as
        good in these.
    same_balance
        Whether all allowed assignments are dec-min balanced.
    bound
        Its bound.
    scale
        The bound is in units of 1 ÷ scale; absent: 1.
    """

    kind: Literal["certificate"] = "certificate"
    of: str
    after: list[str] = Field(default=[])
    same_balance: bool = False
    bound: Value
    scale: Optional[Count] = None


class Uncheckable(Statement):
    """A bound that rests on the report of an engine's search.

    ``after`` are the objectives before: the bound holds of the allowed assignments that
    are as good in these.

    Attributes
    ----------
    kind
        Kind of the statement.
    of
        The objective.
    after
        The objectives before it.
    bound
        Its bound.
    scale
        The bound is in units of 1 ÷ scale; absent: 1.
    engine
        Name and version of the engine.
    """

    kind: Literal["search"] = "search"
    of: str
    after: list[str]
    bound: Value
    scale: Optional[Count] = None
    engine: str
