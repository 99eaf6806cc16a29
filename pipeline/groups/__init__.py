"""One group from any source, by name, without Spark.

`read_group` reads the folder of an audit, local files of every format that an audit
reads, or a running cluster.
"""

from pipeline.groups.assignor_history import (
    AssignorHistory,
    HistoryAnswer,
    answers_of_group,
)
from pipeline.groups.group_source import group_source, read_group
from pipeline.groups.held_now import with_held
from pipeline.groups.moments import GroupRebalance, choose, near_names
from pipeline.time_window import TimeWindow

__all__ = [
    "AssignorHistory",
    "GroupRebalance",
    "HistoryAnswer",
    "TimeWindow",
    "answers_of_group",
    "choose",
    "group_source",
    "near_names",
    "read_group",
    "with_held",
]
