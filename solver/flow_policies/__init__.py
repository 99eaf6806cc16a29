"""Policies that flow can answer, in polynomial time and with proof."""

from solver.exact.optimal_face import Face, face
from solver.flow_policies.answer import solve
from solver.flow_policies.mincost import flow_of

__all__ = ["Face", "face", "flow_of", "solve"]
