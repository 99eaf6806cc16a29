"""Lexicographic order: one search a level, each held before the next begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance import Assignment
from solver.cpsat.known_bound import KnownBound, trivial_bound
from solver.cpsat.loads import minimize_load
from solver.cpsat.objectives import measure
from solver.cpsat.plan import assignment_of, plan_of
from solver.cpsat.problem import Problem
from solver.cpsat.program import Program
from solver.cpsat.search import Search
from solver.limits import LimitExceededError
from solver.objectives import value_of
from solver.policy import Objective, WeightedObjective
from solver.result import MiscountError, Status, Value

SHARE: Final = 0.8
"""What part of the time left a level may take while others wait."""


@dataclass(slots=True, kw_only=True)
class Climb:
    """The best assignment so far, and what is proved of each level.

    Attributes
    ----------
    problem : Problem
    search : Search
    best : Assignment
        Allowed, always.
    least_loads : tuple of int or None
        The dec-min vector, if known.
    given : KnownBound or None
        Lower bound on the first level from the caller.
    bounds : list of Value or None
        What searches proved, level by level; None: nothing.
    """

    problem: Problem
    search: Search
    best: Assignment
    least_loads: tuple[int, ...] | None
    given: KnownBound | None = None
    bounds: list[Value | None] = field(default_factory=list)

    def climb(self, program: Program, levels: tuple[WeightedObjective, ...]) -> None:
        """Minimize the levels in order, until a limit strikes."""
        for number, level in enumerate(levels):
            last = number + 1 == len(levels)
            try:
                self.search.check()
                on = self._level(program, number, level, last=last)
            except LimitExceededError:
                return
            if not on:
                return

    def value(self, level: WeightedObjective) -> Value:
        """Count a level of the best assignment."""
        return value_of(self.problem.instance, self.best, level)

    def _number(self, level: WeightedObjective) -> int:
        """Count a level that is no vector."""
        value = self.value(level)
        if isinstance(value, tuple):
            raise TypeError(f"{level} is a vector")
        return value

    def known(self, number: int, level: WeightedObjective) -> KnownBound:
        """Return the bound that needs no search; of equal ones, the given one."""
        trivial, given = trivial_bound(self.problem, level), self.given
        if number or given is None or given.value < trivial.value:
            return trivial
        return given

    def is_least(self, number: int, level: WeightedObjective) -> bool:
        """Tell whether a level is known to be least without any search."""
        value = self.value(level)
        if isinstance(value, tuple):
            return value == self.least_loads or not any(value)
        return value == self.known(number, level).value

    def _level(
        self, program: Program, number: int, level: WeightedObjective, *, last: bool
    ) -> bool:
        """Settle a level; tell whether it is held, so that later ones can follow."""
        known = self.is_least(number, level)
        if known and last:
            self.bounds.append(self.value(level))
            return True
        if level.only is Objective.LOAD:
            return self._loads(program, known=known)
        expression = measure(program, level).expression
        if number == 0 and self.given is not None:
            program.model.add(expression >= self.given.value)
        if known:
            self.bounds.append(self.value(level))
        else:
            program.suggest(plan_of(self.problem, self.best))
            share = 1.0 if last else SHARE
            found = self.search.minimize(program, expression, share=share)
            if found.status is Status.INFEASIBLE:
                raise MiscountError(f"{level}: no plan, yet there is one")
            self.bounds.append(found.bound)
            if found.plan is not None:
                self._take(assignment_of(self.problem, found.plan), level)
            if found.status is Status.OPTIMAL and found.value != self.value(level):
                raise MiscountError(
                    f"{level}: told {found.value}, counted {self.value(level)}"
                )
        program.model.add(expression <= self._number(level))
        return True

    def _take(self, found: Assignment, level: WeightedObjective) -> None:
        """Keep what was found unless it is worse; levels before are held."""
        before, kept = self._number(level), self.best
        self.best = found
        if self._number(level) > before:
            self.best = kept

    def _loads(self, program: Program, *, known: bool) -> bool:
        plan = plan_of(self.problem, self.best)
        leveled = minimize_load(program, self.search, plan, proved=known)
        self.best = assignment_of(self.problem, leveled.plan)
        unsettled = len(self.problem.members) - len(leveled.settled)
        settled = leveled.settled + (0,) * unsettled
        self.bounds.append(max(settled, self.least_loads or ()))
        # Held only if least: nothing linear says "no worse than this vector".
        return leveled.done
