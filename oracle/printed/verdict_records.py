"""Records of verdict/1: what the judge finds of an assignment."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from oracle.printed.printed_record import (
    Nothing,
    PrintedRecord,
    ProvedParts,
    Reason,
    StatusName,
)
from rebalance import Count, Optional

Number = Annotated[int, Field(ge=0)]
JudgedValue = int | list[int]
Rule = Literal[
    "assigned-twice",
    "missing-member",
    "unassigned",
    "unknown-member",
    "unknown-partition",
    "unrevoked",
    "unsubscribed",
]


class BrokenRule(PrintedRecord):
    """One violation of a rule; only the fields that the rule names are present.

    Attributes
    ----------
    rule
        Name of the rule.
    member
        Member that violates it.
    topic, partition
        The partition.
    claimant
        With ``unrevoked``: the member that has not revoked the partition yet.
    """

    rule: Rule
    member: Optional[str] = None
    topic: Optional[str] = None
    partition: Optional[Count] = None
    claimant: Optional[str] = None


class JudgedFigures(PrintedRecord):
    """Figures of an assignment, counted by the judge; integers of any size.

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
        Whether no single transfer evens out two members; null of an invalid
        assignment.
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

    loads: Optional[list[Number]] = None
    kept: Optional[Number] = None
    moves: Optional[Number] = None
    withheld: Optional[Number] = None
    kip54_score: Optional[Number] = None
    kip54_balanced: bool | Nothing = None
    dec_min_balanced: Optional[bool] = None
    peak_lag: Optional[Number] = None
    lag_spread: Optional[Number] = None
    rack_mismatches: Optional[Number] = None


class MetPolicy(PrintedRecord):
    """The policy that the assignment states, and whether its constraints are met.

    Attributes
    ----------
    of
        The policy, in its text form.
    balance_met
        Whether the balance is met; computed from the assignment.
    budget_met
        Whether the move budget is met; computed from the assignment.
    """

    of: str
    balance_met: bool
    budget_met: bool


class JudgedObjective(PrintedRecord):
    """One objective of the policy: its value, and what its bound rests on.

    Attributes
    ----------
    of
        The objective, in the text form of policies.
    value
        Its value, computed from the assignment.
    bound
        The bound that holds; with ``search``, the one that is claimed.
    scale
        ``value`` and ``bound`` are in units of 1 ÷ scale; absent: 1.
    claimed
        What the answer states of the objective and what is false.
    rests_on
        ``certificate`` or ``terms``, which were checked; ``search``, the report of an
        engine, which was not; ``nothing``: no proof is stated.
    engine
        Engine whose report the bound rests on.
    proved
        Whether the constraints are met and a checked bound equals the value.
    evidence
        What is wrong with the proof.
    """

    of: str
    value: JudgedValue
    bound: Optional[JudgedValue] = None
    scale: Optional[Number] = None
    claimed: Optional[dict[str, Any]] = None
    rests_on: Literal["certificate", "terms", "search", "nothing"]
    engine: Optional[str] = None
    proved: bool
    evidence: Optional[Reason] = None


class FoundStatus(PrintedRecord):
    """A claim about all other assignments, and what it is found to be.

    Attributes
    ----------
    claimed
        Status that the assignment claims.
    found
        ``proved``; ``search``: it rests on the report of an engine; ``unproved``; or
        ``refuted``.
    """

    claimed: Literal["optimal", "infeasible"]
    found: Literal["proved", "search", "unproved", "refuted"]


class UnreadablePart(PrintedRecord):
    """Why a document cannot be judged.

    Attributes
    ----------
    document
        Which document it is.
    path
        Place in the document.
    reason
        What is wrong there, in words.
    """

    document: Literal["instance", "assignment"]
    path: str
    reason: str


class RefutingTransfer(PrintedRecord):
    """A transfer that evens out two members.

    Attributes
    ----------
    member
        Member that has at least two partitions more than ``to``.
    topic, partition
        Partition that it can give.
    to
        Member that can take it.
    """

    member: str
    topic: str
    partition: Count
    to: str


class Evidence(PrintedRecord):
    """What refutes the answer, each part only if it exists.

    Attributes
    ----------
    kip54_balanced
        A transfer that evens out two members.
    dec_min_balanced
        Members of a chain of transfers, from the one that gives to the one that takes.
    certificate
        Why the certificate proves nothing.
    figures
        By figure: the value that the answer states (``claimed``), and the right one
        (``found``).
    balance
        Why the balance of the policy is not met.
    budget
        Owned partitions that move, and the number allowed.
    objectives
        Why the objectives are not those of the policy.
    status
        What is claimed and does not follow.
    brute_force
        With ``--against-brute-force``: what enumeration finds of each claim.
    unreadable
        The document that cannot be judged.
    """

    kip54_balanced: Optional[RefutingTransfer] = None
    dec_min_balanced: Optional[list[str]] = None
    certificate: Optional[Reason] = None
    figures: Optional[dict[str, dict[str, Any]]] = None
    balance: Optional[Reason] = None
    budget: Optional[Reason] = None
    objectives: Optional[Reason] = None
    status: Optional[Reason] = None
    brute_force: Optional[Reason] = None
    unreadable: Optional[UnreadablePart] = None


class OptimumBeside(PrintedRecord):
    """The optimum of the same instance, by ``--against optimum``.

    Attributes
    ----------
    assignor
        Name of the answer that the assignment is compared with.
    policy
        The policy that the assignment states; absent: dec-min balance, then the fewest
        moves.
    status
        ``optimal`` if the optimum is proved.
    reason
        Why there is no optimum, or no proof, in words.
    figures
        Figures of the optimum; empty if there is none.
    objectives
        Of a policy: its objectives in the optimum.
    proved
        What the judge finds proved of the optimum.
    gap
        By figure or objective: the value of the assignment minus that of the optimum;
        null if there is nothing to compare.
    """

    assignor: Literal["optimum"]
    policy: Optional[str] = None
    status: StatusName
    reason: Optional[str] = None
    figures: JudgedFigures
    objectives: Optional[list[JudgedObjective]] = None
    proved: ProvedParts
    gap: dict[str, int] | Nothing


class VerdictRecord(PrintedRecord):
    """The judge's verdict on one assignment, by `judge` and `python -m verify`.

    Attributes
    ----------
    format
        Name and version of the format.
    id
        Id of the instance.
    verdict
        ``valid`` if no rule is violated.
    violations
        Violations of rules, at most 1,000 per rule.
    more_violations
        By rule: how many violations are not listed.
    figures
        Figures of the assignment; empty if it cannot be read.
    policy
        The policy that the assignment states.
    objectives
        Its objectives; empty unless the assignment is complete and valid.
    status
        A claim about all other assignments, and what it is found to be.
    evidence
        What refutes the answer.
    proved
        What can be checked without trust.
    against
        With ``--against optimum``: the optimum and the gap to it.
    """

    format: Literal["verdict/1"] = "verdict/1"
    id: Optional[str] = None
    verdict: Literal["valid", "invalid", "unreadable"]
    violations: list[BrokenRule]
    more_violations: Optional[dict[Rule, Count]] = None
    figures: JudgedFigures
    policy: Optional[MetPolicy] = None
    objectives: Optional[list[JudgedObjective]] = None
    status: Optional[FoundStatus] = None
    evidence: Evidence
    proved: ProvedParts
    against: Optional[OptimumBeside] = None
