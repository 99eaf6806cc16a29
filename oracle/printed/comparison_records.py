"""Records of comparison/1: all assignors next to the optimum on one rebalance."""

from __future__ import annotations

from typing import Literal

from oracle.printed.printed_record import (
    Nothing,
    PrintedRecord,
    ProvedParts,
    StatusName,
)
from rebalance import Count, Figures, Optional


class OptimumGap(PrintedRecord):
    """Figures of an answer minus those of the optimum.

    Attributes
    ----------
    moves
        Moves beyond the optimum's; below 0 if the answer is less balanced.
    kip54_score
        Balance score beyond the optimum's; absent with capacities, which it ignores.
    """

    moves: int
    kip54_score: Optional[int] = None


class ComparedAnswer(PrintedRecord):
    """The answer of one assignor.

    Attributes
    ----------
    assignor
        Name of the assignor: ``optimum``, ``kip54-sticky`` (the optimum of KIP-54),
        ``actual`` (what the group was assigned), or a heuristic.
    applies
        Whether the assignor answers this instance.
    refused
        Why it does not, in words; then all other fields are absent.
    status
        Of an optimum: ``optimal`` if it is proved.
    verdict
        The judge's verdict on the assignment.
    figures
        Figures of the assignment, counted by the judge.
    proved
        Of an optimum: what the judge finds proved.
    gap
        Figures minus those of the optimum; null if the optimum is not proved.
    kip54_gap
        Moves beyond those of the optimum of KIP-54; null unless the answer is valid and
        KIP-54 balanced, and that optimum known.
    """

    assignor: str
    applies: bool
    refused: Optional[str] = None
    status: Optional[StatusName] = None
    verdict: Optional[Literal["valid", "invalid"]] = None
    figures: Optional[Figures] = None
    proved: Optional[ProvedParts] = None
    gap: OptimumGap | Nothing = None
    kip54_gap: int | Nothing = None


class Comparison(PrintedRecord):
    """Assignors on one rebalance, by `compare --json`.

    Attributes
    ----------
    format
        Name and version of the format.
    group, id
        Group and id of the instance.
    peak_lag_bound
        Lower bound on the peak lag of any assignment, records; null without lag.
    answers
        The optimum, the optimum of KIP-54 if it was asked for, what was assigned if it
        is known, and the heuristics asked for.
    """

    format: Literal["comparison/1"] = "comparison/1"
    group: str
    id: Optional[str] = None
    peak_lag_bound: Count | Nothing
    answers: list[ComparedAnswer]
