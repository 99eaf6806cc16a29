"""Peak lag at scale: bounds, construction, exchanges, and CP-SAT last."""

from solver.peak_lag.solve import can_answer, known_bound, solve

__all__ = ["can_answer", "known_bound", "solve"]
