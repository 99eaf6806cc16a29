"""Pareto frontiers of moves against balance, and of moves against peak lag."""

from solver.pareto.frontier import Frontier, FrontierPoint, Progress
from solver.pareto.frontier_document import document_of
from solver.pareto.moves_and_balance import balance_frontier
from solver.pareto.moves_and_peak_lag import peak_lag_frontier

__all__ = [
    "Frontier",
    "FrontierPoint",
    "Progress",
    "balance_frontier",
    "document_of",
    "peak_lag_frontier",
]
