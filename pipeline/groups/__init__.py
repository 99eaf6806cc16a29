"""One group from any source, by name, without Spark.

`read_group` reads the folder of an audit, local files of every format that an audit
reads, or a running cluster.
"""

from pipeline.groups.group_source import group_source, read_group
from pipeline.groups.held_now import with_held
from pipeline.groups.moments import GroupRebalance, choose, near_names

__all__ = [
    "GroupRebalance",
    "choose",
    "group_source",
    "near_names",
    "read_group",
    "with_held",
]
