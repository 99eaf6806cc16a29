"""CP-SAT set to keep to limits, the same for every program; and run so."""

from __future__ import annotations

from ortools.sat.python import cp_model

from solver.limits import Limits
from solver.run_limited import run_in_thread


def configure_solver(limits: Limits) -> cp_model.CpSolver:
    """Return CP-SAT with the workers, the seed and the time of the limits."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = limits.workers
    parameters.random_seed = limits.seed % 2**31  # it takes no more bits
    parameters.catch_sigint_signal = False  # whoever set the limits hears it
    if limits.left is not None:
        parameters.max_time_in_seconds = limits.left
    return solver


def run_solver(
    solver: cp_model.CpSolver, model: cp_model.CpModel, limits: Limits
) -> bool:
    """Solve the model; return whether the solver ended before it was abandoned."""
    return run_in_thread(lambda: solver.solve(model), solver.stop_search, limits)
