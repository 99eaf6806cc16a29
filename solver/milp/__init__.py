"""Every policy as an integer program in PuLP, solved by HiGHS."""

from solver.milp.solve_milp import solve

__all__ = ["solve"]
