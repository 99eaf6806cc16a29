"""Peak lag within a budget of moves, to the end, for few partitions."""

from solver.budget.choice import NAME, Choice, Reached

__all__ = ["NAME", "Choice", "Reached"]
