"""Every policy as integer programs, answered by CP-SAT (OR-Tools)."""

from solver.cpsat.engine import solve
from solver.cpsat.known_bound import KnownBound
from solver.cpsat.run_solver import configure_solver, run_solver

__all__ = ["KnownBound", "configure_solver", "run_solver", "solve"]
