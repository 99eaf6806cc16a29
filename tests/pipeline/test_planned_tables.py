"""Tables of the recorded planned events agree with their driver's log."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.dataset as ds
import pytest

from studies.recording.planned_events import PLANNED
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import EVENTS, planned_acts

Row: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, list[Row]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Return the rows of the tables that the tests read."""
    audit = local_audit([EVENTS], tmp_path_factory.mktemp("events"))
    return {name: _rows(audit.tables[name]) for name in ("rebalances", "members")}


def _rows(folder: str) -> list[Row]:
    table = ds.dataset(Path(folder), partitioning="hive").to_table()
    rows: list[Row] = table.to_pylist()
    return rows


def by_group(tables: Tables) -> dict[str, list[Row]]:
    """Return the rebalances of each group in order."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(tables["rebalances"], key=lambda row: row["generation"]):
        found[row["group_id"]].append(row)
    return found


def test_each_state_lasts_until_the_next_and_the_last_ones_are_open(
    tables: Tables,
) -> None:
    """The driver ends no group but one, whose members it lets leave."""
    rebalances = by_group(tables)
    assert rebalances.keys() == PLANNED.keys()
    ends = {row["until"] for rows in rebalances.values() for row in rows[-1:]}
    assert len(ends) == 2  # of the history, and of the group without members
    for group, rows in rebalances.items():
        *ended, last = (row["ended"] for row in rows)
        assert set(ended) <= {"next"}
        assert last == ("empty" if group == "staggered-start" else "open")
        for row, following in pairwise(rows):
            assert row["until"] == following["at"]


def test_a_group_is_empty_when_its_last_member_has_left(tables: Tables) -> None:
    last = by_group(tables)["staggered-start"][-1]
    leave = planned_acts(EVENTS)["staggered-start"][-1]
    assert leave.event == "leave"
    assert 0 <= last["until"].timestamp() * 1000 - leave.ms < 2_000
