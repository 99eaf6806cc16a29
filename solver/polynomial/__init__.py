"""Policies that flow can answer, in polynomial time and with proof."""

from solver.polynomial.answer import solve
from solver.polynomial.faces import Face, face

__all__ = ["Face", "face", "solve"]
