"""The exact front of moves against balance, and of moves against peak lag."""

from solver.front.balance import balance_front
from solver.front.front import Front, Open, Point, Progress
from solver.front.lag import peak_lag_front
from solver.front.measure import Measure

__all__ = [
    "Front",
    "Measure",
    "Open",
    "Point",
    "Progress",
    "balance_front",
    "peak_lag_front",
]
