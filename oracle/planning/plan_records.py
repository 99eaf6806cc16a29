"""Records of plan/1: outcomes of changes, members for a limit, ranked assignors.

`docs/plan.md` explains them. The JSON Schema is `docs/data/plan-1.schema.json`.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from oracle.planning.change_records import Change
from oracle.strict_record import StrictRecord
from rebalance import (
    AssignmentDocument,
    Count,
    Figures,
    Optional,
    Value,
)

FORMAT: Final = "plan/1"


class PlannedTransfer(StrictRecord):
    """Partitions that go from one member to another.

    ``from`` is absent if they had no owner, or are new; ``leaves`` is true if the giver
    leaves the group. ``lag`` is in records, after the change.
    """

    giver: Optional[str] = Field(default=None, alias="from")
    """Member that gives; absent: there was no owner."""

    leaves: Optional[bool] = None
    """Whether that member leaves the group."""

    to: Optional[str] = None
    """Member that receives."""

    partitions: dict[str, list[Count]]
    """Partitions by topic."""

    lag: Optional[Count] = None
    """Their lag after the change, records."""


class Transition(StrictRecord):
    """How the group gets from its present state to an assignment."""

    mode: Literal["cooperative", "eager", "consumer"]
    """``cooperative`` (KIP-429), ``eager``, or ``consumer``: the protocol of KIP-848,
    without rounds of the whole group."""

    rounds: Optional[Count] = None
    """Generations until nothing is withheld; absent for ``consumer``."""

    unowned_partitions: Count
    """Partitions with an owner before that have none for some time."""

    unowned_partition_ms: Count
    """Their number, times the ms that each has no owner."""


class PlannedObjective(StrictRecord):
    """Value of an objective of the policy, counted by the judge."""

    of: str
    """The objective."""

    value: Value
    """Its value."""

    scale: Optional[Count] = None
    """The value is in units of 1 ÷ scale; absent: 1."""


class PlannedAnswer(StrictRecord):
    """Outcome of one assignor after the change."""

    assignor: str
    """Name of the assignor; ``optimum`` for the optimum."""

    refused: Optional[str] = None
    """Why it does not apply; all but ``assignor`` is then absent."""

    status: Optional[Literal["optimal", "feasible", "infeasible", "unknown"]] = None
    """Of the optimum: optimal only if proved. ``found`` is the judge's finding on it:
    ``proved``, ``search``, ``unproved``, or ``refuted``."""

    found: Optional[str] = None
    """Of the optimum: the judge's finding on the status."""

    reason: Optional[str] = None
    """Why there is no assignment, or no proof."""

    balance_met: Optional[bool] = None
    """Whether the balance of the policy is met."""

    budget_met: Optional[bool] = None
    """Whether the move budget of the policy is met."""

    figures: Optional[Figures] = None
    """Figures of the assignment."""

    objectives: Optional[list[PlannedObjective]] = None
    """Objectives of the policy."""

    transition: Optional[Transition] = None
    """How the group gets there."""


class Outcome(StrictRecord):
    """The state of the group after the change.

    ``answers`` are those of the optimum and of every assignor; ``transfers`` and
    ``assignment`` are of the optimum. Without ``lag_known``, every peak lag is 0.
    """

    members: Count
    """Number of members."""

    partitions: Count
    """Number of partitions."""

    lag_known: bool
    """Whether the lag of the group is known."""

    answers: list[PlannedAnswer]
    """The optimum and every assignor."""

    transfers: list[PlannedTransfer]
    """Transfers from the present state to the optimum."""

    assignment: Optional[AssignmentDocument] = None
    """The optimum, with its proof."""


class Refuted(StrictRecord):
    """Why a number of members does not suffice."""

    members: Count
    """The number, or the first of the range."""

    up_to: Optional[Count] = None
    """The last number of the range; absent: one number."""

    bound: Count
    """No assignment to so many members has less."""

    rests_on: Literal["sum", "dec-min", "certificate", "terms", "search"]
    """``sum``: the total, divided by the members, rounded up. ``dec-min``: the judge
    finds no chain that improves the most even loads. ``certificate`` or ``terms``:
    recomputed by the judge. ``search``: the report of an engine."""


class MembersNeeded(StrictRecord):
    """The smallest number of members for a limit."""

    of: Literal["peak-lag", "load"]
    """Limited quantity."""

    at_most: Count
    """The limit; lag in records."""

    balance: str
    """The balance that the assignment has to meet."""

    present: Count
    """Members in the group after the change."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    """``optimal``: no smaller number suffices, proved by ``refuted``. ``feasible``:
    ``members`` suffice, and at least ``at_least`` are needed. ``infeasible``: no number
    suffices, for ``reason``. ``unknown``: none was found."""

    members: Optional[Count] = None
    """The smallest number that was found."""

    at_least: Optional[Count] = None
    """At least so many are needed."""

    value: Optional[Count] = None
    """The largest lag, or load, of a member in the assignment that was found."""

    refuted: list[Refuted] = Field(default=[])
    """Why smaller numbers do not suffice."""

    reason: Optional[str] = None
    """Why no number suffices, or none was found."""

    joins: list[str] = Field(default=[])
    """Number of members that join, for the group to have so many."""

    leaves: list[str] = Field(default=[])
    """Members that leave, for the group to have so few."""


class RankedAssignor(StrictRecord):
    """An assignor on the rebalances of a history."""

    assignor: str
    """Name of the assignor."""

    applies: Count
    """Rebalances to which it applies."""

    refused: Count
    """Rebalances to which it does not apply."""

    invalid: Count
    """Assignments that break a rule."""

    unbalanced: Count
    """Assignments that are valid and not dec-min balanced."""

    at_optimum: Count
    """Assignments that are balanced with the fewest moves."""

    moves: Count
    """Moves of balanced assignments."""

    needless_moves: Count
    """Moves of balanced assignments beyond the fewest."""

    peak_lag: Optional[Count] = None
    """The largest of any member in any rebalance, records; absent without lag."""

    moves_saved: Optional[int] = None
    """Moves of the group's own assignments that it would have saved, on the rebalances
    that both answered; less than 0: it would have been worse."""

    unbalanced_saved: Optional[int] = None
    """Unbalanced assignments of the group's own that it would have saved, on the same
    rebalances; less than 0: it would have been worse."""


class Ranking(StrictRecord):
    """Assignors over a group's own history, the best first.

    ``actual`` is the group's own leader; ``used`` are the assignors that it used.
    """

    rebalances: Count
    """Number of rebalances in the history."""

    used: list[str]
    """Assignors that the group used."""

    actual: Optional[RankedAssignor] = None
    """The group's own assignments."""

    optimum: Optional[RankedAssignor] = None
    """The optimum."""

    assignors: list[RankedAssignor]
    """The assignors, best first."""

    advice: Optional[str] = None
    """The advice of the page of an audit."""


class PlanDocument(StrictRecord):
    """Answers to what-if questions on one group."""

    format: Literal["plan/1"] = FORMAT
    """Name and version of the format."""

    group: str
    """Group of the instance."""

    id: Optional[str] = None
    """Id of the instance."""

    policy: Optional[str] = None
    """The policy of the optimum, in its text form."""

    round_ms: Optional[Count] = None
    """Assumption: the time of one round of a rebalance, ms."""

    changes: list[Change] = Field(default=[])
    """The changes, in order."""

    outcome: Optional[Outcome] = None
    """The group after the changes."""

    members_needed: Optional[MembersNeeded] = None
    """Number of members that a limit needs."""

    ranking: Optional[Ranking] = None
    """Assignors over the history of the group."""
