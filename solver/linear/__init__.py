"""Every policy as an integer program in PuLP, solved by HiGHS or CBC."""

from solver.linear.backend import Backend
from solver.linear.solving import solve

__all__ = ["Backend", "solve"]
