"""Shrink a finding: the same category and detail on a smaller rebalance.

A finding that not every run shows is flaky: a candidate then counts as showing it if
one of several runs does, so many that a share of 95 % of the candidates as flaky as the
finding are recognized.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from conformance.runs import Category, Outcome, Sighting, Subject, drive
from conformance.shrinking.reduction import MOST_TESTS, reduce_rebalance

Document = dict[str, Any]
Kind = tuple[Category, str]

FIRST_RUNS: Final = 5
MORE_RUNS: Final = 20  # of a finding that the first runs do not show
LAST_RUNS: Final = 10  # of the shrunk instance
MISSED: Final = 0.05  # share of candidates that a flaky finding may miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A shrunk finding.

    Attributes
    ----------
    outcome : Outcome
        Of the shrunk instance; of the original one if no run showed it again.
    tests : int
        Rebalances that were sent in order to find it.
    is_minimal : bool
    seen : tuple of int, or None
        (k, n) if only k of n runs of the shrunk instance show it; None if all do.
    """

    outcome: Outcome
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

    def shrink(self, sighting: Sighting) -> Shrunk:
        """Return the smallest instance found with an outcome of the same kind.

        Raises
        ------
        OSError or OutsideError
            If the subject cannot be started or reached.
        """
        kind, original = sighting.kind, sighting.outcome
        rebalance = original.rounds[0].rebalance
        first, n = self._seen(rebalance, kind, _first_runs(kind))
        if first == 0 and kind[0] is not Category.HANG:
            first, n = self._seen(rebalance, kind, MORE_RUNS)
        if first == 0:
            return self._unseen(original, n)
        runs = _runs(first / n)
        reduction = reduce_rebalance(
            rebalance,
            lambda candidate: self._shows(candidate, kind, runs),
            tests=self.tests,
            seconds=self.seconds,
        )
        outcome = self._found(reduction.rebalance, kind, max(runs, MORE_RUNS))
        if outcome is None:
            return self._unseen(original, n)
        last, n = self._seen(reduction.rebalance, kind, _last_runs(kind))
        return Shrunk(
            outcome=outcome,
            tests=self.sent,
            is_minimal=reduction.is_minimal,
            seen=None if last == n else (last, n),
        )

    def _outcome(self, rebalance: Document) -> Outcome:
        self.sent += 1
        return drive(self.subject, rebalance, cooperative=self.cooperative)

    def _found(self, rebalance: Document, kind: Kind, runs: int) -> Outcome | None:
        for _ in range(runs):
            outcome = self._outcome(rebalance)
            if (outcome.category, outcome.detail) == kind:
                return outcome
        return None

    def _shows(self, rebalance: Document, kind: Kind, runs: int) -> bool:
        return self._found(rebalance, kind, runs) is not None

    def _seen(self, rebalance: Document, kind: Kind, runs: int) -> tuple[int, int]:
        """Count the runs that show it."""
        shown = sum(self._shows(rebalance, kind, 1) for _ in range(runs))
        return shown, runs

    def _unseen(self, original: Outcome, runs: int) -> Shrunk:
        return Shrunk(
            outcome=original, tests=self.sent, is_minimal=False, seen=(0, runs)
        )


def _first_runs(kind: Kind) -> int:
    """Return fewer for a hang, because each takes its whole time limit."""
    return 2 if kind[0] is Category.HANG else FIRST_RUNS


def _last_runs(kind: Kind) -> int:
    return 2 if kind[0] is Category.HANG else LAST_RUNS


def _runs(share: float) -> int:
    """Return how often to run a candidate that shows it with this probability."""
    return 1 if share >= 1 else math.ceil(math.log(MISSED) / math.log(1 - share))
