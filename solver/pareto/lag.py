"""Moves against peak lag: for every budget the least peak lag, proved.

Both ends first: the fewest moves that the balance allows, and the least peak lag there
is. Then each budget between, by a program for CP-SAT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver import cpsat, solve
from solver.limits import Limits
from solver.objectives import check_policy, scale_of, value_of
from solver.pareto.front import Front, Open, Point, Progress
from solver.pareto.staircase import Staircase, Step
from solver.policy import Balance, Objective, Policy, WeightedObjective, no_balance
from solver.result import Proof, Result, zero_term

PEAK: Final = WeightedObjective.of(Objective.PEAK_LAG)
MOVES: Final = WeightedObjective.of(Objective.STICKINESS)
_EFFORT: Final = 0.1
"""Of the first try at a budget; four times as much at each further one."""
_EFFORT_OF_END: Final = 1.0
"""Of the first search for the least peak lag of all."""
_SHARE_OF_END: Final = 0.2
"""Of the time left, for a longer one where there is a time limit."""

Stairs = Staircase[Assignment, Proof]


def peak_lag_front(
    instance: Instance,
    balance: Balance = no_balance,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Front:
    """Find every pair of moves and peak lag that nothing beats in both.

    A limit that strikes leaves points unproved and budgets open, with their bounds.

    Raises
    ------
    InstanceError
        If no topic tells lag, or if sums could pass 64 bits.
    """
    limits = limits or Limits()
    check_policy(instance, Policy(balance=balance, objectives=(PEAK, MOVES)))
    task = _Task(instance=instance, balance=balance)
    stairs = task.begin(limits)
    if stairs is None:
        why = limits.exceeded() or "no assignment that meets the balance was found"
        return _front(task, (), (), why)
    task.settle_all(stairs, limits, progress or (lambda _done, _all: None))
    points = tuple(
        task.point(stairs, moves)
        for moves in range(stairs.first, stairs.last + 1)
        if stairs.is_corner(moves)
    )
    runs = tuple(Open(first=a, last=b, bound=c) for a, b, c in stairs.runs())
    reason = (limits.exceeded() or "a limit of effort") if runs else None
    return _front(task, points, runs, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    instance: Instance
    balance: Balance

    def begin(self, limits: Limits) -> Stairs | None:
        """Find both ends; None if not even the first was found."""
        fewest = solve(
            self.instance,
            Policy(balance=self.balance, objectives=(MOVES,)),
            limits=limits,
        )
        if fewest.assignment is None:
            return None
        part = _part(limits, _EFFORT_OF_END)
        end = cpsat.solve(self.instance, self.ends, limits=part)
        first, last = self._moves(fewest.assignment), self._owned()
        best = None if end.assignment is None else end.objectives[0]
        if end.assignment is not None and best is not None and best.is_proved:
            last = self._moves(end.assignment)
        step: Step[Assignment, Proof] = Step(
            value=self._peak(fewest.assignment),
            held=fewest.assignment,
            bound=0,
            why=zero_term(),
        )
        stairs = Stairs.flat(first, max(first, last), step)
        self.look_at_end(stairs, limits)
        self.note(stairs, stairs.last, end)
        return stairs

    def look_at_end(self, stairs: Stairs, limits: Limits) -> None:
        """Ask for the least peak lag alone: that may be proved, or proved by terms."""
        alone = Policy(balance=self.balance, objectives=(PEAK,))
        part = _part(limits, _EFFORT_OF_END)
        self.note(stairs, stairs.last, solve(self.instance, alone, limits=part))

    def look_longer(self, stairs: Stairs, limits: Limits) -> None:
        """Give the end a part of the time of its own; fewer moves profit from it."""
        if stairs.is_open(stairs.last) and limits.left and limits.effort is None:
            part = limits.part(limits.left * _SHARE_OF_END)
            again = solve(self.instance, self.ends, limits=part)
            self.note(stairs, stairs.last, again)

    def settle_all(self, stairs: Stairs, limits: Limits, progress: Progress) -> None:
        """Try budget after budget, with more effort each round, until all is known."""
        self.look_longer(stairs, limits)
        effort = _EFFORT
        while stairs.open and not limits.exceeded():
            for budget in stairs.open:  # ascending: few moves are few choices
                if limits.exceeded():
                    return
                if stairs.is_open(budget):
                    part = _part(limits, limits.effort or effort)
                    self.search(stairs, budget, part)
                    total = len(stairs.steps)
                    progress(total - len(stairs.open), total)
            if limits.effort is not None:
                return
            effort *= 4

    def search(self, stairs: Stairs, budget: int, limits: Limits) -> None:
        """Put a budget to CP-SAT, if it is not settled."""
        if not stairs.is_open(budget):
            return
        policy, hint = self.policy(budget), stairs.at(budget).held
        outcome = cpsat.solve(self.instance, policy, limits=limits, hint=hint)
        self.note(stairs, budget, outcome)

    def note(self, stairs: Stairs, budget: int, outcome: Result) -> None:
        """Note what an engine found for a budget, and what it proved."""
        if outcome.assignment is None or not outcome.objectives:
            return
        peak = outcome.objectives[0]
        if isinstance(peak.value, int) and isinstance(peak.bound, int):
            moves = self._moves(outcome.assignment)
            stairs.found(moves, self._peak(outcome.assignment), outcome.assignment)
            stairs.proved(budget, peak.bound, peak.proof or zero_term())

    def point(self, stairs: Stairs, moves: int) -> Point:
        """Write one corner."""
        step = stairs.at(moves)
        return Point(
            moves=moves,
            value=step.value,
            bound=step.bound,
            is_proved=stairs.is_proved_corner(moves),
            proof=step.why,
            assignment=step.held,
        )

    @property
    def ends(self) -> Policy:
        """What the last point is: the least peak lag, with the fewest moves."""
        return Policy(balance=self.balance, objectives=(PEAK, MOVES))

    def policy(self, budget: int) -> Policy:
        """Return what is asked for one budget."""
        return Policy(balance=self.balance, objectives=(PEAK,), max_moves=budget)

    def _owned(self) -> int:
        return int(np.count_nonzero(self.instance.owner != NOBODY))

    def _moves(self, assignment: Assignment) -> int:
        moves = value_of(self.instance, assignment, MOVES)
        assert isinstance(moves, int)  # noqa: S101 - only ``load`` is a vector
        return moves

    def _peak(self, assignment: Assignment) -> int:
        value = value_of(self.instance, assignment, PEAK)
        assert isinstance(value, int)  # noqa: S101 - only ``load`` is a vector
        return value


def _part(limits: Limits, effort: float) -> Limits:
    least = effort if limits.effort is None else min(effort, limits.effort)
    return replace(limits, effort=least)


def _front(
    task: _Task, points: tuple[Point, ...], runs: tuple[Open, ...], reason: str | None
) -> Front:
    return Front(
        objective="peak-lag",
        balance=str(task.balance),
        scale=scale_of(task.instance, PEAK),
        points=points,
        open=runs,
        reason=reason,
    )
