"""Run and judge every assignor, the optimum, and KIP-54's optimum on one rebalance.

Used by ``audit`` and ``compare``. Does not import Spark.
"""

from pipeline.evaluation.answers import (
    ACTUAL,
    COLUMNS,
    JUDGE,
    KIP54,
    OPTIMUM,
    Answer,
    DisagreementError,
    Evaluation,
    Failure,
)
from pipeline.evaluation.assignor_selection import ALL, DEFAULT, KNOWN, selection
from pipeline.evaluation.column_figures import ColumnFigures, can_count
from pipeline.evaluation.least import Least, least_of
from pipeline.evaluation.needless_lag import needless_lag

__all__ = [
    "ACTUAL",
    "ALL",
    "COLUMNS",
    "DEFAULT",
    "JUDGE",
    "KIP54",
    "KNOWN",
    "OPTIMUM",
    "Answer",
    "ColumnFigures",
    "DisagreementError",
    "Evaluation",
    "Failure",
    "Least",
    "can_count",
    "least_of",
    "needless_lag",
    "selection",
]
