"""The way to a search: it is begun only where it can end in time."""

from __future__ import annotations

from typing import Final

from rebalance.claims import Int32
from solver.peak_lag.question import Question, Searched, choices
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work

CHOICES_A_SECOND: Final = 10_000
"""What can be built and presolved within the time that is left, and then some."""


def ask(
    setting: Setting, holder: Int32, question: Question, work: Work, effort: float
) -> Searched:
    """Put a question to CP-SAT, `solver.peak_lag.search.search`.

    Not where to build its program would take most of the time that is left.
    """
    left = work.limits.left
    if left is not None and choices(setting.room) > left * CHOICES_A_SECOND:
        return Searched(holder=None, bound=question.bound)
    # Imported when needed: it takes a second, and most groups need no search.
    from solver.peak_lag.search import search  # noqa: PLC0415

    return search(setting, holder, question, work, effort)
