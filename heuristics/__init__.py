"""Published assignors as published, fast and deterministic, and two of our own."""

from heuristics.assignor import Assignor
from heuristics.registry import ASSIGNORS

__all__ = ["ASSIGNORS", "Assignor"]
