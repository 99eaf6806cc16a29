"""Policies that flow can answer, in polynomial time and with proof."""

from solver.flow_policies.answer import solve

__all__ = ["solve"]
