"""Schemas of the documents rebalance/1 and assignment/1, and their canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

INT64_MAX = 2**63 - 1
MAX_PARTITIONS = 10_000_000  # over all topics, unless the caller sets another limit
UNKNOWN_GENERATION = -1

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


def _given(value: Any) -> Any:
    """Reject null where a field can be absent but not null."""
    if value is None:
        raise ValueError("null; leave the key out instead")
    return value


_T = TypeVar("_T")
Optional = Annotated[_T | None, BeforeValidator(_given)]
Count = Annotated[int, Field(ge=0, le=INT64_MAX)]
Generation = Annotated[int, Field(ge=UNKNOWN_GENERATION, le=2**31 - 1)]
Integer = Annotated[int, Field(ge=-INT64_MAX, le=INT64_MAX)]
Key = Annotated[
    list[Annotated[int, Field(ge=1, le=INT64_MAX)]], Field(min_length=2, max_length=2)
]
Step = Annotated[list[Count], Field(min_length=2, max_length=2)]


class _Strict(BaseModel):
    # Built at first use: whoever judges documents reads them with `verify`.
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, defer_build=True
    )


class Topic(_Strict):
    """A topic: number of partitions, and lag and racks per partition.

    Attributes
    ----------
    partitions
        Number of partitions.
    lag
        Records behind the log end, one number per partition; absent: unknown.
    racks
        Racks of the replicas, one list per partition; absent: unknown.
    """

    partitions: Count
    lag: Optional[list[Count]] = None
    racks: Optional[list[list[str]]] = None


class Member(_Strict):
    """A member that enters a rebalance; ``owned`` is a claim and can be stale.

    Attributes
    ----------
    subscription
        Topics to which the member subscribes.
    owned
        Partitions that it claims, by topic.
    generation
        Generation from which the claim dates; -1 or absent: unknown.
    rack
        Rack of the member; absent: unknown.
    instance_id
        Name of a static member (``group.instance.id``).
    capacity
        Its share of the work, relative to other members; absent: 1.
    """

    subscription: list[str]
    owned: Optional[dict[str, list[Count]]] = None
    generation: Optional[Generation] = None
    rack: Optional[str] = None
    instance_id: Optional[str] = None
    capacity: Optional[Annotated[int, Field(ge=1, le=INT64_MAX)]] = None


class Rebalance(_Strict):
    """One rebalance before any decision: a rebalance/1 document.

    Attributes
    ----------
    format
        Name and version of the format.
    group
        Name of the group.
    id
        Name of the rebalance, which answers can repeat.
    topics
        Topics by name.
    members
        Members by member id.
    """

    format: Literal["rebalance/1"] = "rebalance/1"
    group: str
    id: Optional[str] = None
    topics: dict[str, Topic]
    members: dict[str, Member]


class Figures(_Strict):
    """Figures of an assignment; names as in verdict/1.

    Attributes
    ----------
    loads
        Numbers of partitions of all members, largest first.
    kept
        Owned partitions that stay with their owners.
    moves
        Owned partitions that do not.
    withheld
        In a cooperative round: partitions that stay without a member until their
        owner has revoked them.
    kip54_score
        Kafka's balance score: the sum over all pairs of members of the difference in
        load.
    kip54_balanced
        Whether no single transfer evens out two members.
    dec_min_balanced
        Whether no assignment is more even.
    peak_lag
        Largest total lag of a member, records.
    lag_spread
        Largest minus smallest total lag of the members that can have partitions,
        records.
    rack_mismatches
        Partitions of which no replica is in their member's rack.
    """

    loads: Optional[list[Count]] = None
    kept: Optional[Count] = None
    moves: Optional[Count] = None
    withheld: Optional[Count] = None
    kip54_score: Optional[Count] = None
    kip54_balanced: Optional[bool] = None
    dec_min_balanced: Optional[bool] = None
    peak_lag: Optional[Count] = None
    lag_spread: Optional[Count] = None
    rack_mismatches: Optional[Count] = None

    @classmethod
    def of_verdict(cls, figures: Mapping[str, Any]) -> Figures:
        """Take the figures of a verdict/1; one that is null there is absent here."""
        stated = {name: value for name, value in figures.items() if value is not None}
        return cls.model_validate(stated)


class PriceWeights(_Strict):
    """Weights of a move and of a rack mismatch in the prices of a certificate.

    Attributes
    ----------
    stickiness
        Weight of a move.
    rack
        Weight of a rack mismatch.
    """

    stickiness: Count = 0
    rack: Count = 0


class CertificateDocument(_Strict):
    """Two integers per member that prove balance and stickiness (docs/method.md).

    Attributes
    ----------
    level
        Least number of partitions of the member.
    price
        Cost of one more partition for it, in the objective.
    threshold
        With capacities: the key [n, w], for n partitions over capacity w, below which
        a member's partitions are its level.
    weights
        Weights of moves and of rack mismatches in the prices; absent: moves only.
    """

    level: dict[str, Count]
    price: dict[str, Integer]
    threshold: Optional[dict[str, Key]] = None
    weights: Optional[PriceWeights] = None


class CertificateProof(_Strict):
    """The bound follows from the certificate of the document.

    Attributes
    ----------
    by
        Kind of the proof.
    """

    by: Literal["certificate"] = "certificate"


class BoundTerm(_Strict):
    """One argument for a bound; its fields depend on ``kind``.

    ``docs/bounds.md`` states the meaning of each kind and its proof.

    Attributes
    ----------
    kind
        Name of the argument.
    bound
        The bound that the term alone proves, in the units of the objective's ``value``.
    members, topics
        Members and topics of the argument; absent: all.
    at_least
        A threshold of lag, records.
    weight, price
        Weights of moves and mismatches, and prices by topic and member (``prices``).
    steps
        Ascending thresholds of lag, each with the weight of lags from there on.
    """

    kind: str
    bound: Integer
    members: Optional[list[str]] = None
    topics: Optional[list[str]] = None
    at_least: Optional[Count] = None
    weight: Optional[dict[str, Count]] = None
    price: Optional[dict[str, dict[str, Integer]]] = None
    steps: Optional[list[Step]] = None


class TermsProof(_Strict):
    """The bound is the largest of these terms; each can be recomputed.

    Attributes
    ----------
    by
        Kind of the proof.
    terms
        The arguments, at least one.
    """

    by: Literal["terms"] = "terms"
    terms: Annotated[list[BoundTerm], Field(min_length=1)]


class SearchProof(_Strict):
    """The bound is the result of an engine's search, and cannot be checked.

    ``terms`` prove a lower bound.

    Attributes
    ----------
    by
        Kind of the proof.
    engine
        Name and version of the engine.
    terms
        Arguments for a lower bound than the one claimed.
    """

    by: Literal["search"] = "search"
    engine: str
    terms: Optional[list[BoundTerm]] = None


Proof = Annotated[
    CertificateProof | TermsProof | SearchProof, Field(discriminator="by")
]
Value = Integer | list[Integer]


class ObjectiveDocument(_Strict):
    """One objective of a policy: its value, its bound, and the proof of the bound.

    Attributes
    ----------
    of
        The objective in the text form of policies.
    value, bound
        Integers, smaller is better; lists for ``load``, compared lexicographically.
        ``bound`` is a lower bound over the assignments that meet the balance and are as
        good in the objectives before.
    scale
        With capacities, ``value`` and ``bound`` are in units of 1 ÷ scale.
    proof
        Proof of the bound.
    """

    of: str
    value: Value
    bound: Value
    scale: Optional[Annotated[int, Field(ge=1, le=INT64_MAX)]] = None
    proof: Optional[Proof] = None


class AssignmentDocument(_Strict):
    """An assignment/1 document, of this project or of a third party.

    ``policy`` and ``objectives`` state in which sense it is the best; ``reason`` states
    why there is no assignment, or no proof.

    Attributes
    ----------
    format
        Name and version of the format.
    group, id
        Group and id of the instance.
    members
        Partitions by member and topic.
    assignor
        Name of the assignor.
    status
        Claimed status of the assignment. Only ``optimal`` and ``infeasible`` are
        claims about all other assignments.
    policy
        The policy, in the text form of policies.
    objectives
        The objectives of the policy, in order.
    reason
        Why there is no assignment, or no proof, in words.
    figures
        Figures of the assignment.
    certificate
        Two integers per member that prove balance and stickiness.
    """

    format: Literal["assignment/1"] = "assignment/1"
    group: Optional[str] = None
    id: Optional[str] = None
    members: dict[str, dict[str, list[Count]]]
    assignor: Optional[str] = None
    status: Optional[Status] = None
    policy: Optional[str] = None
    objectives: Optional[list[ObjectiveDocument]] = None
    reason: Optional[str] = None
    figures: Optional[Figures] = None
    certificate: Optional[CertificateDocument] = None


def plain_of(document: Rebalance | AssignmentDocument) -> dict[str, Any]:
    """Return the JSON value of a document, canonical: subscriptions and claims sorted.

    Keys are in the document's order.
    """
    plain = document.model_dump(exclude_none=True)
    if isinstance(document, Rebalance):
        for member in plain["members"].values():
            member["subscription"].sort()
            for numbers in member.get("owned", {}).values():
                numbers.sort()
    return plain


def to_json(document: Rebalance | AssignmentDocument) -> bytes:
    """Write a document canonically: sorted keys and lists, no spaces, UTF-8.

    Two documents with the same meaning give the same bytes.
    """
    if isinstance(document, AssignmentDocument):
        # The members are plain already; a copy of a million lists would take longer
        # than the rest.
        plain = document.model_dump(exclude_none=True, exclude={"members"})
        plain["members"] = document.members
    else:
        plain = plain_of(document)
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
