"""Pareto frontier of moves against the sum of squares of loads.

Flows find the supported plans (`solver.pareto.supported_plans`); at the limits on moves
that these leave open, CP-SAT minimizes the sum of squares subject to the limit:

    keep(i)    partitions of pair i (a topic and a member) that stay with the member
    give(i)    partitions of pair i that the member gets in addition
    reach(c, v)    1 if the load of member c is v or more

No load needs to exceed the largest load of some plan without moves: from any plan,
single transfers from members above it to members below it that keep the kept partitions
lead to loads within it and lower the sum of squares.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise
from typing import Final

import numpy as np
from ortools.sat.python import cp_model

from rebalance import Instance, Int64, SearchProof, figures_of
from solver.cpsat import configure_solver, run_solver
from solver.engines import solve
from solver.limits import LimitExceededError, Limits
from solver.pareto.frontier import (
    Frontier,
    FrontierPoint,
    KnownFrontier,
    KnownValue,
    Progress,
)
from solver.pareto.supported_plans import EligiblePairs, groups, supported_plans
from solver.policy import no_balance

MEASURE: Final = "sum-of-squares"
FLOW: Final = SearchProof(engine=f"min-cost-flow {version('ortools')}")
CP_SAT: Final = SearchProof(engine=f"cp-sat {version('ortools')}")


def balance_frontier(
    instance: Instance,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Frontier:
    """Find every Pareto-optimal pair of moves and sum of squares of loads.

    Every valid assignment is allowed, and loads are numbers of partitions, whatever the
    capacities. Reaching a limit leaves points unproved and ranges open, with bounds.
    """
    limits, pairs = limits or Limits(), EligiblePairs(instance)
    best = solve(replace(instance, capacity=None)).require_assignment()
    least, without_moves = pairs.plan_of(best.assignee), _plan_without_moves(pairs)
    top = int(max(pairs.loads(plan).max(initial=1) for plan in (without_moves, least)))
    known = _known_by_ends(pairs, without_moves, least)
    for moves, squares, plan in supported_plans(pairs, top, limits):
        known.add_assignment(moves, squares, pairs.assignment_of(plan))
        known.add_bound(moves, squares, FLOW)

    def search(most: int, limits: Limits) -> None:
        found = FrontierProgram(pairs, top, limits).solve(most)
        if found is not None:
            plan, bound = found
            moves, squares = pairs.moves(plan), pairs.squares(plan)
            known.add_assignment(moves, squares, pairs.assignment_of(plan))
            known.add_bound(most, bound, CP_SAT)

    reason = known.settle(search, limits, progress)
    return Frontier(
        objective="balance",
        balance=str(no_balance),
        measure=MEASURE,
        points=tuple(_scored(instance, point) for point in known.points()),
        open=known.open_ranges(),
        reason=reason,
    )


def _scored(instance: Instance, point: FrontierPoint) -> FrontierPoint:
    """Return a point with the KIP-54 score of its assignment."""
    score = figures_of(instance, point.assignment).kip54_score
    return replace(point, kip54_score=score)


def _known_by_ends(
    pairs: EligiblePairs, without_moves: Int64, least: Int64
) -> KnownFrontier:
    """Return the frontier known from the plans without moves and with the least sum."""
    value, bound = pairs.squares(without_moves), pairs.squares(least)
    unmoved = pairs.assignment_of(without_moves)
    start = KnownValue(assignment=unmoved, value=value, bound=bound, proof=FLOW)
    known = KnownFrontier(0, pairs.moves(least), start)
    known.add_assignment(known.last, bound, pairs.assignment_of(least))
    return known


def _plan_without_moves(pairs: EligiblePairs) -> Int64:
    """Keep all that is owned; assign the rest to the least loaded members."""
    plan, loads = pairs.owned.copy(), pairs.loads(pairs.owned)
    for of_topic in groups(pairs.topic):
        members = pairs.member[of_topic]
        for _ in range(int(pairs.supply[of_topic[0]] - plan[of_topic].sum())):
            i = int(np.argmin(loads[members]))
            plan[of_topic[i]] += 1
            loads[members[i]] += 1
    return plan


class FrontierProgram:
    """A CP-SAT model of the plans in which no load is larger than ``top``."""

    def __init__(self, pairs: EligiblePairs, top: int, limits: Limits) -> None:
        self.pairs, self.top, self.limits = pairs, top, limits
        self.model = cp_model.CpModel()
        self.keep = [self.model.new_int_var(0, n, "") for n in pairs.owned.tolist()]
        beside = (pairs.supply - pairs.owned).tolist()
        self.give = [self.model.new_int_var(0, n, "") for n in beside]
        self.reach: list[list[cp_model.IntVar]] = []

    def solve(self, most: int) -> tuple[Int64, int] | None:
        """Return the best plan found with at most so many moves, and a bound.

        None if a limit is reached before a plan is found.
        """
        try:
            self.assign_each_partition()
            self.limit_moves(most)
            self.count_loads()
            self.minimize_squares()
            self.limits.check()
        except LimitExceededError:
            return None
        return self._run()

    def assign_each_partition(self) -> None:
        """Assign each topic: Σ keep(i) + give(i) over its pairs = its partitions."""
        for of_topic in groups(self.pairs.topic):
            self.limits.check()
            supply = int(self.pairs.supply[of_topic[0]])
            self.model.add(self._assigned(of_topic) == supply)

    def limit_moves(self, most: int) -> None:
        """Move at most so many partitions: Σ keep(i) ≥ owned − most."""
        least = int(self.pairs.owned.sum()) - most
        self.model.add(cp_model.LinearExpr.sum(self.keep) >= least)

    def count_loads(self) -> None:
        """Count loads: Σ keep(i) + give(i) of member c = Σ_v reach(c, v), no gaps."""
        for of_member in groups(self.pairs.member):
            self.limits.check()
            reach = [self.model.new_bool_var("") for _ in range(self.top)]
            load = cp_model.LinearExpr.sum(reach)
            self.model.add(self._assigned(of_member) == load)
            for lower, higher in pairwise(reach):
                self.model.add_implication(higher, lower)
            self.reach.append(reach)

    def minimize_squares(self) -> None:
        """Minimize Σ_c Σ_v (2v − 1) · reach(c, v) = Σ_c load(c)²."""
        reached = [variable for reach in self.reach for variable in reach]
        costs = [2 * v - 1 for v in range(1, self.top + 1)] * len(self.reach)
        self.model.minimize(cp_model.LinearExpr.weighted_sum(reached, costs))

    def _assigned(self, numbers: Int64) -> cp_model.LinearExpr:
        """Return Σ keep(i) + give(i) over some pairs."""
        variables = [by_pair[i] for i in numbers for by_pair in (self.keep, self.give)]
        return cp_model.LinearExpr.sum(variables)

    def _run(self) -> tuple[Int64, int] | None:
        solver = configure_solver(self.limits)
        # The relaxation is almost integral: presolve takes longer than the search.
        solver.parameters.cp_model_presolve = False
        if self.limits.effort is not None:
            solver.parameters.max_deterministic_time = self.limits.effort
        if not run_solver(solver, self.model, self.limits):
            return None
        response = solver.response_proto
        if response.status in {cp_model.INFEASIBLE, cp_model.MODEL_INVALID}:
            raise AssertionError(f"a program with a solution: {response.status.name}")
        if response.status == cp_model.UNKNOWN:
            return None
        keep, give = (
            np.array([solver.value(variable) for variable in variables], np.int64)
            for variables in (self.keep, self.give)
        )
        # The bound that is counted in integers, not the one reported as a float.
        return keep + give, int(response.inner_objective_lower_bound)
