"""Peak lag as a plain program: one binary variable per partition and member.

Loads are balanced over all members, which is correct for one topic, or for dec-min with
equal subscriptions. No bounds, no symmetry breaking, no warm start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pulp
from numpy.typing import NDArray
from ortools.sat.python import cp_model


class Plain(NamedTuple):
    """Result of a plain program.

    Attributes
    ----------
    holder : int32 (P,) or None
    bound : int
    is_proved : bool
    """

    holder: NDArray[np.int32] | None
    bound: int
    is_proved: bool


def by_cp_sat(lag: list[int], members: int, seconds: float) -> Plain:
    """Solve with CP-SAT, one worker."""
    model = cp_model.CpModel()
    x = [[model.new_bool_var("") for _ in range(members)] for _ in lag]
    peak = model.new_int_var(0, sum(lag), "peak")
    for row in x:
        model.add_exactly_one(row)
    for c in range(members):
        count = sum(row[c] for row in x)
        model.add_linear_constraint(count, len(lag) // members, -(-len(lag) // members))
        model.add(sum(n * row[c] for n, row in zip(lag, x, strict=True)) <= peak)
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Plain(None, 0, is_proved=False)
    values = np.array([[solver.value(variable) for variable in row] for row in x])
    bound = round(solver.best_objective_bound)
    return Plain(_holder(values), bound, is_proved=status == cp_model.OPTIMAL)


def by_highs(lag: list[int], members: int, seconds: float) -> Plain:
    """Solve with HiGHS, one thread; its bound and proof are not verified.

    Without presolve, because that of 1.13 and 1.14 loses optima.
    """
    problem = pulp.LpProblem("peak", pulp.LpMinimize)
    peak = pulp.LpVariable("peak", lowBound=0)
    x = [
        [pulp.LpVariable(f"x_{p}_{c}", cat="Binary") for c in range(members)]
        for p in range(len(lag))
    ]
    problem += peak
    for row in x:
        problem += pulp.lpSum(row) == 1
    for c in range(members):
        count = pulp.lpSum(row[c] for row in x)
        problem += count >= len(lag) // members
        problem += count <= -(-len(lag) // members)
        held = pulp.lpSum(n * row[c] for n, row in zip(lag, x, strict=True))
        problem += held <= peak
    highs = pulp.HiGHS(
        msg=False, timeLimit=seconds, threads=1, gapRel=0, presolve="off"
    )
    problem.solve(highs)
    if any(variable.value() is None for row in x for variable in row):
        return Plain(None, 0, is_proved=False)
    values = np.array([[variable.value() for variable in row] for row in x])
    info = problem.solverModel.getInfo()
    holder = _holder(values)
    totals = np.bincount(holder, weights=lag, minlength=members)
    bound = int(np.ceil(info.mip_dual_bound - 1e-6 * max(1.0, info.mip_dual_bound)))
    reached = min(max(bound, 0), int(totals.max()))
    return Plain(holder, reached, is_proved=reached == int(totals.max()))


def _holder(values: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.asarray(values.argmax(axis=1), dtype=np.int32)
