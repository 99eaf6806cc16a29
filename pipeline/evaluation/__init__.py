"""Run and judge every assignor, the optimum, and KIP-54's optimum on one rebalance.

Used by ``audit`` and ``compare``. Does not import Spark.
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
from pipeline.evaluation.selection import ALL, DEFAULT, KNOWN, selection

__all__ = [
    "ACTUAL",
    "ALL",
    "DEFAULT",
    "KIP54",
    "KNOWN",
    "OPTIMUM",
    "Answer",
    "Evaluation",
    "Failure",
    "Least",
    "least_of",
    "selection",
]
