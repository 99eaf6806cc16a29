"""Lexicographic minimization of the objective ``load``: all loads, largest first.

Within a balance, a move budget, and previous objectives, no sum of convex costs does
this. So it is solved in stages: first the largest value, then how many members reach it
and the next lower values (several values at once, where their weighted sum stays
small), then the largest value of the other members, and so on. Values are weighted
loads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from solver.cpsat.cp_instance import ClassCounts, CpTotals
from solver.cpsat.objective_expressions import VALUE_MAX
from solver.cpsat.run_solver import CpRuns
from solver.cpsat.variables import CpProgram, Linear, total
from solver.limits import LimitExceededError
from solver.result import Status

BATCH_MAX: Final = 2**29
"""The weighted counts of one batch stay below this, and so below `PRESOLVE_MAX`."""


@dataclass(slots=True, kw_only=True)
class LoadVectorSolve:
    """State of one minimization.

    A flag is 1 in solutions in which its member reaches the last threshold; members
    that cannot reach it have none.
    """

    program: CpProgram
    runs: CpRuns
    counts: ClassCounts  # the best solution so far
    proved: bool  # its vector is known to be least, and only has to be fixed
    flags: dict[int, Linear] = field(default_factory=dict)
    threshold: int = VALUE_MAX + 1  # values from here up are settled

    @property
    def units(self) -> tuple[int, ...]:
        """Weight of one partition of each member."""
        return self.program.cp.units

    def run(self) -> tuple[int, ...]:
        """Minimize the load vector, and fix the program at it.

        Alternates between the largest open value and the counts from there down.

        Returns
        -------
        tuple of int
            Largest values, in order, that no solution can reduce. Unless they are all
            values, a limit was exceeded, and the program is not fixed.
        """
        while rest := self._open_values():
            even = len(set(self.units)) == 1 and max(rest) - min(rest) <= self.units[0]
            self.proved = self.proved or even
            if not (self._minimize_peak(max(rest)) and self._minimize_counts()):
                return tuple(v for v in self._vector() if v >= self.threshold)
        return self._vector()

    def _vector(self) -> tuple[int, ...]:
        return CpTotals.of(self.program.cp, self.counts).load_vector

    def _open_values(self) -> list[int]:
        """Return the values below the last threshold, or none if all of them are 0."""
        rest = [value for value in self._vector() if value < self.threshold]
        return rest if any(rest) else []

    def _minimize_peak(self, peak_now: int) -> bool:
        """Minimize the largest open value: unit[m] · load[m] ≤ peak unless flag[m]."""
        if self.proved:
            return True
        program, last = self.program, self.threshold
        peak = program.derive(
            0,
            peak_now,
            lambda totals: max(v for v in totals.weighted_loads if v < last),
        )
        for m, unit in enumerate(self.units):
            beyond = unit * program.region.loads[m][1]
            limit = peak + beyond * self.flags[m] if m in self.flags else peak
            program.model.add(unit * program.load(m) <= limit)
        return self._minimize(peak)

    def _thresholds(self) -> list[int]:
        """List the values that a load can have, from the largest open one down."""
        base = len(self.units) + 1
        weight, value = base, max(self._open_values())
        found: list[int] = []
        while value > 0 and (weight <= BATCH_MAX or not found):
            found.append(value)
            weight *= base
            value = max(unit * ((value - 1) // unit) for unit in self.units)
        return found

    def _minimize_counts(self) -> bool:
        """Minimize the number of values that reach each threshold, the highest first.

        If a flag implies those of lower thresholds, load[m] ≤ least + sum over
        thresholds of step · flag: each flag allows the loads up to the next threshold.
        """
        thresholds = self._thresholds()
        reaching: list[list[Linear]] = [[] for _ in thresholds]
        for m in range(len(self.units)):
            self._flag_member(m, thresholds, reaching)
        weighted = total([])
        for flags in reaching:
            weighted = weighted * (len(self.units) + 1) + total(flags)
        if not self.proved and not self._minimize(weighted):
            return False
        values = self._vector()
        for threshold, flags in zip(thresholds, reaching, strict=True):
            reached = sum(value >= threshold for value in values)
            self.program.model.add(total(flags) <= reached)
        self.threshold = thresholds[-1]
        return True

    def _flag_member(
        self, member: int, thresholds: list[int], reaching: list[list[Linear]]
    ) -> None:
        program, unit = self.program, self.units[member]
        most = thresholds[0] // unit
        flag = self.flags.get(member)
        above = most + 1
        beyond = max(0, program.region.loads[member][1] - most)
        limit = total([]) if flag is None else beyond * flag
        for threshold, flags in zip(thresholds, reaching, strict=True):
            least = -(-threshold // unit)
            if least < above:
                lower = self._flag(member, least)
                if flag is not None:
                    program.model.add(lower >= flag)
                limit = limit + (above - least) * lower
                flag, above = lower, least
            if flag is not None:
                flags.append(flag)
        program.model.add(program.load(member) <= above - 1 + limit)
        if flag is not None:
            self.flags[member] = flag

    def _flag(self, member: int, least: int) -> Linear:
        return self.program.derive(0, 1, lambda t: int(t.loads[member] >= least))

    def _minimize(self, expression: Linear) -> bool:
        """Keep the solution unless it is worse; return whether it is optimal."""
        self.program.hint(self.counts)
        try:
            found = self.runs.minimize(self.program, expression)
        except LimitExceededError:
            return False
        if found.counts is not None:
            before, vector = self.counts, self._vector()
            self.counts = found.counts
            if self._vector() > vector:
                self.counts = before
        return found.status is Status.OPTIMAL
