"""The exact front of moves against balance, and of moves against peak lag."""

from solver.pareto.balance import balance_front
from solver.pareto.front import Front, Open, Point, Progress
from solver.pareto.lag import peak_lag_front
from solver.pareto.measure import Measure

__all__ = [
    "Front",
    "Measure",
    "Open",
    "Point",
    "Progress",
    "balance_front",
    "peak_lag_front",
]
