"""Peak lag within a budget of moves, to the end, for few partitions."""

from solver.budget.choice import NAME, Choice, Reached
from solver.budget.engine import can_answer, solve

__all__ = ["NAME", "Choice", "Reached", "can_answer", "solve"]
