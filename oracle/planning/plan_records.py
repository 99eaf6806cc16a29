"""Records of plan/1: outcomes of changes, members for a limit, ranked assignors.

`docs/plan.md` states what they mean. The JSON Schema is
`docs/data/plan-1.schema.json`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from rebalance import (
    AssignmentDocument,
    Count,
    Figures,
    Optional,
    Value,
    parse_record,
)

FORMAT: Final = "plan/1"


class _PlanRecord(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=True
    )

    @classmethod
    def known(cls, **fields: Any) -> Self:
        """Return the record; fields that are None are absent."""
        given = {name: one for name, one in fields.items() if one is not None}
        return cls.model_validate(given)


class Join(_PlanRecord):
    """A member joins."""

    kind: Literal["join"] = "join"
    member: str
    subscription: list[str]


class Leave(_PlanRecord):
    """A member leaves."""

    kind: Literal["leave"] = "leave"
    member: str


class Subscribe(_PlanRecord):
    """A member subscribes to these topics, and no others."""

    kind: Literal["subscribe"] = "subscribe"
    member: str
    subscription: list[str]


class AddPartitions(_PlanRecord):
    """A topic has so many partitions, or is created."""

    kind: Literal["partitions"] = "partitions"
    topic: str
    partitions: Count


class SetLag(_PlanRecord):
    """A partition has so much lag, in records; without ``partition``, all of a topic.

    ``times`` multiplies what the topic has.
    """

    kind: Literal["lag"] = "lag"
    topic: str
    partition: Optional[Count] = None
    lag: Optional[Count] = None
    times: Optional[Count] = None


Change = Annotated[
    Join | Leave | Subscribe | AddPartitions | SetLag, Field(discriminator="kind")
]


class PlannedTransfer(_PlanRecord):
    """Partitions that go from one member to another.

    ``from`` is absent if they had no owner, or are new; ``leaves`` is true if the giver
    leaves the group. ``lag`` is in records, after the change.
    """

    giver: Optional[str] = Field(default=None, alias="from")
    leaves: Optional[bool] = None
    to: Optional[str] = None
    partitions: dict[str, list[Count]]
    lag: Optional[Count] = None


class Transition(_PlanRecord):
    """How the group gets from its present state to an assignment.

    Attributes
    ----------
    mode
        ``cooperative`` (KIP-429), ``eager``, or ``consumer``: the protocol of KIP-848,
        without rounds of the whole group.
    rounds
        Generations until nothing is withheld; absent for ``consumer``.
    unowned_partitions
        Partitions with an owner before that have none for some time.
    unowned_partition_ms
        Their number, times the ms that each has no owner.
    """

    mode: Literal["cooperative", "eager", "consumer"]
    rounds: Optional[Count] = None
    unowned_partitions: Count
    unowned_partition_ms: Count


class PlannedObjective(_PlanRecord):
    """Value of an objective of the policy, counted by the judge."""

    of: str
    value: Value
    scale: Optional[Count] = None


class PlannedAnswer(_PlanRecord):
    """What one assignor leads to after the change.

    Attributes
    ----------
    refused
        Why it does not apply; all but ``assignor`` is then absent.
    status
        Of the optimum: optimal only if proved. ``found`` is what the judge finds of it:
        ``proved``, ``search``, ``unproved``, or ``refuted``.
    balance_met
        Whether the balance of the policy is met.
    """

    assignor: str
    refused: Optional[str] = None
    status: Optional[Literal["optimal", "feasible", "infeasible", "unknown"]] = None
    found: Optional[str] = None
    reason: Optional[str] = None
    balance_met: Optional[bool] = None
    budget_met: Optional[bool] = None
    figures: Optional[Figures] = None
    objectives: Optional[list[PlannedObjective]] = None
    transition: Optional[Transition] = None


class Outcome(_PlanRecord):
    """The state of the group after the change.

    ``answers`` are those of the optimum and of every assignor; ``transfers`` and
    ``assignment`` are of the optimum. Without ``lag_known``, every peak lag is 0.
    """

    members: Count
    partitions: Count
    lag_known: bool
    answers: list[PlannedAnswer]
    transfers: list[PlannedTransfer]
    assignment: Optional[AssignmentDocument] = None


class Refuted(_PlanRecord):
    """Why a number of members does not suffice.

    Attributes
    ----------
    members, up_to
        The number, or the range from it.
    bound
        No assignment to so many members has less.
    rests_on
        ``sum``: what there is, divided by the members, rounded up. ``dec-min``: the
        judge finds no chain that improves the most even loads. ``certificate`` or
        ``terms``: recomputed by the judge. ``search``: the report of an engine.
    """

    members: Count
    up_to: Optional[Count] = None
    bound: Count
    rests_on: Literal["sum", "dec-min", "certificate", "terms", "search"]


class MembersNeeded(_PlanRecord):
    """The smallest number of members for a limit.

    Attributes
    ----------
    of, at_most
        What is limited, and the limit; lag in records.
    balance
        The balance that the assignment has to meet.
    present
        Members in the group after the change.
    status
        ``optimal``: no smaller number suffices, proved by ``refuted``. ``feasible``:
        ``members`` suffice, and at least ``at_least`` are needed. ``infeasible``: no
        number suffices, for ``reason``. ``unknown``: none was found.
    value
        The largest lag, or load, of a member in the assignment that was found.
    joins, leaves
        How the group comes to have so many members.
    """

    of: Literal["peak-lag", "load"]
    at_most: Count
    balance: str
    present: Count
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    members: Optional[Count] = None
    at_least: Optional[Count] = None
    value: Optional[Count] = None
    refuted: list[Refuted] = []
    reason: Optional[str] = None
    joins: list[str] = []
    leaves: list[str] = []


class RankedAssignor(_PlanRecord):
    """An assignor on the rebalances of a history.

    Attributes
    ----------
    applies, refused
        Rebalances to which it applies, or does not.
    invalid, unbalanced, at_optimum
        Assignments that break a rule; that are valid and not dec-min balanced; that are
        balanced with the fewest moves.
    moves, needless_moves
        Moves, and those beyond the fewest, of balanced assignments.
    peak_lag
        The largest of any member in any rebalance, records; absent without lag.
    moves_saved, unbalanced_saved
        Of the group's own assignments, on the rebalances that both answered; less than
        0: it would have been worse.
    """

    assignor: str
    applies: Count
    refused: Count
    invalid: Count
    unbalanced: Count
    at_optimum: Count
    moves: Count
    needless_moves: Count
    peak_lag: Optional[Count] = None
    moves_saved: Optional[int] = None
    unbalanced_saved: Optional[int] = None


class Ranking(_PlanRecord):
    """Assignors over a group's own history, the best first.

    ``actual`` is the group's own leader; ``used`` are the assignors that it used.
    """

    rebalances: Count
    used: list[str]
    actual: Optional[RankedAssignor] = None
    optimum: Optional[RankedAssignor] = None
    assignors: list[RankedAssignor]
    advice: Optional[str] = None


class Plan(_PlanRecord):
    """Answers to what-if questions on one group.

    Attributes
    ----------
    round_ms
        Assumption: the time of one round of a rebalance, ms.
    """

    format: Literal["plan/1"] = FORMAT
    group: str
    id: Optional[str] = None
    policy: Optional[str] = None
    round_ms: Optional[Count] = None
    changes: list[Change] = []
    outcome: Optional[Outcome] = None
    members_needed: Optional[MembersNeeded] = None
    ranking: Optional[Ranking] = None

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return self.model_dump(by_alias=True, exclude_none=True)


def parse_plan(text: bytes | str) -> Plan:
    """Read a plan/1 document.

    Raises
    ------
    DocumentError
        If it is not one.
    """
    return parse_record(Plan, text)
