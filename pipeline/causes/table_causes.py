"""Causes as a column of ``rebalances``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa

from pipeline.causes.coded_rows import Coding
from pipeline.causes.group_causes import causes_of
from pipeline.causes.group_rows import GroupRows, group_rows
from pipeline.causes.kinds import UNKNOWN
from pipeline.tables.shared_columns import CAUSES
from rebalance import Int64

_NOT_KNOWN: Final = {"kind": UNKNOWN, "count": 1, "members": [], "topics": []}


class NumberedRebalances:
    """The rebalances of a table in the order of their groups, and their coding."""

    def __init__(self, runs: Iterable[pa.Table]) -> None:
        self.coding = Coding()
        self.groups: GroupRows = group_rows(runs, self.coding)
        count = len(self.groups)
        # The last place is that of rebalances of documents.
        self.row_of: Int64 = np.full(count + 1, count, np.int64)
        self.row_of[self.groups.number] = np.arange(count)

    def of(self, rebalances: pa.Table, causes: Iterable[pa.Array]) -> pa.Array:
        """Return the causes of some rebalances, from those of all groups in order."""
        not_known = pa.array([[_NOT_KNOWN]], CAUSES.type)
        every = pa.chunked_array([*causes, not_known], CAUSES.type)
        number = self.coding.rebalances.known(rebalances["rebalance_id"])
        return every.take(pa.array(self.row_of[number]))


def causes_of_tables(rebalances: pa.Table, members: pa.Table) -> pa.Array:
    """Return the causes of rebalances, if all tables are in memory.

    Parameters
    ----------
    rebalances, members
        At least the columns `OF_REBALANCE`, `OF_MEMBER`, and `OF_TOPICS` of
        `pipeline.causes`, of whole groups.
    """
    numbered = NumberedRebalances([rebalances])
    coding, row_of = numbered.coding, numbered.row_of
    people = coding.member_rows(members, row_of).sort_by("row")
    topics = coding.topic_rows(members, row_of).sort_by("row")
    causes = []
    if len(numbered.groups):
        causes.append(causes_of(numbered.groups, people, topics, coding, 0))
    return numbered.of(rebalances, causes)
