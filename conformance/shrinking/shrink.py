"""Shrink a finding: the same category and detail on a smaller rebalance.

A finding that every run shows stays one: a candidate has to show it in several runs in
a row. One that only some runs show is flaky: a candidate then has to show it in at
least half as large a share of the runs. Nothing unusual is added (`unusual_shapes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from conformance.runs import (
    Category,
    DrawnOutcome,
    DrivenRebalance,
    OutOfTimeError,
    Subject,
    drive,
)
from conformance.shapes import unusual_shapes
from conformance.shrinking.reduction import EARLY, MOST_TESTS, reduce_rebalance

Document = dict[str, Any]
Kind = tuple[Category, str]

FIRST_RUNS: Final = 5
MORE_RUNS: Final = 20  # of a finding that the first runs do not show
LAST_RUNS: Final = 10  # of the shrunk instance
FLAKY_RUNS: Final = 12  # of each candidate, if the finding is flaky
STABLE_RUNS: Final = 8  # of each candidate that shows a stable finding once


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A shrunk finding.

    Attributes
    ----------
    outcome : DrivenRebalance
        Of the shrunk instance; of the original one if no run showed it again, or if
        there was no time for it.
    tests : int
        Rebalances that were sent in order to find it.
    is_minimal : bool
    seen : tuple of int, or None
        (k, n) if only k of n runs of the shrunk instance show it; None if all do.
    """

    outcome: DrivenRebalance
    tests: int
    is_minimal: bool
    seen: tuple[int, int] | None = None


@dataclass(slots=True, kw_only=True)
class Shrinker:
    """Runs of one subject, counted; ``tests`` and ``seconds`` are the budget."""

    subject: Subject
    cooperative: bool
    tests: int = MOST_TESTS
    seconds: float | None = None
    sent: int = 0
    _smallest: DrivenRebalance | None = None

    def shrink(self, sighting: DrawnOutcome) -> Shrunk:
        """Return the smallest instance found with an outcome of the same kind.

        Raises
        ------
        OSError or OutsideError
            If the subject cannot be started or reached.
        """
        try:
            return self._shrink(sighting)
        except OutOfTimeError:
            outcome = self._smallest or sighting.outcome
            return Shrunk(outcome=outcome, tests=self.sent, is_minimal=False)

    def _shrink(self, sighting: DrawnOutcome) -> Shrunk:
        kind, original = sighting.kind, sighting.outcome
        rebalance = original.rounds[0].rebalance
        first, n = self._seen(rebalance, kind, _first_runs(kind))
        if first == 0 and kind[0] is not Category.HANG:
            first, n = self._seen(rebalance, kind, MORE_RUNS)
        if first == 0:
            return self._unseen(original, n)
        needed, runs = _standard(kind, first / n)
        unusual = unusual_shapes(rebalance)
        reduction = reduce_rebalance(
            rebalance,
            lambda candidate: (
                unusual_shapes(candidate) <= unusual
                and self._shows_often(candidate, kind, needed, runs)
            ),
            tests=self.tests,
            seconds=self.seconds,
            early=1.0 if kind[0] is Category.HANG else EARLY,
        )
        outcome = self._found(reduction.rebalance, kind, MORE_RUNS)
        if outcome is None:
            return self._unseen(original, n)
        last, n = self._seen(reduction.rebalance, kind, _last_runs(kind))
        return Shrunk(
            outcome=outcome,
            tests=self.sent,
            is_minimal=reduction.is_minimal,
            seen=None if last == n else (last, n),
        )

    def _outcome(self, rebalance: Document) -> DrivenRebalance:
        self.sent += 1
        return drive(self.subject, rebalance, cooperative=self.cooperative)

    def _found(
        self, rebalance: Document, kind: Kind, runs: int
    ) -> DrivenRebalance | None:
        for _ in range(runs):
            outcome = self._outcome(rebalance)
            if (outcome.category, outcome.detail) == kind:
                return outcome
        return None

    def _shows_often(
        self, rebalance: Document, kind: Kind, needed: int, runs: int
    ) -> bool:
        """Return whether enough of the runs show it; end as soon as that is known."""
        shown = 0
        for left in range(runs, 0, -1):
            if shown + left < needed:
                return False
            outcome = self._found(rebalance, kind, 1)
            shown += outcome is not None
            if outcome is not None and shown >= needed:
                self._smallest = outcome
                return True
        return False

    def _seen(self, rebalance: Document, kind: Kind, runs: int) -> tuple[int, int]:
        """Count the runs that show it."""
        found = [self._found(rebalance, kind, 1) for _ in range(runs)]
        return sum(outcome is not None for outcome in found), runs

    def _unseen(self, original: DrivenRebalance, runs: int) -> Shrunk:
        return Shrunk(
            outcome=original, tests=self.sent, is_minimal=False, seen=(0, runs)
        )


def _first_runs(kind: Kind) -> int:
    """Return fewer for a hang, because each takes its whole time limit."""
    return 2 if kind[0] is Category.HANG else FIRST_RUNS


def _last_runs(kind: Kind) -> int:
    return 2 if kind[0] is Category.HANG else LAST_RUNS


def _standard(kind: Kind, share: float) -> tuple[int, int]:
    """Return how many runs of how many have to show a finding seen in this share."""
    if share < 1:
        return max(1, int(share * FLAKY_RUNS / 2)), FLAKY_RUNS
    return (1, 1) if kind[0] is Category.HANG else (STABLE_RUNS, STABLE_RUNS)
