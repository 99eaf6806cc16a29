"""Records of front/1: a Pareto frontier of moves against one objective."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from oracle.printed.printed_record import PrintedRecord
from rebalance import AssignmentDocument, Count, Optional, Proof


class PointRecord(PrintedRecord):
    """The best assignment within a number of moves that no fewer moves reach.

    Attributes
    ----------
    moves
        Number of moves.
    value
        Value of the objective, smaller is better.
    bound
        No assignment within as many moves has a lower value.
    status
        ``optimal`` if no assignment within the moves has a lower value, and fewer moves
        do not reach the value.
    kip54_score
        Kafka's balance score of the assignment; only with the objective ``balance``.
    proof
        What the bound rests on.
    assignment
        The assignment, which can be judged by itself.
    """

    moves: Count
    value: int
    bound: int
    status: Literal["optimal", "feasible"]
    kip54_score: Optional[Count] = None
    proof: Proof
    assignment: AssignmentDocument


class OpenLimits(PrintedRecord):
    """Limits on moves for which a lower value than the best found may exist.

    Attributes
    ----------
    from
        First limit.
    to
        Last limit.
    bound
        No assignment within these limits has a lower value.
    """

    first: Count = Field(alias="from")
    to: Count
    bound: int


class FrontierRecord(PrintedRecord):
    """All Pareto-optimal pairs of moves and one objective, by `front`.

    Attributes
    ----------
    format
        Name and version of the format.
    group, id
        Group and id of the instance.
    objective
        What is weighed against moves.
    balance
        The balance constraint, in the text form of policies.
    measure
        What the objective ``balance`` minimizes.
    scale
        Values and bounds are in units of 1 ÷ scale; absent: 1.
    complete
        Whether every point is proved and none is missing.
    points
        The points, fewest moves first.
    open
        Limits on moves for which the search has not settled the least value.
    reason
        Why the frontier is not complete, in words.
    """

    format: Literal["front/1"] = "front/1"
    group: str
    id: Optional[str] = None
    objective: Literal["balance", "peak-lag"]
    balance: str
    measure: Optional[str] = None
    scale: Optional[Count] = None
    complete: bool
    points: list[PointRecord]
    open: Optional[list[OpenLimits]] = None
    reason: Optional[str] = None
