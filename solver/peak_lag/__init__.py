"""Peak lag at scale: bounds, greedy construction, local search, and CP-SAT."""

from solver.peak_lag.solve_peak_lag import known_bounds, solve

__all__ = ["known_bounds", "solve"]
