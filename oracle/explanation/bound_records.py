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
    """Topics whose partitions can only go to some members."""

    kind: Literal["block"] = "block"
    """Kind of the statement."""

    topics: list[str]
    """The topics."""

    partitions: Count
    """Number of their partitions."""

    members: list[str]
    """The members."""

    loads: list[Count]
    """Of the members, largest first."""

    capacities: Optional[list[Count]] = None
    """In the same order, if members have capacities. "As many" and "fewer" partitions
    then refer to load ÷ capacity."""

    above: list[str]
    """Other subscribers of the topics; they hold at least as many partitions in every
    balanced assignment."""

    below: list[str]
    """Other topics to which the members subscribe; in every balanced assignment they go
    to members with a lower level, and so with at most as many partitions."""

    least: Optional[Count] = None
    """In every balanced assignment each of the members holds at least so many
    partitions; absent with capacities, and without ``below``."""

    most_below: Optional[Count] = None
    """In every balanced assignment each member that ``below`` goes to holds at most so
    many partitions; absent as ``least``."""


class CrowdedClaims(Statement):
    """Claims that no balanced assignment keeps together."""

    kind: Literal["claims"] = "claims"
    """Kind of the statement."""

    members: list[str]
    """Members that own ``claims`` partitions of ``topics``."""

    topics: list[str]
    """Topics of which ``members`` own ``claims`` partitions."""

    claims: Count
    """Partitions of the topics that the members own."""

    others: Count
    """Partitions of the topics that only they can hold, without such an owner."""

    room: Count
    """The most partitions that they hold together in a balanced assignment."""

    leaving: Count
    """claims + others - room: at least so many claims go to other members."""


class OutrankedClaims(Statement):
    """Claims on a topic that balance gives to members with a lower level.

    ``by_capacity``: the level is one of load ÷ capacity.
    """

    kind: Literal["outranked"] = "outranked"
    """Kind of the statement."""

    member: str
    """Owner of the partitions."""

    topic: str
    """The topic."""

    partitions: list[Count]
    """The owned partitions."""

    to: list[str]
    """Members that receive them."""

    by_capacity: bool
    """Whether levels are of load ÷ capacity."""

    least: Optional[Count] = None
    """In every balanced assignment the owner holds at least so many partitions; absent
    with capacities."""

    most: Optional[Count] = None
    """In every balanced assignment each of the others holds at most so many partitions;
    absent with capacities."""


class LowerBound(Statement):
    """A term that proves the bound of an objective (docs/bounds.md)."""

    kind: Literal["bound"] = "bound"
    """Kind of the statement."""

    of: str
    """The objective."""

    after: list[str] = Field(default=[])
    """The objectives before it: the bound holds of the allowed assignments that are as
    good in these."""

    bound: Value
    """Its bound."""

    scale: Optional[Count] = None
    """The bound is in units of 1 ÷ scale; absent: 1."""

    term: BoundTerm
    """The term that proves it."""

    topics: Optional[list[str]] = None
    """Of a term ``average`` that follows from subscriptions alone: topics whose
    subscribers are all among so many ``members``."""

    members: Optional[Count] = None
    """Of a term ``average`` that follows from subscriptions alone: number of members
    among whom are all subscribers of ``topics``."""

    lag: Optional[Count] = None
    """Of a term ``average`` that follows from subscriptions alone: total lag of
    ``topics``."""

    partitions: Optional[Count] = None
    """Of a term ``crowd``: the number of partitions that reach its threshold."""


class Certified(Statement):
    """A bound that a certificate proves, which the judge has checked."""

    kind: Literal["certificate"] = "certificate"
    """Kind of the statement."""

    of: str
    """The objective."""

    after: list[str] = Field(default=[])
    """The objectives before it: the bound holds of the allowed assignments that are as
    good in these."""

    same_balance: bool = False
    """Whether all allowed assignments are dec-min balanced."""

    bound: Value
    """Its bound."""

    scale: Optional[Count] = None
    """The bound is in units of 1 ÷ scale; absent: 1."""


class Uncheckable(Statement):
    """A bound that rests on the report of an engine's search.

    ``after`` are the objectives before: the bound holds of the allowed assignments that
    are as good in these.
    """

    kind: Literal["search"] = "search"
    """Kind of the statement."""

    of: str
    """The objective."""

    after: list[str]
    """The objectives before it."""

    bound: Value
    """Its bound."""

    scale: Optional[Count] = None
    """The bound is in units of 1 ÷ scale; absent: 1."""

    engine: str
    """Name and version of the engine."""
