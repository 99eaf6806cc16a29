"""Every policy as an integer program in PuLP, solved by HiGHS."""

from solver.milp.feasibility import is_allowed
from solver.milp.solve_milp import solve

__all__ = ["is_allowed", "solve"]
