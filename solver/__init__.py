"""The exact core: the best assignment of any rebalance, with its certificate."""

from solver.answer import Answer, Status
from solver.certificate import Certificate, Proof, prove
from solver.core import solve, solve_by_flow

__all__ = [
    "Answer",
    "Certificate",
    "Proof",
    "Status",
    "prove",
    "solve",
    "solve_by_flow",
]
