"""Every policy as integer programs, answered by CP-SAT (OR-Tools)."""

from solver.cpsat.engine import solve

__all__ = ["solve"]
