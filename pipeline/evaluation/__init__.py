"""Run and judge every assignor, the optimum, and KIP-54's optimum on one rebalance.

Used by ``audit`` and ``compare``. Does not import Spark.
"""

from pipeline.evaluation.answers import (
    ACTUAL,
    COLUMNS,
    JUDGE,
    KIP54,
    OPTIMUM,
    AssignorAnswer,
    DisagreementError,
    Evaluation,
    Failure,
)
from pipeline.evaluation.assignor_selection import (
    ALWAYS,
    DEFAULT,
    KNOWN,
    selection,
)
from pipeline.evaluation.evidence_columns import evidence_text
from pipeline.evaluation.least import Least, least_of
from pipeline.evaluation.needless_lag import needless_lag
from pipeline.evaluation.verdict_columns import answer_columns

__all__ = [
    "ACTUAL",
    "ALWAYS",
    "COLUMNS",
    "DEFAULT",
    "JUDGE",
    "KIP54",
    "KNOWN",
    "OPTIMUM",
    "AssignorAnswer",
    "DisagreementError",
    "Evaluation",
    "Failure",
    "Least",
    "answer_columns",
    "evidence_text",
    "least_of",
    "needless_lag",
    "selection",
]
