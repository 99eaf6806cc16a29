"""Aggregates of an audit's tables, computed in Arrow; no row passes through Python.

Aggregates of parts (`partial_…`) merge into the aggregate of the whole, so that tables
of any size are read in batches. Does not import Spark.
"""

from oracle.summary.arrow_columns import equals, is_true, ones, plain, summed
from oracle.summary.assignor_counts import (
    ANSWER_COLUMNS,
    COUNT_EDGES,
    LAG_EDGES,
    SCORE_EDGES,
    AssignorCounts,
    merge_assignor_counts,
    partial_assignor_counts,
)
from oracle.summary.group_figures import FIGURE_COLUMNS, FIGURES, group_figures
from oracle.summary.group_gains import (
    CLASSIC,
    CONSUMER,
    GAIN_COLUMNS,
    merge_group_gains,
    partial_group_gains,
)
from oracle.summary.group_sums import (
    client_counts,
    client_lag,
    day_counts,
    hourly_generations,
    kip54_counts,
)
from oracle.summary.lag_summary import medians, percent_above
from oracle.summary.last_rows import last_units
from oracle.summary.outcome_columns import (
    INVALID,
    NEEDLESS,
    OPEN,
    OPTIMUM,
    OUTCOMES,
    UNBALANCED,
    outcome_of,
)
from oracle.summary.unit_rows import client_units

__all__ = [
    "ANSWER_COLUMNS",
    "CLASSIC",
    "CONSUMER",
    "COUNT_EDGES",
    "FIGURES",
    "FIGURE_COLUMNS",
    "GAIN_COLUMNS",
    "INVALID",
    "LAG_EDGES",
    "NEEDLESS",
    "OPEN",
    "OPTIMUM",
    "OUTCOMES",
    "SCORE_EDGES",
    "UNBALANCED",
    "AssignorCounts",
    "client_counts",
    "client_lag",
    "client_units",
    "day_counts",
    "equals",
    "group_figures",
    "hourly_generations",
    "is_true",
    "kip54_counts",
    "last_units",
    "medians",
    "merge_assignor_counts",
    "merge_group_gains",
    "ones",
    "outcome_of",
    "partial_assignor_counts",
    "partial_group_gains",
    "percent_above",
    "plain",
    "summed",
]
