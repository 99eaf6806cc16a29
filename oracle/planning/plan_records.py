"""Records of plan/1: outcomes of changes, members for a limit, ranked assignors.

`docs/plan.md` explains them. The JSON Schema is `docs/data/plan-1.schema.json`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from oracle.planning.change_records import Change, PlanRecord
from rebalance import (
    AssignmentDocument,
    Count,
    Figures,
    Optional,
    Value,
)

FORMAT: Final = "plan/1"


class PlannedTransfer(PlanRecord):
    """Partitions that go from one member to another.

    ``from`` is absent if they had no owner, or are new; ``leaves`` is true if the giver
    leaves the group. ``lag`` is in records, after the change.

    Attributes
    ----------
    from
        Member that gives; absent: there was no owner.
    leaves
        Whether that member leaves the group.
    to
        Member that receives.
    partitions
        Partitions by topic.
    lag
        Their lag after the change, records.
    """

    giver: Optional[str] = Field(default=None, alias="from")
    leaves: Optional[bool] = None
    to: Optional[str] = None
    partitions: dict[str, list[Count]]
    lag: Optional[Count] = None


class Transition(PlanRecord):
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


class PlannedObjective(PlanRecord):
    """Value of an objective of the policy, counted by the judge.

    Attributes
    ----------
    of
        The objective.
    value
        Its value.
    scale
        The value is in units of 1 ÷ scale; absent: 1.
    """

    of: str
    value: Value
    scale: Optional[Count] = None


class PlannedAnswer(PlanRecord):
    """Outcome of one assignor after the change.

    Attributes
    ----------
    refused
        Why it does not apply; all but ``assignor`` is then absent.
    status
        Of the optimum: optimal only if proved. ``found`` is the judge's finding on it:
        ``proved``, ``search``, ``unproved``, or ``refuted``.
    balance_met
        Whether the balance of the policy is met.
    assignor
        Name of the assignor; ``optimum`` for the optimum.
    found
        Of the optimum: the judge's finding on the status.
    reason
        Why there is no assignment, or no proof.
    budget_met
        Whether the move budget of the policy is met.
    figures
        Figures of the assignment.
    objectives
        Objectives of the policy.
    transition
        How the group gets there.
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


class Outcome(PlanRecord):
    """The state of the group after the change.

    ``answers`` are those of the optimum and of every assignor; ``transfers`` and
    ``assignment`` are of the optimum. Without ``lag_known``, every peak lag is 0.

    Attributes
    ----------
    members
        Number of members.
    partitions
        Number of partitions.
    lag_known
        Whether the lag of the group is known.
    answers
        The optimum and every assignor.
    transfers
        Transfers from the present state to the optimum.
    assignment
        The optimum, with its proof.
    """

    members: Count
    partitions: Count
    lag_known: bool
    answers: list[PlannedAnswer]
    transfers: list[PlannedTransfer]
    assignment: Optional[AssignmentDocument] = None


class Refuted(PlanRecord):
    """Why a number of members does not suffice.

    Attributes
    ----------
    members, up_to
        The number, or the range from it.
    bound
        No assignment to so many members has less.
    rests_on
        ``sum``: the total, divided by the members, rounded up. ``dec-min``: the
        judge finds no chain that improves the most even loads. ``certificate`` or
        ``terms``: recomputed by the judge. ``search``: the report of an engine.
    """

    members: Count
    up_to: Optional[Count] = None
    bound: Count
    rests_on: Literal["sum", "dec-min", "certificate", "terms", "search"]


class MembersNeeded(PlanRecord):
    """The smallest number of members for a limit.

    Attributes
    ----------
    of, at_most
        Limited quantity, and the limit; lag in records.
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
    members
        The smallest number that was found.
    at_least
        At least so many are needed.
    refuted
        Why smaller numbers do not suffice.
    reason
        Why no number suffices, or none was found.
    """

    of: Literal["peak-lag", "load"]
    at_most: Count
    balance: str
    present: Count
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    members: Optional[Count] = None
    at_least: Optional[Count] = None
    value: Optional[Count] = None
    refuted: list[Refuted] = Field(default=[])
    reason: Optional[str] = None
    joins: list[str] = Field(default=[])
    leaves: list[str] = Field(default=[])


class RankedAssignor(PlanRecord):
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
    assignor
        Name of the assignor.
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


class Ranking(PlanRecord):
    """Assignors over a group's own history, the best first.

    ``actual`` is the group's own leader; ``used`` are the assignors that it used.

    Attributes
    ----------
    rebalances
        Number of rebalances in the history.
    used
        Assignors that the group used.
    actual
        The group's own assignments.
    optimum
        The optimum.
    assignors
        The assignors, best first.
    advice
        The advice of the page of an audit.
    """

    rebalances: Count
    used: list[str]
    actual: Optional[RankedAssignor] = None
    optimum: Optional[RankedAssignor] = None
    assignors: list[RankedAssignor]
    advice: Optional[str] = None


class Plan(PlanRecord):
    """Answers to what-if questions on one group.

    Attributes
    ----------
    round_ms
        Assumption: the time of one round of a rebalance, ms.
    format
        Name and version of the format.
    group, id
        Group and id of the instance.
    policy
        The policy of the optimum, in its text form.
    changes
        The changes, in order.
    outcome
        The group after the changes.
    members_needed
        The smallest number of members for a limit.
    ranking
        Assignors over the history of the group.
    """

    format: Literal["plan/1"] = FORMAT
    group: str
    id: Optional[str] = None
    policy: Optional[str] = None
    round_ms: Optional[Count] = None
    changes: list[Change] = Field(default=[])
    outcome: Optional[Outcome] = None
    members_needed: Optional[MembersNeeded] = None
    ranking: Optional[Ranking] = None

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return self.model_dump(by_alias=True, exclude_none=True)
