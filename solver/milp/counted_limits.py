"""Limits that count the work of one solve: programs that are built, and HiGHS's steps.

HiGHS has no deterministic time, so its work is counted in calls of its callbacks, which
come at the same steps in every run. One unit takes about a second, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final

from solver.limits import Limits

PER_ENTRY: Final = 1e-5
"""Units per column, and per entry of a row: PuLP creates it and passes it to HiGHS."""

CHECKED_EVERY: Final = 64
"""Columns created between two checks of the limits."""

_PER_ITERATION: Final = 1e-5
_PER_ITERATION_AND_COLUMN: Final = 1e-8
_PER_STEP: Final = 1e-4
_PER_STEP_AND_COLUMN: Final = 3e-5
"""Units per iteration of the simplex algorithm and per step of branch and bound.

A step solves several linear programs, and takes between a fifth and twice of that.
"""


@dataclass(slots=True)
class _Spent:
    units: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedLimits(Limits):
    """Limits of one solve, and the effort that it has spent."""

    _spent: _Spent = field(default_factory=_Spent)

    @classmethod
    def of(cls, limits: Limits) -> CountedLimits:
        """Return the same limits, of which nothing is spent; the clock goes on."""
        given = {field.name: getattr(limits, field.name) for field in fields(Limits)}
        return cls(**given)

    def exceeded(self, *, beside: int = 0) -> str | None:
        """Name the limit that is reached, effort included; None if none is."""
        if self.is_spent:
            return f"effort limit of {self.effort:g}"
        return Limits.exceeded(self, beside=beside)  # no super(): slots

    @property
    def is_spent(self) -> bool:
        """Whether the effort limit is reached."""
        return self.effort is not None and self._spent.units >= self.effort

    def spend_on_entries(self, entries: int) -> None:
        """Count the steps that a program takes to build and to pass on."""
        self._spent.units += PER_ENTRY * entries

    def spend_on_step(self, columns: int, *, is_iteration: bool) -> None:
        """Count one call of a callback while HiGHS solves a program."""
        if is_iteration:
            units = _PER_ITERATION + _PER_ITERATION_AND_COLUMN * columns
        else:
            units = _PER_STEP + _PER_STEP_AND_COLUMN * columns
        self._spent.units += units
