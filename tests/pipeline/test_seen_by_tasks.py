"""What tasks have seen, over all of them.

Reaches into `pipeline.audit.stages` to count rows that are equal in several tasks.
"""

from __future__ import annotations

import pyarrow as pa

from pipeline.audit.stages import SEEN, seen_by_tasks
from pipeline.cases import Case
from pipeline.rows import (
    ROWS,
    SET_ASIDE,
    case_row,
    quarantine_row,
    read_row,
    repeated_row,
    topic_id_row,
    topic_row,
)
from pipeline.sightings import Sighting

ID = bytes(range(16))
CASE = Case(rebalance_id="r", group_id="g", source_kind="k", source="s")


def test_equal_rows_of_several_tasks_count_each() -> None:
    sighting = Sighting(5, 3, True, None)
    rows = [
        *(read_row(7, 5), read_row(7, 5), read_row(2, 9), read_row(0, None)),
        *(repeated_row(1), repeated_row(1)),
        *(topic_row("t", sighting), topic_row("t", sighting)),
        *(topic_id_row(ID, "t"), topic_id_row(ID, "t")),
        quarantine_row(SET_ASIDE, "another kind of group", source="s"),
        *(case_row(case) for case in (CASE, CASE, CASE)),
    ]
    table = pa.Table.from_pylist(rows, ROWS).select(SEEN)
    seen = seen_by_tasks([table.slice(0, 6), table.slice(6)])
    assert (seen.rows_read, seen.rows_repeated, seen.cases) == (16, 2, 3)
    assert seen.history_end == 9
    assert set(seen.topics) == {("t", sighting)}
    assert len(seen.names) == 1
    assert "t" in seen.names.values()
