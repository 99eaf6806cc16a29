"""Peak lag at scale: bounds, greedy construction, local search, and CP-SAT."""

from solver.peak_lag.solve_peak_lag import can_answer, known_bounds, solve

__all__ = ["can_answer", "known_bounds", "solve"]
