"""A problem in PuLP whose columns are integers and whose rows have small coefficients.

HiGHS computes in doubles, with absolute tolerances: where a row adds up to millions, it
loses solutions and returns wrong bounds. Here no row, and no objective, exceeds
`ROW_MAX`. A row with larger coefficients is split into digits. With every coefficient
a = a0 + BASE * a1, and likewise the right-hand side b = b0 + BASE * b1,

    sum of a * x <= b   if and only if, for some integer carry,
    sum of a0 * x <= b0 + BASE * carry   and   sum of a1 * x + carry <= b1,

because carry = ceil((sum of a0 * x - b0) ÷ BASE) is the least that the first row
allows. The second row is split again until it is small. This is exact for any integers,
and its linear relaxation is as strong as that of the row.
"""

from __future__ import annotations

from collections import defaultdict
from math import gcd
from typing import Final

from pulp import LpAffineExpression as Expression
from pulp import LpConstraint, LpInteger, LpMinimize, LpProblem, LpVariable

from solver.limits import LimitExceededError
from solver.milp.counted_limits import CHECKED_EVERY, CountedLimits
from solver.milp.partition_classes import MilpClass, MilpInstance

ROW_MAX: Final = 2**23
"""Largest sum of |coefficient| * |bound of the column|, and largest right-hand side.

With `highs.TOLERANCE`, an error in every column moves such a row by less than 0.01.
"""

BASE: Final = 2**10
"""Base of the digits; a row is split by it, or by a smaller power of two."""

DIGIT_MAX: Final = 2**18
"""Largest number that is one column, and largest highest digit."""


class MilpProgram:
    """The rows and columns of one program.

    ``given[k, c]`` is the number of partitions of class k that member c is assigned.
    """

    def __init__(
        self,
        case: MilpInstance,
        limits: CountedLimits,
        groups: tuple[tuple[int, ...], ...] | None = None,
    ) -> None:
        """Create the columns; ``groups`` replaces the eligible members of `case`."""
        self.case = case
        self.problem = LpProblem("policy", LpMinimize)
        self.given: dict[tuple[int, int], LpVariable] = {}
        self.limits = limits
        self._columns = 0
        self._by_member: dict[int, list[tuple[MilpClass, LpVariable]]]
        self._by_member = defaultdict(list)
        for k, each in enumerate(case.classes):
            for c in (groups or case.groups)[each.group]:
                self.given[k, c] = self.integer(0, each.count)
                self._by_member[c].append((each, self.given[k, c]))

    def integer(self, low: int, high: int) -> LpVariable:
        """Create an integer column; raise LimitExceededError at a limit."""
        self._columns += 1
        if self._columns % CHECKED_EVERY == 0:
            self.limits.spend_on_entries(CHECKED_EVERY)
            self.limits.check()
        # PuLP sorts columns by name; this keeps the order of their creation.
        name = f"x{self._columns:08d}"
        return self.problem.add_variable(name, low, high, LpInteger)

    def digits(self, high: int) -> list[LpVariable]:
        """Create the digits of a number from 0 to at least `high`, the lowest first."""
        if high <= DIGIT_MAX:
            return [self.integer(0, high)]
        lowest = self.integer(0, BASE - 1)
        return [lowest, *self.digits(high // BASE)]

    def number(self, high: int) -> Expression:
        """Create an integer from 0 to at least `high`, of any size."""
        return from_digits(self.digits(high))

    def load(self, member: int, topic: int | None = None) -> Expression:
        """Return the number of partitions of a member, of one topic or of all."""
        return Expression(
            (column, 1)
            for each, column in self._by_member[member]
            if topic in {None, each.topic}
        )

    def lag(self, member: int, topic: int | None = None) -> Expression:
        """Return the lag of a member, in lag units, of one topic or of all."""
        return Expression(
            (column, each.lag)
            for each, column in self._by_member[member]
            if topic in {None, each.topic} and each.lag
        )

    def equal(self, row: Expression, value: int) -> None:
        """Add the row: row = value, with small coefficients."""
        self._add(row == value, row)

    def at_least(self, row: Expression, least: int) -> None:
        """Add the row: row >= least."""
        self.at_most(-row, -least)

    def at_most(self, row: Expression, most: int) -> None:
        """Add the row: row <= most, split into digits where it is large."""
        unit = gcd(*row.values()) or 1
        most = (most - int(row.constant)) // unit
        row = Expression((x, a // unit) for x, a in row.items() if a)
        while max(magnitude(row), abs(most)) > ROW_MAX:
            base, low, high = _split(row)
            low_most = most % base
            ends = (-(-(end - low_most) // base) for end in range_of(low))
            carry = self.integer(*ends)
            self._add(low - base * carry <= low_most, low)
            row, most = high + carry, most // base
        self._add(row <= most, row)

    def at_most_cap(self, row: Expression) -> LpConstraint:
        """Add a row that excludes nothing yet; its right-hand side can be changed."""
        cap = row <= range_of(row)[1]
        self._add(cap, row)
        return cap

    def _add(self, constraint: LpConstraint, row: Expression) -> None:
        self.limits.spend_on_entries(len(row))
        self.limits.check()
        if magnitude(row) > ROW_MAX:
            raise LimitExceededError(
                "the numbers are too large for the solver's doubles"
            )
        self.problem.addConstraint(constraint)


def from_digits(digits: list[LpVariable]) -> Expression:
    """Return the number that digits stand for."""
    return Expression((x, BASE**place) for place, x in enumerate(digits))


def magnitude(row: Expression) -> int:
    """Return a number that the absolute value of an expression never exceeds."""
    least, largest = range_of(row)
    return max(-least, largest)


def range_of(row: Expression) -> tuple[int, int]:
    """Return the least and largest value within the bounds of the columns."""
    ends = [(a * int(x.lowBound), a * int(x.upBound)) for x, a in row.items()]
    return sum(min(pair) for pair in ends), sum(max(pair) for pair in ends)


def _split(row: Expression) -> tuple[int, Expression, Expression]:
    """Return (base, low, high) with row = low + base * high, and low small.

    Quotients are rounded to the nearest integer, so that small coefficients of either
    sign stay in the low part.
    """
    base = 2 * BASE
    while True:
        base //= 2
        high = Expression((x, (a + base // 2) // base) for x, a in row.items())
        low = row - base * high
        if magnitude(low) <= ROW_MAX // 2 or base == 2:
            return base, low, high
