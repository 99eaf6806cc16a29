"""Every policy as an integer program in PuLP, solved by HiGHS or CBC."""

from solver.milp.backend import Backend
from solver.milp.solving import solve

__all__ = ["Backend", "solve"]
