"""Tables of the recorded planned events agree with their driver's log."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.dataset as ds
import pytest

from studies.recording.planned_events import PLANNED
from studies.recording.what_if_events import WHAT_IFS
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import (
    EVENTS,
    PLAYED,
    Planned,
    planned_acts,
    planned_rebalances,
)
from tests.pipeline.planned_causes import ClientsCause, causes_of_log

Row: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, list[Row]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Return the rows of the tables that the tests read."""
    return _audited(EVENTS, tmp_path_factory.mktemp("events"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Return those of the events that were played under other settings."""
    return _audited(PLAYED, tmp_path_factory.mktemp("what-ifs"))


def _audited(recording: Path, out: Path) -> Tables:
    audit = local_audit([recording], out)
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


@pytest.mark.parametrize("group", PLANNED)
def test_every_cause_is_that_of_the_log(tables: Tables, group: str) -> None:
    check_causes(tables, planned_rebalances(EVENTS)[group])


@pytest.mark.parametrize(
    "group", [group for group in WHAT_IFS if group != "crash-loop-next"]
)
def test_so_it_is_under_other_settings(played: Tables, group: str) -> None:
    check_causes(played, planned_rebalances(PLAYED)[group])


def test_a_crash_within_a_session_of_the_new_protocol(played: Tables) -> None:
    """The client joins again before its former member is removed.

    Ten times, a leave precedes the join of the next crash instead of its own, so that
    the first join counts as a new member, and the last leave has no return.
    """
    kinds = [
        [entry["kind"] for entry in row["causes"]]
        for row in by_group(played)["crash-loop-next"]
    ]
    within = [["left-briefly"], ["returned"]] * 9 + [["left-briefly"]]
    after = [["left-briefly"], ["returned"]] * 3 + [["left"], ["returned"]]
    assert kinds == [["started"], ["joined"], ["joined"], *within, *after]
    clients = {row["member_id"]: row["client_id"] for row in played["members"]}
    for row in by_group(played)["crash-loop-next"][2:]:
        (entry,) = row["causes"]
        assert [clients[name] for name in entry["members"]] == ["crash-loop-next-2"]


def check_causes(tables: Tables, rebalances: list[Planned]) -> None:
    """Assert that the causes of a group's rebalances are those of the log."""
    clients = {row["member_id"]: row["client_id"] for row in tables["members"]}
    found = [
        {_cause(entry, clients) for entry in row["causes"]}
        for row in by_group(tables)[rebalances[0].case.group_id]
    ]
    assert found == causes_of_log(rebalances)


def _cause(entry: dict[str, Any], clients: dict[str, str]) -> ClientsCause:
    named = frozenset(clients[member] for member in entry["members"])
    cause = ClientsCause(entry["kind"], named, frozenset(entry["topics"]))
    counted = cause.clients or cause.topics
    assert entry["count"] == (len(counted) or 1)
    return cause
