"""Effort spent by one solve, counted in deterministic steps, and the limits on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Final

from solver.limits import Limits

STEPS_PER_UNIT: Final = 1_000_000_000
"""Steps of kernels that count as one unit of effort, about a second."""


@dataclass(slots=True, kw_only=True)
class Work:
    """Effort spent so far, in CP-SAT's deterministic units, and the reason for its end.

    The clock, memory and stop of ``limits`` can only end work earlier; nothing else
    depends on them.
    """

    limits: Limits
    spent: float = 0.0
    ended_by: str | None = None  # first limit found exceeded, in words for a user

    def spend(self, steps: int) -> None:
        """Count the steps of a kernel."""
        self.spent += steps / STEPS_PER_UNIT

    def exceeded(self) -> str | None:
        """Return the limit that is exceeded, effort included; None: none is."""
        effort = self.limits.effort
        exceeded = self.limits.exceeded()
        if effort is not None and self.spent >= effort:
            exceeded = f"effort limit of {effort:g}"
        self.ended_by = self.ended_by or exceeded
        return exceeded

    def limits_within(self, effort: float) -> Limits:
        """Return the limits with no more than some effort from here."""
        most = self.spent + self.left(effort)
        return replace(self.limits, effort=None if most == inf else most)

    def left(self, effort: float) -> float:
        """Return how much of some effort is left."""
        limit = self.limits.effort
        return effort if limit is None else min(effort, max(0.0, limit - self.spent))

    def reason(self, *, is_searchable: bool) -> str:
        """Return why something is not proved."""
        self.exceeded()
        if self.ended_by is not None:
            return self.ended_by
        if not is_searchable:
            return "too large for a search to the end"
        if self.limits.effort is not None:  # CP-SAT stops just before it is spent
            return f"effort limit of {self.limits.effort:g}"
        return "the search found no end"
