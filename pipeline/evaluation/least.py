"""Least values that the optimum proves, and the gap of an answer to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.evaluation.answers import AssignorAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """Least values over all assignments; each is None unless it is proved.

    ``moves`` and ``kip54_score`` are of the dec-min assignments, and ``moves_kip54`` of
    the KIP-54 balanced ones. The score is also None if members state capacities,
    because it counts loads and the optimum balances load ÷ capacity.
    """

    kip54_score: int | None = None
    moves: int | None = None
    moves_kip54: int | None = None

    def gap(self, verdict: Mapping[str, Any]) -> dict[str, int] | None:
        """Subtract the least values from an answer's figures; None: not proved.

        The gap in moves of an answer that is not dec-min balanced can be negative.
        """
        if self.moves is None:
            return None
        figures = verdict["figures"]
        gap = {"moves": figures["moves"] - self.moves}
        if self.kip54_score is not None:
            gap["kip54_score"] = figures["kip54_score"] - self.kip54_score
        return gap

    def kip54_gap(self, verdict: Mapping[str, Any]) -> int | None:
        """Count needless moves; None unless the answer is valid and KIP-54 balanced."""
        figures = verdict["figures"]
        if self.moves_kip54 is None or verdict["verdict"] != "valid":
            return None
        if not figures["kip54_balanced"]:
            return None
        return int(figures["moves"]) - self.moves_kip54

    def is_optimum(self, verdict: Mapping[str, Any]) -> bool | None:
        """Return whether an answer is dec-min balanced with the fewest moves.

        None while partitions are withheld, or if the optimum is not proved.
        """
        figures = verdict["figures"]
        if figures.get("withheld") or self.moves is None:
            return None
        return bool(
            verdict["verdict"] == "valid"
            and figures["dec_min_balanced"]
            and figures["moves"] == self.moves
        )

    def is_kip54_optimum(self, verdict: Mapping[str, Any]) -> bool | None:
        """Return whether an answer is KIP-54 balanced with the fewest moves.

        None while partitions are withheld, or if the least value is not proved.
        """
        if verdict["figures"].get("withheld") or self.moves_kip54 is None:
            return None
        return self.kip54_gap(verdict) == 0


def least_of(
    optimum: AssignorAnswer | None, kip54: AssignorAnswer | None, *, by_capacity: bool
) -> Least:
    """Return the least values that two answers prove; None: there is no answer."""
    moves_kip54 = _least_moves_by_kip54(kip54)
    if optimum is None or optimum.verdict is None:
        return Least(moves_kip54=moves_kip54)
    figures, proved = optimum.verdict["figures"], optimum.verdict["proved"]
    balanced = optimum.verdict["verdict"] == "valid" and proved["dec_min"]
    sticky = balanced and proved["stickiness"]
    return Least(
        kip54_score=figures["kip54_score"] if balanced and not by_capacity else None,
        moves=figures["moves"] if sticky else None,
        moves_kip54=moves_kip54,
    )


def _least_moves_by_kip54(answer: AssignorAnswer | None) -> int | None:
    if answer is None or answer.verdict is None or answer.status != "optimal":
        return None
    figures = answer.verdict["figures"]
    met = answer.verdict["verdict"] == "valid" and figures["kip54_balanced"]
    return int(figures["moves"]) if met else None
