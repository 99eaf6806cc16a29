"""How long rebalances last, by records and by columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pipeline.cases import EMPTY, NEXT, OPEN
from pipeline.history.stream import histories
from pipeline.judging.judge_rows import judge_rows
from pipeline.records import GroupMember
from pipeline.rows import CASE
from tests.pipeline.audit_files import rows_of as rows_of_table
from tests.pipeline.consumer_groups import (
    FIRST,
    JOIN,
    AnyRecord,
    rows_of,
)
from tests.pipeline.groups import GROUP, START_MS, Log, commit, group, member
from tests.pipeline.judging.coded import churn_settings
from tests.pipeline.judging.judged_cases import rows_of as judged_rows
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import cases_of
from tests.pipeline.recorded import churn_rows
from tests.pipeline.records.writers import group_key
from tests.pipeline.same_histories import check


def one(
    generation: int, numbers: Iterable[int] = (0, 1), name: str = "a", **more: Any
) -> Any:
    """Return a generation with one member."""
    people: GroupMember = member(name, ["t"], {"t": numbers}, **more)
    return group(generation, people)


DELETED = (group_key(GROUP), None)
COMMIT = commit("t", 0, 5)


@pytest.mark.parametrize(
    ("untimed", "back", "expected"),
    [
        ([], [], [None, None]),
        ([0], [], ["no-time", None]),
        ([2], [], ["no-time", "no-time"]),
        ([], [2], ["clock-went-back", "clock-went-back"]),
        ([0], [2], ["no-time", "clock-went-back"]),
        ([1], [], [None, None]),
    ],
)
@pytest.mark.parametrize("records", [[one(1), COMMIT, one(2)], [*FIRST, *JOIN[:5]]])
def test_times_that_are_not_known(
    records: list[AnyRecord],
    untimed: list[int],
    back: list[int],
    expected: list[str | None],
) -> None:
    rows = rows_of(*records)
    # The record that begins a state of the new protocol is that of its target.
    places = [0, 1, 2] if len(records) == 3 else [3, 4, len(records) - 1]
    for place in untimed:
        rows[places[place]]["at"] = None
    for place in back:
        rows[places[place]]["at"] = START_MS - 1 if 0 not in untimed else START_MS
    check(rows, Random(0))  # noqa: S311
    cases = cases_of(histories(rows))
    assert [case.lasted_unknown for case in cases] == expected


HOUR = 3_600_000
OTHER = "other"


def audited(folder: Path, *logs: Log) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the rows of ``rebalances`` by group and generation."""
    source = folder / "source"
    source.mkdir()
    for number, log in enumerate(logs):
        lines = "".join(json.dumps(record) + "\n" for record in log.records)
        (source / f"{number}.jsonl").write_text(lines)
    found = local_audit([source], folder / "out", assignors=["optimum"])
    return {
        (row["group_id"], row["generation"]): row
        for row in rows_of_table(found, "rebalances")
    }


def test_an_open_state_lasts_to_the_end_of_all_groups(tmp_path: Path) -> None:
    """The records of another group go on for hours, the last of them out of order."""
    log = Log().add(one(1), one(2, [0]))
    other = Log(partition=1).add(commit("t", 0, 1, group_id=OTHER)).wait(5 * HOUR)
    other.add(commit("t", 0, 2, group_id=OTHER)).wait(-HOUR)
    other.add(commit("t", 0, 3, group_id=OTHER))
    first, last = audited(tmp_path, log, other).values()
    assert (first["ended"], first["lasted_ms"]) == (NEXT, 1000)
    assert first["until"] == last["at"]
    assert (last["ended"], last["lasted_ms"]) == (OPEN, 5 * HOUR)
    assert (last["until"] - last["at"]).total_seconds() == 5 * 3600
    assert last["lasted_unknown"] is None


def test_an_empty_group_and_a_tombstone_end_a_state(tmp_path: Path) -> None:
    log = Log().add(one(1), commit("t", 0, 1), group(2), one(3))
    log.put(*DELETED).wait(HOUR).add(commit("t", 0, 2))
    first, last = audited(tmp_path, log).values()
    assert (first["ended"], first["lasted_ms"]) == (EMPTY, 2000)
    assert (last["ended"], last["lasted_ms"]) == (EMPTY, 1000)


def test_records_without_a_time(tmp_path: Path) -> None:
    """The end of the history is known for a state of which the begin is not."""
    log = Log().add(one(1), one(2), commit("t", 0, 1))
    log.records[1]["timestamp"] = None
    found = audited(tmp_path, log)
    first, last = found[GROUP, 1], found[GROUP, 2]
    assert (first["until"], first["ended"]) == (None, NEXT)
    assert (last["until"] - first["at"]).total_seconds() == 2
    for row in (first, last):
        assert (row["lasted_ms"], row["lasted_unknown"]) == (None, "no-time")


def test_documents_do_not_last(tmp_path: Path) -> None:
    instance = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 1}},
        "members": {"a": {"subscription": ["t"]}},
    }
    (tmp_path / "one.json").write_text(json.dumps(instance))
    out = tmp_path / "out"
    found = local_audit([tmp_path / "one.json"], out, assignors=["optimum"])
    (row,) = rows_of_table(found, "rebalances")
    names = ("until", "ended", "lasted_ms", "lasted_unknown")
    assert [row[name] for name in names] == [None] * 4
    (run,) = rows_of_table(found, "run")
    assert dict(run["durations_unknown"]) == {}


def test_harm_in_the_recording_of_churn() -> None:
    """Ten rebalances leave partitions unread, each for about 1.3 s."""
    cases = [
        row
        for row in churn_rows()
        if row["what"] == CASE and row["group_id"] == "search-sticky"
    ]
    settings = replace(churn_settings(), assignors=("optimum",))
    harmed = [
        row
        for name, row in judged_rows(judge_rows(cases, settings))
        if name == "answers" and row.get("unread_partition_ms")
    ]
    unread = [
        sum(broken["rule"] == "unassigned" for broken in row["violations"])
        for row in harmed
    ]
    assert (len(harmed), min(unread), max(unread)) == (10, 7, 37)
    assert sum(row["unread_partition_ms"] for row in harmed) == 246_380
