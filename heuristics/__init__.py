"""Published assignors, unchanged, fast, and deterministic; and two of our own."""

from heuristics.assignor import Assignor
from heuristics.claim_history import wanted_claims
from heuristics.cooperative_sticky import CooperativeStickyAssignor, withheld_of
from heuristics.registry import ASSIGNORS, UnknownAssignorError, assign

__all__ = [
    "ASSIGNORS",
    "Assignor",
    "CooperativeStickyAssignor",
    "UnknownAssignorError",
    "assign",
    "wanted_claims",
    "withheld_of",
]
