"""Evaluation of one rebalance: every assignor, the optimum, the best by KIP-54; judged.

Used by ``audit`` and ``compare`` alike. Does not import Spark.
"""

from pipeline.evaluation.answers import (
    ACTUAL,
    KIP54,
    OPTIMUM,
    Answer,
    Evaluation,
    Failure,
)
from pipeline.evaluation.least import Least, least_of

__all__ = [
    "ACTUAL",
    "KIP54",
    "OPTIMUM",
    "Answer",
    "Evaluation",
    "Failure",
    "Least",
    "least_of",
]
