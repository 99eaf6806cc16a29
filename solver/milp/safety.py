"""What a solver's bound proves, once its doubles are distrusted.

A solver calls a row met, an integer whole and a reduced cost zero if it is off by at
most `TOLERANCE`, t. A variable that is off by t moves a goal by t times its
coefficient, a row that is off by t · (its magnitude) moves a variable it defines by as
much. So the true least sum of a goal is at least

    bound - delta,  delta = t · (1 + magnitude of the goal + largest one of a row),

a magnitude being the sum of |coefficient| · |most of its variable|: large rows, goals
and real variables are handed over in units about their size (`scaling`), and t of such
a unit is at most t times the magnitude. The least sum is an integer: it is at least
ceil(bound - delta) if delta < 1/2. From 1/2 on the error could be what lifts a bound to
the value itself: such a bound is lowered by delta twice, and such programs are not even
begun, for on them searches wander without end.

This is an estimate, no theorem: no proof is to be had from floating-point branch and
bound. That is why such a bound travels as "proved by search" under the solver's name.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite

from solver.milp.backend import TOLERANCE
from solver.milp.program import Goal, Program, magnitude

HALF = Fraction(1, 2)


def delta_of(program: Program, goal: Goal) -> Fraction:
    """Return how far off a bound on the goal's sum may be."""
    return Fraction(TOLERANCE) * (1 + magnitude(goal.terms) + program.largest)


def safe_bound(program: Program, goal: Goal, bound: float | None) -> int | None:
    """Return an integer that the goal's value is never below; None if nothing is known.

    With delta >= 1/2 it is below the true least value even where the solver is right.
    """
    if bound is None or not isfinite(bound):
        return None
    delta = delta_of(program, goal)
    if delta < HALF:
        return goal.value_at(ceil(Fraction(bound) - delta))
    return goal.value_at(ceil(Fraction(bound) - 2 * delta))
