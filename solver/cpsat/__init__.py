"""Every policy as an integer program, solved by CP-SAT (OR-Tools)."""

from solver.cpsat.run_solver import configure_solver, run_solver
from solver.cpsat.solve_cpsat import building_effort, solve
from solver.result import KnownBound

__all__ = ["KnownBound", "building_effort", "configure_solver", "run_solver", "solve"]
