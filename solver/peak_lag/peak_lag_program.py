"""The CP-SAT program of peak lag and of the objectives before or after it.

Partitions of one topic, one lag and, where moves count, one owner are equivalent; the
program has one integer variable per equivalence class and eligible member: the number
of partitions that the member receives. Where moves do not count, interchangeable
members are ordered: the largest partition goes to the first of them, the next to one of
the first two, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

import numpy as np
from ortools.sat.python import cp_model

from rebalance import Int32
from solver.cpsat import configure_solver, run_solver
from solver.limits import LimitExceededError
from solver.peak_lag.feasible_region import (
    eligible_members,
    equivalence_classes,
    interchangeable_members,
)
from solver.peak_lag.lag_instance import LagInstance, largest_sum
from solver.peak_lag.work import Work
from solver.policy import Objective

ENGINE: Final = f"cp-sat {version('ortools')}"

_PRESOLVED_SUM: Final = 2**30
"""Programs with larger sums are not presolved: OR-Tools 9.15 then loses solutions.

``test_bug_presolve`` of `solver.cpsat` has the model.
"""

Expression = cp_model.LinearExpr | cp_model.IntVar | int


def improve(
    lag_instance: LagInstance,
    holder: Int32,
    objective: Objective,
    *,
    value: int,
    bound: int,
    within: Mapping[Objective, int],
    work: Work,
    effort: float,
) -> tuple[Int32 | None, int]:
    """Search for an assignment with less of an objective than ``value``.

    Parameters
    ----------
    holder : int32 (P,)
        Start.
    bound : int
        No assignment has less.
    within : mapping of Objective to int
        Largest value allowed of each objective before.
    effort : float
        Deterministic seconds.

    Returns
    -------
    int32 (P,) or None
        An assignment with less, if one is found.
    int
        The new bound; ``value`` if it is proved that there is none.
    """
    objectives = {objective, *within}
    try:
        program = PeakLagProgram(
            lag_instance, sticky=Objective.STICKINESS in objectives, work=work
        )
        for one, most in within.items():
            program.measure(one, 0, most)
        program.model.minimize(program.measure(objective, bound, value - 1))
        program.hint(holder)
    except LimitExceededError:
        return None, bound
    solver = solver_within(work, effort)
    has_deviation = Objective.LAG_DEVIATION in objectives
    largest = largest_sum(lag_instance, deviation=has_deviation)
    solver.parameters.cp_model_presolve = largest <= _PRESOLVED_SUM
    status = run_within(solver, program.model, work)
    if status == cp_model.INFEASIBLE:
        return None, value
    if status in (None, cp_model.MODEL_INVALID):  # sums exceed what CP-SAT can add up
        return None, bound
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    least = round(solver.best_objective_bound)  # an integer, as the objective is
    return program.holder(solver) if found else None, max(bound, least)


def solver_within(work: Work, effort: float) -> cp_model.CpSolver:
    """Return CP-SAT, set to keep to the limits and to an effort."""
    solver = configure_solver(work.limits)
    solver.parameters.max_deterministic_time = max(work.left(effort), 1e-3)
    # All constraints in the linear relaxation: it is what proves bounds.
    solver.parameters.linearization_level = 2
    return solver


def run_within(
    solver: cp_model.CpSolver, model: cp_model.CpModel, work: Work
) -> object:
    """Solve the model; return its status, None if the solver was abandoned."""
    if not run_solver(solver, model, work.limits):
        return None
    response, limits = solver.response_proto, work.limits
    work.spent += response.deterministic_time
    ended_early = response.deterministic_time < solver.parameters.max_deterministic_time
    is_open = response.status in (cp_model.UNKNOWN, cp_model.FEASIBLE)
    if is_open and ended_early and limits.seconds is not None:
        work.end_by(f"time limit of {limits.seconds:g} s")
    return response.status


class PeakLagProgram:
    """Variables, constraints, and how to read an assignment from a solution.

    Parameters
    ----------
    lag_instance : LagInstance
    sticky : bool
        Whether moves count, in this objective or one before.
    work : Work

    Raises
    ------
    LimitExceededError
        If a limit is exceeded while it is built.
    """

    def __init__(self, lag_instance: LagInstance, *, sticky: bool, work: Work) -> None:
        self.lag_instance, self.work = lag_instance, work
        self.region = region = lag_instance.region
        self.model = cp_model.CpModel()
        self.classes = equivalence_classes(
            region, lag_instance.owner if sticky else None
        )
        groups = [] if sticky else interchangeable_members(region)
        self.groups = [group for group in groups if len(group) > 1]
        eligible = eligible_members(region)
        self.members: list[list[int]] = []
        self.count: dict[tuple[int, int], cp_model.IntVar] = {}
        cells: dict[int, list[cp_model.IntVar]] = {}
        for i, rows in enumerate(self.classes):
            work.check()
            t = region.topic[rows[0]]
            pairs = slice(eligible.offsets[t], eligible.offsets[t + 1])
            order = np.argsort(eligible.member[pairs])
            self.members.append(eligible.member[pairs][order].tolist())
            for c, cell in zip(
                self.members[i], eligible.cell[pairs][order].tolist(), strict=True
            ):
                x = self.model.new_int_var(0, rows.size, f"{i}@{c}")
                self.count[i, c] = x
                cells.setdefault(cell, []).append(x)
        self._assign_each_partition_once()
        self._bound_counts(cells)
        self._order_interchangeable_members()

    def _assign_each_partition_once(self) -> None:
        """Assign every partition: sum over c of x[i, c] = size of class i."""
        for i, rows in enumerate(self.classes):
            self.model.add(sum(self.count[i, c] for c in self.members[i]) == rows.size)

    def _bound_counts(self, cells: Mapping[int, list[cp_model.IntVar]]) -> None:
        """Limit each cell's count: least <= sum of x[i, c] over its classes <= most."""
        for cell, held in cells.items():
            self.work.check()
            least, most = int(self.region.least[cell]), int(self.region.most[cell])
            self.model.add_linear_constraint(sum(held), least, most)

    def _order_interchangeable_members(self) -> None:
        """Break symmetry: the n-th largest goes to one of the first n of a group.

        Only for partitions that are alone in their class.
        """
        for group in self.groups:
            for n, rows in enumerate(self.classes[: len(group) - 1]):
                if rows.size > 1:
                    break
                for c in group[n + 1 :]:
                    if (n, c) in self.count:
                        self.model.add(self.count[n, c] == 0)

    def _lags(self) -> list[Expression]:
        """Return the lag of each member: sum over i of lag[i] * x[i, c]."""
        counts: list[list[cp_model.IntVar]] = [[] for _ in self.region.unit]
        lags: list[list[int]] = [[] for _ in self.region.unit]
        for (i, c), x in self.count.items():
            counts[c].append(x)
            lags[c].append(int(self.region.lag[self.classes[i][0]]))
        return [
            cp_model.LinearExpr.weighted_sum(x, lag)
            for x, lag in zip(counts, lags, strict=True)
        ]

    def measure(self, objective: Objective, least: int, most: int) -> Expression:
        """Return an objective as an expression between two numbers."""
        match objective:
            case Objective.STICKINESS:
                return self._moves(least, most)
            case Objective.LAG_DEVIATION:
                return self._deviation(least, most)
        value = self.model.new_int_var(least, most, objective.value)
        units = self.region.unit.tolist()
        lags = [lag * unit for lag, unit in zip(self._lags(), units, strict=True)]
        if objective is Objective.PEAK_LAG:
            for lag in lags:
                self.model.add(lag <= value)
            return value
        heaviest = int(self.region.lag.sum()) * int(self.region.unit.max(initial=1))
        smallest = self.model.new_int_var(0, heaviest, "least lag")
        for lag in lags:
            self.model.add(lag >= smallest)
            self.model.add(lag - smallest <= value)
        return value

    def _moves(self, least: int, most: int) -> Expression:
        """Count owned partitions that are not with their owner."""
        owner = self.lag_instance.owner
        kept = [
            self.count[i, o]
            for i, rows in enumerate(self.classes)
            if (i, o := int(owner[rows[0]])) in self.count
        ]
        moves = int((owner >= 0).sum()) - sum(kept)
        self.model.add_linear_constraint(moves, least, most)
        return moves

    def _deviation(self, least: int, most: int) -> Expression:
        """Add up |shares * lag[c] - total * w[c]| over members."""
        weights = [self.lag_instance.scale // u for u in self.region.unit.tolist()]
        total, shares = int(self.region.lag.sum()), sum(weights)
        parts = []
        for lag, weight in zip(self._lags(), weights, strict=True):
            part = self.model.new_int_var(0, most, "deviation")
            off = lag * shares - total * weight
            self.model.add(off <= part)
            self.model.add(-off <= part)
            parts.append(part)
        self.model.add_linear_constraint(sum(parts), least, most)
        return sum(parts)

    def hint(self, holder: Int32) -> None:
        """Start from an assignment, its members renamed to fit the order."""
        renamed = np.arange(self.region.unit.size)
        for group in self.groups:
            members = set(group)
            by_lag = (c for rows in self.classes for c in holder[rows].tolist())
            seen = list(dict.fromkeys(c for c in by_lag if c in members))
            seen += [c for c in group if c not in set(seen)]
            renamed[seen] = group
        for i, rows in enumerate(self.classes):
            self.work.check()
            held = np.bincount(renamed[holder[rows]], minlength=renamed.size)
            for c in self.members[i]:
                self.model.add_hint(self.count[i, c], int(held[c]))

    def holder(self, solver: cp_model.CpSolver) -> Int32:
        """Return the holder of each partition in a solution."""
        holder = np.empty(self.region.lag.size, np.int32)
        for i, rows in enumerate(self.classes):
            times = [solver.value(self.count[i, c]) for c in self.members[i]]
            holder[rows] = np.repeat(self.members[i], times)
        return holder
