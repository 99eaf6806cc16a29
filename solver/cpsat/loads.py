"""The objective ``load``: all loads, largest first, made lexicographically least.

On what a balance, a budget and earlier levels leave, no sum of convex costs does that,
so it goes stage by stage: the largest value first, then how many members reach it and
the next lower ones, several values at once where their weighted sum stays small; then
the largest value of the others, and so on. Values are loads in parts of the common
capacity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from solver.cpsat.plan import Plan, Tally
from solver.cpsat.program import Linear, Program, reaches, total
from solver.cpsat.search import Found, Search
from solver.limits import LimitExceededError
from solver.result import Status

BATCH: Final = 2**29
"""The weighted counts of one batch stay below this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leveled:
    """How far the vector is settled.

    Attributes
    ----------
    plan : Plan
        The best that was found.
    settled : tuple of int
        Largest values, in order, that no plan can make less; all of them if ``done``.
    done : bool
    """

    plan: Plan
    settled: tuple[int, ...]
    done: bool


def minimize_load(
    program: Program, search: Search, plan: Plan, *, proved: bool = False
) -> Leveled:
    """Make the vector of loads least, and leave the program fixed at it.

    With ``proved`` the vector of the plan is known to be least, and is only fixed.
    """
    return _Stages(program, search, plan, proved=proved).run()


class _Stages:
    """One run; ``flag[m]`` says that m's value is at or above the last threshold."""

    def __init__(
        self, program: Program, search: Search, plan: Plan, *, proved: bool
    ) -> None:
        self.program, self.search, self.plan = program, search, plan
        self.proved = proved
        self.units = program.problem.units
        self.members = range(len(self.units))
        self.flag: list[Linear | None] = [None] * len(self.units)
        self.threshold: int | None = None

    def run(self) -> Leveled:
        while rest := self._rest():
            even = len(set(self.units)) == 1 and max(rest) - min(rest) <= self.units[0]
            self.proved = self.proved or even
            if not self._lower_peak():
                return self._result(done=False)
            if not self._count(list(self._thresholds(max(self._rest())))):
                return self._result(done=False)
        return self._result(done=True)

    def _values(self) -> list[int]:
        loads = Tally.of(self.program.problem, self.plan).loads
        return [unit * load for unit, load in zip(self.units, loads, strict=True)]

    def _rest(self) -> list[int]:
        """Return the values that are not settled, but for nothings."""
        values, last = self._values(), self.threshold
        rest = [value for value in values if last is None or value < last]
        return rest if any(rest) else []

    def _result(self, *, done: bool) -> Leveled:
        values = sorted(self._values(), reverse=True)
        settled = [v for v in values if self.threshold and v >= self.threshold]
        return Leveled(
            plan=self.plan, settled=tuple(values if done else settled), done=done
        )

    def _lower_peak(self) -> bool:
        """Minimize the peak of the others: unit[m] · load[m] ≤ peak unless flag[m]."""
        if self.proved:
            return True
        program, last = self.program, self.threshold
        now = max(self._rest())
        peak = program.define(
            0,
            now,
            lambda t: max(
                v
                for v in (u * n for u, n in zip(self.units, t.loads, strict=True))
                if last is None or v < last
            ),
        )
        for m in self.members:
            unit, flag = self.units[m], self.flag[m]
            beyond = unit * program.face.loads[m][1]
            room = peak if flag is None else peak + beyond * flag
            program.model.add(unit * program.load(m) <= room)
        return self._take(self._minimize(peak))

    def _thresholds(self, peak: int) -> Iterator[int]:
        """Go down from the peak through all values that a load can have."""
        base = len(self.units) + 1
        weight, value = base, peak
        while value > 0 and (weight <= BATCH or value == peak):
            yield value
            weight *= base
            value = max(unit * ((value - 1) // unit) for unit in self.units)

    def _count(self, thresholds: list[int]) -> bool:
        """Minimize how many values reach each threshold, the highest first.

        With flags falling from lower thresholds to higher ones, load[m] ≤ least + sum
        over thresholds of step · flag: each flag opens what lies up to the next one.
        """
        counts: list[list[Linear]] = [[] for _ in thresholds]
        for m in self.members:
            self._flag_member(m, thresholds, counts)
        weighted = total([])
        for flags in counts:
            weighted = weighted * (len(self.units) + 1) + total(flags)
        if not self.proved and not self._take(self._minimize(weighted)):
            return False
        values = self._values()
        for threshold, flags in zip(thresholds, counts, strict=True):
            reached = sum(value >= threshold for value in values)
            self.program.model.add(total(flags) <= reached)
        self.threshold = thresholds[-1]
        return True

    def _flag_member(
        self, member: int, thresholds: list[int], counts: list[list[Linear]]
    ) -> None:
        program, unit = self.program, self.units[member]
        most = thresholds[0] // unit
        flag = self.flag[member]
        above = most + 1
        room = max(0, program.face.loads[member][1] - most)
        limit = total([]) if flag is None else room * flag
        for threshold, flags in zip(thresholds, counts, strict=True):
            least = -(-threshold // unit)
            if least < above:
                lower = program.define(0, 1, reaches(member, least))
                if flag is not None:
                    program.model.add(lower >= flag)
                limit = limit + (above - least) * lower
                flag, above = lower, least
            if flag is not None:
                flags.append(flag)
        program.model.add(program.load(member) <= above - 1 + limit)
        self.flag[member] = flag

    def _minimize(self, expression: Linear) -> Found:
        self.program.suggest(self.plan)
        try:
            return self.search.minimize(self.program, expression)
        except LimitExceededError:
            return Found(status=Status.UNKNOWN)

    def _take(self, found: Found) -> bool:
        """Keep what is better; tell whether it is proved to be best."""
        if found.plan is not None:
            before, kept = self.plan, sorted(self._values(), reverse=True)
            self.plan = found.plan
            if sorted(self._values(), reverse=True) > kept:
                self.plan = before
        return found.status is Status.OPTIMAL
