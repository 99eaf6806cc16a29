"""Lexicographic solve: minimize one objective, make its bound safe, hold it, go on.

An objective whose values are large is minimized digit by digit, and ``load`` stage by
stage, so that each run of HiGHS minimizes a small integer. Solutions are rounded and
checked in integers (`feasibility`), and values are computed anew from the assignment
(`solver.objectives`). A bound b is taken as ceil(b - `MARGIN`). Floating-point
branch and bound is not a proof: such a bound is "proved by search".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, gcd, isfinite
from typing import Final

import numpy as np
from pulp import LpAffineExpression as Expression
from pulp import LpStatusInfeasible, LpStatusNotSolved

from rebalance import NOBODY, Assignment, Instance, SearchProof
from solver.constants import EXACT_DOUBLE_MAX
from solver.limits import LimitExceededError
from solver.milp import highs
from solver.milp.counted_limits import CountedLimits
from solver.milp.feasibility import is_allowed
from solver.milp.highs import SearchRun
from solver.milp.milp_program import (
    BASE,
    ROW_MAX,
    MilpProgram,
    from_digits,
    magnitude,
    range_of,
)
from solver.milp.objective_rows import reaching_rows, weighted_sum
from solver.objectives import scale_of, values_of
from solver.policy import BalanceKind, Objective, Policy, WeightedObjective
from solver.result import ObjectiveResult, Value, zero_term

MARGIN: Final = 5e-2
"""Several times `highs.TOLERANCE` * `milp_program.ROW_MAX`: errors of a bound."""

ROUNDS: Final = (True, True, False, True, False)
"""Whether each round presolves the run that minimizes."""

RECOUNT: Final = "HiGHS's answer does not agree with an exact recount"

HELD: Final = "HiGHS is not trusted with an objective after one that exceeds 2^52"
"""It has found an objective that was held at such a value to leave nothing below."""

ROUNDING: Final = 1e-4
"""A solution whose integers are farther off than this is rejected."""


class Incumbent:
    """The best assignment so far; only allowed ones are accepted."""

    def __init__(self, instance: Instance, policy: Policy) -> None:
        self.assignment: Assignment | None = None
        self.values: tuple[Value, ...] = ()  # of the policy's objectives
        self.policy = policy
        self._instance = instance

    def offer(self, assignment: Assignment | None) -> None:
        """Accept an assignment if it is allowed and better."""
        if assignment and is_allowed(self._instance, self.policy, assignment):
            values = values_of(self._instance, assignment, self.policy)
            # Values of one objective have one type, so tuples of them compare.
            if self.assignment is None or values < self.values:
                self.assignment, self.values = assignment, values


def minimize(
    program: MilpProgram,
    row: Expression,
    best: Incumbent,
    limits: CountedLimits,
    known: int | None = None,
) -> int | None:
    """Minimize a row, hold it at its least value, and offer solutions to the incumbent.

    A value is proved if the linear relaxation attains it, or if a run without objective
    finds no solution below it: HiGHS 1.13 now and then cuts off the optimum once it has
    a solution, which such a run never has. ``known`` is the value of the incumbent,
    which is tried before any other.

    Return a bound: proved, or else of the linear relaxation; None if not known.
    """
    cap = program.at_most_cap(row)
    relaxed = safe_bound(_run(program, row, limits, mip=False))
    value = known
    for presolve in ROUNDS if relaxed is not None else ():
        if value is None:
            run = _run(program, row, limits, presolve=presolve)
            best.offer(rounded(program, run))
            value = safe_bound(run)
        if value is not None and value == relaxed:
            cap.changeRHS(value + MARGIN)
            return value
        if value is not None:
            cap.changeRHS(value - 1 + MARGIN)
            run = _run(program, Expression(), limits)
            if run.status == LpStatusInfeasible:
                cap.changeRHS(value + MARGIN)
                return value
            best.offer(rounded(program, run))
            value = None
        if run.status == LpStatusNotSolved:
            break
    return relaxed


def _run(
    program: MilpProgram,
    objective: Expression,
    limits: CountedLimits,
    *,
    mip: bool = True,
    presolve: bool = False,
) -> SearchRun:
    program.problem.setObjective(objective)
    return highs.minimize(program.problem, limits, mip=mip, presolve=presolve)


def reason_of(limits: CountedLimits) -> str:
    """Return why a bound may be below the optimum."""
    if (exceeded := limits.exceeded()) is not None:
        return exceeded
    return RECOUNT


def rounded(program: MilpProgram, run: SearchRun) -> Assignment | None:
    """Round a solution; None unless it assigns every partition exactly once.

    Of each class, the lowest rows go to the first members.
    """
    case = program.case
    assignee = np.full(case.instance.n_partitions, NOBODY, dtype=np.int32)
    used = [0] * len(case.classes)
    for (k, c), column in program.given.items():
        value = (run.values or {}).get(column.name, 0.0)
        if not (-ROUNDING < value < ROW_MAX and abs(value - round(value)) < ROUNDING):
            return None
        rows = case.classes[k].rows[used[k] : used[k] + round(value)]
        assignee[list(rows)] = c
        used[k] += round(value)
    sizes = [each.count for each in case.classes]
    return Assignment(assignee=assignee) if used == sizes else None


def safe_bound(run: SearchRun) -> int | None:
    """Return an integer that no solution's objective is below; None if not known."""
    if run.bound is None or not isfinite(run.bound):
        return None
    return ceil(run.bound - MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveStages:
    """An objective as rows that are minimized one after the other."""

    rows: Sequence[Expression]
    counts_of: Callable[[Value], list[int]]  # value of the objective to those of rows
    value_of: Callable[[Sequence[int]], Value]  # of the first rows: a bound on it


def sum_stages(program: MilpProgram, goal: Expression) -> ObjectiveStages:
    """Return a sum as one row, or as the digits of a number where it is large."""
    unit, constant = gcd(*goal.values()) or 1, goal.constant
    row = Expression((x, a // unit) for x, a in goal.items())
    rows, offset = [row], 0
    if magnitude(row) > ROW_MAX:
        # No value is below 0: row >= offset, and the digits count the excess over it.
        offset = -(constant // unit)
        digits = program.digits(range_of(row)[1] - offset)
        program.at_most(row - from_digits(digits), offset)
        rows = [Expression(digit) for digit in reversed(digits)]
    bases = [BASE**place for place in reversed(range(len(rows)))]

    def counts_of(value: Value) -> list[int]:
        assert isinstance(value, int)  # noqa: S101 - only `load` is a vector
        rest, counts = (value - constant) // unit - offset, []
        for base in bases:
            counts.append(rest // base)
            rest %= base
        return counts

    def value_of(counts: Sequence[int]) -> Value:
        excess = sum(n * base for n, base in zip(counts, bases, strict=False))
        return int(constant + unit * (offset + excess))

    return ObjectiveStages(rows=rows, counts_of=counts_of, value_of=value_of)


def vector_stages(program: MilpProgram, incumbent: Value) -> ObjectiveStages:
    """Return ``load`` as stages; no load exceeds the largest of the incumbent."""
    assert isinstance(incumbent, tuple)  # noqa: S101 - the value of `load`
    members = len(incumbent)
    reaching = reaching_rows(program, max(incumbent, default=0))

    def counts_of(value: Value) -> list[int]:
        assert isinstance(value, tuple)  # noqa: S101
        return [sum(load >= v for load in value) for v in reaching]

    return ObjectiveStages(
        rows=[*reaching.values()],
        counts_of=counts_of,
        value_of=lambda counts: vector_of([*reaching], counts, members),
    )


def vector_of(
    values: Sequence[int], reaching: Sequence[int], members: int
) -> tuple[int, ...]:
    """Return the least load vector with reaching[v] for the first values v."""
    vector: list[int] = []
    for value, count in zip(values, reaching, strict=False):
        vector += [value] * (count - len(vector))
    return tuple(vector + [0] * (members - len(vector)))


def minimize_objectives(
    program: MilpProgram, best: Incumbent, limits: CountedLimits
) -> tuple[tuple[ObjectiveResult, ...], str | None]:
    """Minimize objective by objective; stop at the first that is not proved."""
    instance = program.case.instance
    results: list[ObjectiveResult] = []
    for at, objective in enumerate(best.policy.objectives):
        try:
            bound, reason = _minimize_objective(program, best, limits, at)
        except LimitExceededError as error:
            bound, reason = _zero(best.values[at]), error.reason
        results.append(_result(instance, objective, best.values[at], bound))
        if not results[-1].is_proved:
            return (*results, *unproved(instance, best, at + 1)), reason
        rest = unproved(instance, best, at + 1)
        if _is_large(results[-1].value) and not all(
            result.is_proved for result in rest
        ):
            return (*results, *rest), HELD
    return tuple(results), None


def _is_large(value: Value) -> bool:
    numbers = value if isinstance(value, tuple) else (value,)
    return max(numbers, default=0) > EXACT_DOUBLE_MAX


def unproved(
    instance: Instance, best: Incumbent, start: int
) -> tuple[ObjectiveResult, ...]:
    """Return the objectives from `start` on with the bound 0."""
    rest = list(zip(best.policy.objectives, best.values, strict=False))[start:]
    return tuple(_result(instance, of, value, _zero(value)) for of, value in rest)


def _minimize_objective(
    program: MilpProgram, best: Incumbent, limits: CountedLimits, at: int
) -> tuple[Value, str | None]:
    """Return a bound on one objective, and why it may be below the value."""
    objective = best.policy.objectives[at]
    if objective.only is not Objective.LOAD:
        stages = sum_stages(program, weighted_sum(program, objective))
    elif best.policy.balance.kind is BalanceKind.DEC_MIN:
        return best.values[at], None  # equal for all assignments of the face
    else:
        stages = vector_stages(program, best.values[at])
    for stage, row in enumerate(stages.rows):
        known = stages.counts_of(best.values[at])[stage]
        bound = minimize(program, row, best, limits, known)
        counts = stages.counts_of(best.values[at])
        if bound != counts[stage]:
            least = counts[:stage]
            if bound is not None and bound < counts[stage]:
                least.append(bound)
            value = stages.value_of(least) if least else _zero(best.values[at])
            return value, reason_of(limits)
    return best.values[at], None


def _result(
    instance: Instance, objective: WeightedObjective, value: Value, bound: Value
) -> ObjectiveResult:
    # The zero vector proves nothing of a larger one; where it is the value, it is all.
    trivial = None if isinstance(value, tuple) and any(value) else zero_term()
    by_search = SearchProof(engine=highs.version())
    return ObjectiveResult(
        of=objective,
        value=value,
        bound=bound,
        scale=scale_of(instance, objective),
        proof=trivial if bound == _zero(value) else by_search,
    )


def _zero(value: Value) -> Value:
    return (0,) * len(value) if isinstance(value, tuple) else 0
