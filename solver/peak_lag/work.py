"""What is left to do the work with: clock, memory, stop, and effort spent so far."""

from __future__ import annotations

from dataclasses import dataclass

from solver.limits import LimitExceededError, Limits

STEPS_A_UNIT = 1_000_000_000
"""Steps of exchanges that count as one unit of effort, about a second."""


@dataclass(slots=True, kw_only=True)
class Work:
    """Limits, and the effort that has been spent under them.

    Attributes
    ----------
    limits : Limits
    spent : float
        In CP-SAT's deterministic units.
    """

    limits: Limits
    spent: float = 0.0

    def exceeded(self) -> str | None:
        """Name the limit that has struck, effort included."""
        effort = self.limits.effort
        if effort is not None and self.spent >= effort:
            return f"effort limit of {effort:g}"
        return self.limits.exceeded()

    def check(self) -> None:
        """Raise LimitExceededError once a limit has struck."""
        if (struck := self.exceeded()) is not None:
            raise LimitExceededError(struck)

    def reason(self, *, fits: bool) -> str:
        """Say why something is not proved."""
        struck = self.exceeded()
        if struck is not None:
            return struck
        if not fits:
            return "too large for a search to the end"
        if self.limits.seconds is not None:  # not quite, but it was all spoken for
            return f"time limit of {self.limits.seconds:g} s"
        if self.limits.effort is not None:
            return f"effort limit of {self.limits.effort:g}"
        return "the search found no end"

    @property
    def is_open(self) -> bool:
        """Whether nothing but a stop ever ends it."""
        limits = self.limits
        return limits.seconds is None and limits.effort is None

    def left(self, wanted: float) -> float:
        """Return how much of some effort is left."""
        effort = self.limits.effort
        return wanted if effort is None else min(wanted, max(0.0, effort - self.spent))
