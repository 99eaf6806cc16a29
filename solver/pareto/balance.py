"""Moves against balance: for every budget the least measure, proved.

For one budget the measure is Σ_v f(v, n(v)), n(v) the members whose load is v or more.
The sum of squares is linear in n, so one integer program settles it. KIP-54's score is
concave in each n(v): it is settled by cuts. The best *profile* n that agrees with all
that is known bounds the score from below. Prices that touch the score at this profile
never decrease in v, so the cheapest loads at these prices are an easy program, too.
Either they cost no more than the profile, and then they are as good as it, for a
concave sum is never above what touches it: settled. Or what they cost cuts the profile
off, and the next best is looked for. There are finitely many profiles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from rebalance import Instance
from rebalance.documents import SearchProof
from solver.exact import solve as solve_core
from solver.limits import LimitExceededError, Limits
from solver.pareto.counts import Counts, Plan, counts_of, materialize, plan_of
from solver.pareto.excess import Excess, excess_of
from solver.pareto.front import Front, Open, Point, Progress
from solver.pareto.hull import corners
from solver.pareto.measure import Measure, tangent_of
from solver.pareto.program import cheapest
from solver.pareto.running import VERSION
from solver.pareto.staircase import Staircase, Step, halving
from solver.pareto.walk import Cut, Walk, least_measure
from solver.policy import no_balance

FLOWS: Final = SearchProof(engine=f"min-cost-flow {VERSION}")
PROGRAMS: Final = SearchProof(engine=f"cp-sat {VERSION}")
_EFFORT: Final = 1.0
"""Of the first try at a budget; four times as much at each further one."""

Stairs = Staircase[Plan, SearchProof]


def balance_front(
    instance: Instance,
    measure: Measure = Measure.SCORE,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Front:
    """Find every pair of moves and balance that nothing beats in both.

    Every valid assignment is allowed. Counts of partitions, whatever the capacities.
    A limit that strikes leaves points unproved and budgets open, with their bounds.
    """
    limits = limits or Limits()
    task = _Task.of(instance, measure, limits)
    task.begin(limits)
    task.bound_all(limits)
    task.settle_all(limits, progress or (lambda _done, _all: None))
    return _front(instance, task, limits)


@dataclass(slots=True)
class _Task:
    """The work on one instance; ``beyond`` are budgets that no effort settles."""

    counts: Counts
    measure: Measure
    excess: Excess
    top: int
    stairs: Stairs
    beyond: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, instance: Instance, measure: Measure, limits: Limits) -> _Task:
        """Begin with both ends: nothing moves, and the exact core's answer."""
        counts = counts_of(instance)
        unweighted = replace(instance, capacity=None)
        best = plan_of(instance, solve_core(unweighted).require_assignment())
        moves, least = counts.moves(best), measure.of(counts.loads(best))
        still = _staying(counts)
        worst = measure.of(counts.loads(still))
        step = Step(value=worst, held=still, bound=least, why=FLOWS)
        stairs = Stairs.flat(0, moves, step)
        stairs.found(moves, least, best)
        share = limits if limits.left is None else limits.part(limits.left / 2)
        excess = excess_of(counts, share)
        top = max(excess.top, *counts.loads(still), *counts.loads(best), 1)
        return cls(counts, measure, excess, top, stairs)

    def begin(self, limits: Limits) -> None:
        """Note what is on the hull of squares; for another measure it is a start."""
        for corner in corners(self.counts, self.top, limits):
            worth = self.measure.of(self.counts.loads(corner.plan))
            self.stairs.found(corner.moves, worth, corner.plan)
            if self.measure is Measure.SQUARES:
                self.stairs.proved(corner.moves, corner.squares, FLOWS)

    def bound_all(self, limits: Limits) -> None:
        """Bound every budget by what flows say of it."""
        costs = self.measure.costs(self.counts.members, self.top)
        for budget in range(self.stairs.last, -1, -1):
            if limits.exceeded():
                return
            excess = self.excess.at(budget)
            least = least_measure(costs, self.counts.partitions, excess)
            if least is not None:
                self.stairs.proved(budget, least, FLOWS)

    def settle_all(self, limits: Limits, progress: Progress) -> None:
        """Try budget after budget, with more effort each round, until all is known."""
        effort = _EFFORT
        while (due := self._due()) and not limits.exceeded():
            for budget in halving(due):
                if limits.exceeded():
                    return
                if self.stairs.is_open(budget):
                    given = limits.effort or effort
                    self.settle(budget, replace(limits, effort=given))
                    total = len(self.stairs.steps)
                    progress(total - len(self.stairs.open), total)
            if limits.effort is not None:
                return
            effort *= 4

    def _due(self) -> list[int]:
        return [budget for budget in self.stairs.open if budget not in self.beyond]

    def settle(self, budget: int, limits: Limits) -> None:
        """Look for the best within one budget, until it is found or a limit strikes."""
        stairs, squares = self.stairs, [2 * v + 1 for v in range(self.top)]
        bound = self._cheapest(budget, squares, limits)
        if bound is None:
            return
        if self.measure is Measure.SQUARES:
            stairs.proved(budget, bound, PROGRAMS)
            return
        cuts = [Cut(prices=squares, least=bound)]
        while stairs.is_open(budget):
            profile = self._next_profile(budget, cuts, limits)
            if profile is None or not stairs.is_open(budget):
                return
            prices = tangent_of(profile, self.counts.members)
            bound = self._cheapest(budget, prices, limits)
            cost = sum(p * n for p, n in zip(prices, profile, strict=True))
            if bound is None or (bound <= cost and stairs.is_open(budget)):
                return  # a limit struck
            cuts.append(Cut(prices=prices, least=bound))

    def _next_profile(
        self, budget: int, cuts: list[Cut], limits: Limits
    ) -> list[int] | None:
        """Find the best profile that nothing known forbids; note its worth."""
        walk = self._walk(budget, cuts)
        if walk is None:
            self.beyond.add(budget)
            return None
        step = self.stairs.at(budget)
        for worth in range(step.bound, step.value, 2):
            try:
                profile = walk.find(worth, limits)
            except LimitExceededError:
                return None
            if profile is not None:
                return profile
            self.stairs.proved(budget, worth + 2, PROGRAMS)
        return None

    def _cheapest(self, budget: int, prices: list[int], limits: Limits) -> int | None:
        """Find the cheapest plan, note what it is worth, return a bound of its cost."""
        found = cheapest(
            self.counts,
            budget,
            prices,
            self.excess.at(budget),
            limits=limits,
            hint=self.stairs.at(budget).held,
        )
        if found.plan is not None:
            worth = self.measure.of(self.counts.loads(found.plan))
            self.stairs.found(self.counts.moves(found.plan), worth, found.plan)
        return found.bound

    def reason(self, limits: Limits) -> str | None:
        """Say what kept budgets from being settled; None if they are."""
        if not self.stairs.open:
            return None
        too_large = "too large for a search to the end"
        return limits.exceeded() or ("a limit of effort" if self._due() else too_large)

    def _walk(self, budget: int, cuts: list[Cut]) -> Walk | None:
        costs = self.measure.costs(self.counts.members, self.top)
        excess = self.excess.at(budget)
        padded = [*excess, *[0] * self.top][: self.top]
        return Walk.over(costs, self.counts.partitions, padded, cuts)


def _staying(counts: Counts) -> Plan:
    """Leave all with their owners; the rest goes to whoever has least."""
    plan, loads = dict(counts.own), counts.loads(counts.own)
    for topic, takers in counts.takers.items():
        owned = sum(counts.own.get((topic, c), 0) for c in takers)
        for _ in range(counts.supply[topic] - owned):
            c = min(takers, key=lambda c: (loads[c], c))
            plan[topic, c] = plan.get((topic, c), 0) + 1
            loads[c] += 1
    return plan


def _front(instance: Instance, task: _Task, limits: Limits) -> Front:
    stairs = task.stairs
    points = tuple(
        _point(instance, task, moves)
        for moves in range(stairs.last + 1)
        if stairs.is_corner(moves)
    )
    return Front(
        objective="balance",
        balance=str(no_balance),
        measure=task.measure,
        points=points,
        open=tuple(Open(first=a, last=b, bound=c) for a, b, c in stairs.runs()),
        reason=task.reason(limits),
    )


def _point(instance: Instance, task: _Task, moves: int) -> Point:
    step = task.stairs.at(moves)
    return Point(
        moves=moves,
        value=step.value,
        bound=step.bound,
        is_proved=task.stairs.is_proved_corner(moves),
        proof=step.why,
        assignment=materialize(instance, task.counts, step.held),
    )
