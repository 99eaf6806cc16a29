"""One run of a program, and the best assignment of the policy so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rebalance import Assignment, Instance
from solver.milp import cbc, highs
from solver.milp.alike import in_order
from solver.milp.backend import Backend, End, Request, Run
from solver.milp.case import Case
from solver.milp.check import is_allowed
from solver.milp.program import Goal, Program
from solver.milp.rounding import assignment_of, counts_of, rounded
from solver.milp.safety import HALF, delta_of, safe_bound
from solver.milp.scaling import Scaled, scaled
from solver.objectives import values_of
from solver.policy import Policy
from solver.result import Value

RUNS: Final[Mapping[Backend, Callable[[Request], Run]]] = MappingProxyType(
    {Backend.HIGHS: highs.run, Backend.CBC: cbc.run}
)

HANDING_OVER: Final[Mapping[Backend, float]] = MappingProxyType(
    {Backend.HIGHS: 3e-6, Backend.CBC: 1.5e-5}
)
"""Seconds a variable or term, at most, until the solver itself is at work."""

TOO_BIG: Final = "numbers so large that the solver's doubles prove nothing exactly"


class Incumbent:
    """The best assignment so far; none that has not been checked gets in.

    Attributes
    ----------
    policy : Policy
    assignment : Assignment or None
    values : tuple of Value
        Of the policy's levels; empty without assignment.
    """

    def __init__(self, instance: Instance, policy: Policy) -> None:
        self.assignment: Assignment | None = None
        self.values: tuple[Value, ...] = ()
        self.policy = policy
        self._instance = instance

    def offer(self, assignment: Assignment) -> None:
        """Take an assignment if it is allowed and better."""
        if is_allowed(self._instance, self.policy, assignment):
            values = values_of(self._instance, assignment, self.policy)
            if self.assignment is None or is_less(values, self.values):
                self.assignment, self.values = assignment, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one run came to.

    Attributes
    ----------
    bound : int or None
        Safe: no solution of the program has a goal below it. None: not known.
    empty : bool
        The solver says that there is no solution.
    found : Assignment or None
        The solver's own, rounded: every partition once, and nothing else checked.
    reason : str or None
        Why the bound may be short of the value.
    """

    bound: int | None = None
    empty: bool = False
    found: Assignment | None = None
    reason: str | None = None


def minimize(case: Case, program: Program, goal: Goal, best: Incumbent) -> Step:
    """Run from the best so far; what is found is offered to it.

    Where numbers are large, ask twice, and believe the lower bound: with a solution to
    start from and cuts in doubles, HiGHS (1.13 to 1.15) now and then cuts off the best.
    """
    if program.contradiction:
        return Step(empty=True)
    if late := _too_late(case, program):
        return Step(reason=late)
    if delta_of(program, goal) >= HALF:
        return Step(reason=TOO_BIG)  # nothing to prove; some searches do not even end
    # CBC prints its bounds with a few decimals: there the goal keeps its size.
    given = scaled(program, goal, with_goal=case.backend is not Backend.CBC)
    start = _start(case, program, best)
    run = _told(case, given, Request(lp=given.lp, limits=case.limits, start=start))
    step = _step(case, program, goal, best, run)
    if run.end is not End.DONE or not given.is_large:
        return step
    other = replace(case.limits, seed=case.limits.seed + 1)
    again = _told(case, given, Request(lp=given.lp, limits=other))
    return _both(step, _step(case, program, goal, best, again))


def _told(case: Case, given: Scaled, request: Request) -> Run:
    return given.in_units(RUNS[case.backend](request))


def _step(case: Case, program: Program, goal: Goal, best: Incumbent, run: Run) -> Step:
    """Make what a solver says safe, and offer what it found."""
    counts = None if run.values is None else rounded(program, run.values)
    found = None
    if counts is not None:
        found = assignment_of(case.instance, case.kinds, counts)
        best.offer(found)
    empty = run.end is End.EMPTY
    return Step(
        bound=None if empty else safe_bound(program, goal, run.bound),
        empty=empty,
        found=found,
        reason=_reason(case, goal, run),
    )


def _both(one: Step, other: Step) -> Step:
    """Return what two runs agree on."""
    bound = None
    if one.bound is not None and other.bound is not None:
        bound = min(one.bound, other.bound)
    return Step(
        bound=bound,
        empty=one.empty and other.empty,
        found=one.found or other.found,
        reason=other.reason,
    )


def _too_late(case: Case, program: Program) -> str | None:
    """Name the limit that strikes before the solver can begin; None: none does."""
    left = case.limits.left
    if left is not None and HANDING_OVER[case.backend] * program.size > left:
        return f"time limit of {case.limits.seconds:g} s"
    return case.limits.exceeded()


def _start(case: Case, program: Program, best: Incumbent) -> dict[str, int]:
    """Tell the solver the best so far, alike members put in the program's order."""
    if best.assignment is None:
        return {}
    counts = counts_of(case.kinds, best.assignment)
    counts = in_order(case.kinds, case.alike, counts)
    return {var.name: counts.get(pair, 0) for pair, var in program.given.items()}


def _reason(case: Case, goal: Goal, run: Run) -> str:
    if run.end is End.STOPPED:
        return case.limits.exceeded() or "the search came to its limit"
    if not goal.exact:
        return "lags so large that the program takes them in coarser units"
    return "the solver's word does not agree with an exact recount"


def is_less(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    """Compare level by level; two values of one level are of one sort."""
    for one, other in zip(left, right, strict=True):
        if one != other:
            return bool(one < other)  # type: ignore[operator]
    return False
