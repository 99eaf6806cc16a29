"""Large numbers brought down to about 1 before a solver sees them.

A solver's tolerances are absolute. Where a row adds up to millions, an honest solution
is off by more than they allow, from rounding alone: the solver then throws it away and
calls a worse one the best (HiGHS does so with sums of 60,000,000). Where such a row,
such a goal and the variables they define are about 1 in size, rounding is far below the
tolerances, and these mean t times the magnitude, which is what `safety` counts with.

A row that holds an earlier level at its value is given half a unit more room. Sums of
goals are integers, so nothing new gets in; but between "at least v" and "at most v"
there is no room at all, and cutting planes, rounded, cut off what lies there.

All factors are powers of two, so no double changes in anything but its exponent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pulp

from solver.milp.backend import Run
from solver.milp.program import Goal, Program, Terms

PLAIN = 2**10
"""Programs with no larger number are left as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """A program as a solver is given it.

    Attributes
    ----------
    lp : pulp.LpProblem
        Its integer variables are the program's own.
    unit : int
        What 1 of its goal stands for in the goal of the program.
    is_large : bool
        Whether there was anything to scale.
    """

    lp: pulp.LpProblem
    unit: int
    is_large: bool

    def in_units(self, run: Run) -> Run:
        """Return what a solver told with its bound in the goal of the program."""
        return run if run.bound is None else replace(run, bound=run.bound * self.unit)


def scaled(program: Program, goal: Goal, *, with_goal: bool = True) -> Scaled:
    """Set the goal, and scale what needs it; the goal itself only if asked to."""
    if max(program.largest, _largest(goal.terms)) < PLAIN:
        program.lp.setObjective(pulp.LpAffineExpression(goal.terms))
        return Scaled(lp=program.lp, unit=1, is_large=False)
    lp = pulp.LpProblem("scaled")
    smaller = _Smaller(lp)
    unit = power(_largest(goal.terms)) if with_goal else 1
    lp.setObjective(smaller.terms(goal.terms, unit))
    for row in program.lp.constraints():
        terms, right = list(row.items()), -int(row.constant)
        by = power(max(_largest(terms), abs(right)))
        room = -row.sense / 2 if row.name in program.held else 0
        fewer = smaller.terms(terms, by)
        lp.addConstraint(
            pulp.LpConstraint(fewer, row.sense, rhs=(right + room) / by), row.name
        )
    return Scaled(lp=lp, unit=unit, is_large=True)


class _Smaller:
    """The same variables, the real ones counted in units about their largest value."""

    def __init__(self, lp: pulp.LpProblem) -> None:
        self._lp = lp
        self._of: dict[str, tuple[pulp.LpVariable, int]] = {}

    def terms(self, terms: Terms, by: int) -> pulp.LpAffineExpression:
        """Write a sum in these variables, divided by a power of two."""
        made = [(self._variable(var), factor) for var, factor in terms]
        parts = [(var, factor * unit / by) for (var, unit), factor in made]
        return pulp.LpAffineExpression(parts)

    def _variable(self, var: pulp.LpVariable) -> tuple[pulp.LpVariable, int]:
        if var.cat == pulp.LpInteger:
            return var, 1
        if var.name not in self._of:
            unit = power(_size(var))
            made = self._lp.add_variable(
                var.name, var.lowBound / unit, var.upBound / unit, var.cat
            )
            self._of[var.name] = made, unit
        return self._of[var.name]


def power(size: int) -> int:
    """Return the largest power of two that is not above a size; 1 for small ones."""
    return 1 << (size.bit_length() - 1) if size >= PLAIN else 1


def _largest(terms: Terms) -> int:
    return max((abs(factor) * _size(var) for var, factor in terms), default=0)


def _size(var: pulp.LpVariable) -> int:
    return max(abs(int(var.lowBound)), abs(int(var.upBound)))
