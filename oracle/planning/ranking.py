"""Assignors over a group's own history, from the answers that an audit has judged.

Each rebalance is answered from the state that the group was in; an assignor's earlier
answers do not carry over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oracle.planning.plan_records import RankedAssignor, Ranking

if TYPE_CHECKING:  # plans of files need no Arrow
    from pipeline.groups import HistoryAnswer

ACTUAL: Final = "actual"
OPTIMA: Final = ("optimum", "kip54-sticky")


def rank(
    answers: Sequence[HistoryAnswer], used: Sequence[str], advice: str | None = None
) -> Ranking:
    """Rank assignors by rebalances that they spoil, then by needless moves.

    The order: assignors that apply to every rebalance first; then fewest invalid, then
    fewest unbalanced assignments, then fewest needless moves, then fewest moves.
    ``advice`` is that of the page of the audit (`oracle.report.advice_of_group`).
    """
    by_name: dict[str, dict[str, HistoryAnswer]] = {}
    for answer in answers:
        by_name.setdefault(answer.assignor, {})[answer.rebalance_id] = answer
    actual = by_name.get(ACTUAL, {})
    rows = {name: _row(name, found, actual) for name, found in by_name.items()}
    ranked = sorted(
        (row for name, row in rows.items() if name not in (ACTUAL, *OPTIMA)), key=_key
    )
    return Ranking.known(
        rebalances=len({answer.rebalance_id for answer in answers}),
        used=sorted(set(used)),
        actual=rows.get(ACTUAL),
        optimum=rows.get(OPTIMA[0]),
        assignors=ranked,
        advice=advice,
    )


def _row(
    name: str,
    found: dict[str, HistoryAnswer],
    actual: dict[str, HistoryAnswer],
) -> RankedAssignor:
    tally = _AnswerTally.of(found.values())
    saved: dict[str, Any] = {}
    if name != ACTUAL and actual:
        both = [
            (answer, actual[key])
            for key, answer in found.items()
            if answer.applies and key in actual and actual[key].applies
        ]
        theirs = _AnswerTally.of(other for _, other in both)
        ours = _AnswerTally.of(answer for answer, _ in both)
        saved = {
            "moves_saved": theirs.moves - ours.moves,
            "unbalanced_saved": theirs.unbalanced - ours.unbalanced,
        }
    return RankedAssignor.known(
        assignor=name,
        applies=tally.applies,
        refused=len(found) - tally.applies,
        invalid=tally.invalid,
        unbalanced=tally.unbalanced,
        at_optimum=tally.at_optimum,
        moves=tally.moves,
        needless_moves=tally.needless_moves,
        peak_lag=tally.peak_lag,
        **saved,
    )


@dataclass(slots=True)
class _AnswerTally:
    """Counts over answers; an unbalanced one that withholds is a round, not an end."""

    applies: int = 0
    invalid: int = 0
    unbalanced: int = 0
    at_optimum: int = 0
    moves: int = 0
    needless_moves: int = 0
    peak_lag: int | None = None

    @classmethod
    def of(cls, answers: Iterable[HistoryAnswer]) -> _AnswerTally:
        """Count the answers."""
        tally = cls()
        for answer in answers:
            if answer.applies:
                tally._add(answer)
        return tally

    def _add(self, answer: HistoryAnswer) -> None:
        self.applies += 1
        self.moves += answer.moves
        if answer.peak_lag is not None:
            self.peak_lag = max(self.peak_lag or 0, answer.peak_lag)
        if not answer.is_valid:
            self.invalid += 1
        elif not answer.is_balanced:
            self.unbalanced += not answer.withheld
        else:
            needless = answer.moves - (
                answer.moves if answer.least is None else answer.least
            )
            self.needless_moves += needless
            self.at_optimum += answer.least is not None and not needless


def _key(row: RankedAssignor) -> tuple[Any, ...]:
    return (
        bool(row.refused),
        row.invalid,
        row.unbalanced,
        row.needless_moves,
        row.moves,
        row.assignor,
    )
