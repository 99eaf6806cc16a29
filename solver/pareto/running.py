"""Run CP-SAT on one of many small programs, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from ortools.sat.python import cp_model

from solver.cpsat import configure_solver, run_solver
from solver.limits import Limits

VERSION: Final = version("ortools")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How a search ended.

    Attributes
    ----------
    values : tuple of int or None
        Of the variables asked for; None: nothing was found.
    bound : int or None
        No solution has less; None: that is not known.
    """

    values: tuple[int, ...] | None = None
    bound: int | None = None


def search(
    model: cp_model.CpModel, asked: Sequence[cp_model.IntVar], limits: Limits
) -> Search:
    """Minimize a model that has a solution."""
    if limits.exceeded():
        return Search()
    solver = configure_solver(limits)
    # Hundreds of small programs whose relaxation is all but whole: to simplify one
    # first takes longer than to solve it.
    solver.parameters.cp_model_presolve = False
    if limits.effort is not None:
        solver.parameters.max_deterministic_time = limits.effort
    if not run_solver(solver, model, limits):
        return Search()
    response = solver.response_proto
    if response.status in {cp_model.INFEASIBLE, cp_model.MODEL_INVALID}:
        raise AssertionError(f"a program that has a solution: {response.status.name}")
    if response.status == cp_model.UNKNOWN:
        return Search()
    values = tuple(int(solver.value(one)) for one in asked)
    # The bound that is counted in integers, not the one told as a float.
    return Search(values=values, bound=int(response.inner_objective_lower_bound))
