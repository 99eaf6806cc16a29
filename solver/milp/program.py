"""An integer program in PuLP: how many partitions of each kind go to each member."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

import pulp

from solver.limits import Limits
from solver.milp.kinds import Kind, Kinds
from solver.milp.refusals import too_big

Terms = list[tuple[pulp.LpVariable, int]]
"""A sum of integers times variables, no variable twice."""

TERMS_A_CHECK = 50_000
EXACT = 2**53
"""Doubles hold every integer up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is minimized: constant + unit · (sum of terms), the sum an integer.

    Not ``exact``: the value may be more than that, never less.
    """

    terms: Terms
    unit: int = 1
    constant: int = 0
    exact: bool = True

    def sum_from(self, value: int) -> int:
        """Return what the sum is never below if no value is below one."""
        least = value - self.constant
        return -(-least // self.unit) if self.exact else least // self.unit

    def sum_at(self, value: int) -> int:
        """Return the sum at which the goal has a value."""
        return (value - self.constant) // self.unit

    def value_at(self, total: int) -> int:
        """Return the value that belongs to a sum."""
        return self.constant + self.unit * total


class Program:
    """A program while it is written: variables and rows, their sizes watched.

    Attributes
    ----------
    lp : pulp.LpProblem
    given : dict of (kind, member) to variable
        Partitions of the kind, by index, that the member takes.
    rows : int
    size : int
        Variables, and terms of all rows.
    largest : int
        Largest sum of |coefficient| · |most of the variable| of a row.
    contradiction : bool
        Whether a row without variables is false.
    held : set of str
        Names of the rows that hold a goal's sum.
    """

    def __init__(
        self, kinds: Kinds, seats: Sequence[tuple[int, ...]], limits: Limits
    ) -> None:
        self.kinds = kinds
        self.seats = seats
        self.lp = pulp.LpProblem("policy")
        self.given: dict[tuple[int, int], pulp.LpVariable] = {}
        self.rows = self.size = self.largest = self._columns = self._unchecked = 0
        self.contradiction = False
        self.held: set[str] = set()
        self._limits = limits
        self._of: list[list[tuple[Kind, pulp.LpVariable]]] = [
            [] for _ in range(kinds.members)
        ]
        for k, kind in enumerate(kinds.kinds):
            for member in seats[k]:
                taken = self.whole(0, kind.count)
                self.given[k, member] = taken
                self._of[member].append((kind, taken))

    def whole(self, low: int, high: int) -> pulp.LpVariable:
        """Make an integer variable."""
        return self._variable(low, high, pulp.LpInteger)

    def real(self, low: int, high: int) -> pulp.LpVariable:
        """Make a variable that is an integer wherever the integer ones are."""
        return self._variable(low, high, pulp.LpContinuous)

    def at_most(self, terms: Terms, most: int) -> None:
        """Add the row: sum of terms <= most."""
        self._row(terms, pulp.LpConstraintLE, most)

    def at_least(self, terms: Terms, least: int) -> None:
        """Add the row: sum of terms >= least."""
        self._row(terms, pulp.LpConstraintGE, least)

    def equal(self, terms: Terms, value: int) -> None:
        """Add the row: sum of terms = value."""
        self._row(terms, pulp.LpConstraintEQ, value)

    def hold_at_most(self, goal: Goal, most: int) -> None:
        """Keep the sum of a goal at most at an integer."""
        self._hold(goal, pulp.LpConstraintLE, most)

    def hold_at_least(self, goal: Goal, least: int) -> None:
        """Keep the sum of a goal at least at an integer."""
        self._hold(goal, pulp.LpConstraintGE, least)

    def _hold(self, goal: Goal, sense: int, right: int) -> None:
        before = self.rows
        self._row(goal.terms, sense, right)
        if self.rows > before:
            self.held.add(self._name)

    def load(self, member: int) -> Terms:
        """Count what a member takes."""
        return [(taken, 1) for _, taken in self._of[member]]

    def lag(self, member: int) -> Terms:
        """Sum the lag that a member takes."""
        return [(taken, kind.lag) for kind, taken in self._of[member] if kind.lag]

    def of_topic(self, member: int, topic: int) -> list[tuple[Kind, pulp.LpVariable]]:
        """Return what a member takes of one topic."""
        return [pair for pair in self._of[member] if pair[0].topic == topic]

    def _variable(self, low: int, high: int, sort: str) -> pulp.LpVariable:
        self._check(max(abs(low), abs(high)), 1)
        self._columns += 1
        # PuLP sorts by name: by order of creation, that is.
        return self.lp.add_variable(f"x{self._columns:08d}", low, high, sort)

    def _row(self, terms: Terms, sense: int, right: int) -> None:
        terms, right, fits = _divided(terms, sense, right)
        size = max(magnitude(terms), abs(right))
        self._check(size, len(terms))
        if not fits:
            self.contradiction = True
            return
        if not terms:
            self.contradiction |= not _is_true(sense, right)
            return
        self.rows += 1
        self.largest = max(self.largest, size)
        row = pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, rhs=right)
        self.lp.addConstraint(row, self._name)

    @property
    def _name(self) -> str:
        """The name of the newest row."""
        return f"r{self.rows:08d}"

    def _check(self, size: int, terms: int) -> None:
        """Refuse numbers past `EXACT`; look at the limits now and then."""
        if size >= EXACT:
            raise too_big(size)
        self.size += terms
        self._unchecked += terms
        if self._unchecked >= TERMS_A_CHECK:
            self._unchecked = 0
            self._limits.check()


def _divided(terms: Terms, sense: int, right: int) -> tuple[Terms, int, bool]:
    """Divide a row by the common divisor of its coefficients, rounded to what it says.

    Also tell whether it can be met at all: an equation may not come out whole.
    """
    unit = gcd(*(factor for _, factor in terms))
    if unit <= 1:
        return terms, right, True
    reduced = [(var, factor // unit) for var, factor in terms]
    if sense == pulp.LpConstraintGE:
        return reduced, -(-right // unit), True
    return reduced, right // unit, sense != pulp.LpConstraintEQ or right % unit == 0


def _is_true(sense: int, right: int) -> bool:
    """Tell whether 0 stands in that relation to the right side."""
    return {
        pulp.LpConstraintLE: right >= 0,
        pulp.LpConstraintGE: right <= 0,
        pulp.LpConstraintEQ: right == 0,
    }[sense]


def magnitude(terms: Terms) -> int:
    """Return what the absolute value of a sum of terms is never above."""
    return sum(
        abs(factor) * max(abs(int(var.lowBound)), abs(int(var.upBound)))
        for var, factor in terms
    )


def minus(terms: Terms) -> Terms:
    """Return the terms with signs changed."""
    return [(var, -factor) for var, factor in terms]


def merged(parts: Iterable[tuple[int, Terms]]) -> Terms:
    """Add up weighted sums of terms; no variable comes twice in the result."""
    total: dict[pulp.LpVariable, int] = {}
    for weight, terms in parts:
        for var, factor in terms:
            total[var] = total.get(var, 0) + weight * factor
    return [(var, factor) for var, factor in total.items() if factor]
