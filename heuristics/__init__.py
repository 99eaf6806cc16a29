"""Published assignors, as published: fast, deterministic, their faults kept."""

from heuristics.assignor import Assignor
from heuristics.registry import ASSIGNORS

__all__ = ["ASSIGNORS", "Assignor"]
