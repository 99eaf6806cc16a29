"""The last commit of each member while a state lasts, by records and by columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.cases import CaseMember
from pipeline.history.stream import histories
from pipeline.records import OffsetCommit, decode_record
from pipeline.rows import Row
from tests.pipeline.audit_files import rows_of as rows_of_table
from tests.pipeline.consumer_groups import FIRST, AnyRecord, rows_of
from tests.pipeline.groups import GROUP, START_MS, commit, group, member
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import cases_of
from tests.pipeline.planned_acts import EVENTS, planned_cases
from tests.pipeline.same_histories import check

Seconds = dict[str, int | None]
OTHER = f"{GROUP}-2"


def last_commits(rows: list[Row]) -> dict[tuple[str, int | None], Seconds]:
    """Return the seconds until each member's last commit, by group and generation.

    Both ways of reading find the same.
    """
    check(rows, Random(0))  # noqa: S311
    cases = cases_of(histories(rows))
    return {
        (case.group_id, case.generation): {
            name: _seconds(member) for name, member in (case.members or {}).items()
        }
        for case in cases
    }


def _seconds(member: CaseMember) -> int | None:
    if member.last_commit_at is None:
        return None
    return (member.last_commit_at - START_MS) // 1000


def pair(generation: int, *, group_id: str = GROUP, **held: Iterable[int]) -> Any:
    """Return a generation, with the partitions of topic t of each member."""
    people = [
        member(name, ["t"], {"t": numbers} if numbers else {})
        for name, numbers in held.items()
    ]
    return group(generation, *people, group_id=group_id)


FIRST_PAIR = pair(1, a=[0, 1], b=[2])
A, B = commit("t", 1, 5), commit("t", 2, 5)
END = group(9)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([FIRST_PAIR, A, A, B, END], [{"a": 2, "b": 3}]),
        ([A, FIRST_PAIR, B, END], [{"a": None, "b": 2}]),
        ([FIRST_PAIR, A, pair(2, a=[0]), B], [{"a": 1, "b": None}, {"a": None}]),
        (
            [FIRST_PAIR, A, pair(2, a=[2], b=[1]), B, END],
            [{"a": 1, "b": None}, {"a": 3, "b": None}],
        ),
        # The state is open.
        ([FIRST_PAIR, A], [{"a": None, "b": None}]),
        # Of another topic, of a partition of nobody, and of both members.
        (
            [FIRST_PAIR, commit("u", 1, 5), commit("t", 9, 5), END],
            [{"a": None, "b": None}],
        ),
        ([pair(1, a=[0, 1], b=[1]), A, END], [{"a": 1, "b": 1}]),
        # After the last member has left.
        ([FIRST_PAIR, A, group(2), B], [{"a": 1, "b": None}]),
        ([pair(1, a=[]), A, END], [{"a": None}]),
    ],
)
def test_a_commit_is_one_of_the_member_of_its_partition(
    records: list[AnyRecord], expected: list[Seconds]
) -> None:
    assert [*last_commits(rows_of(*records)).values()] == expected


def test_in_the_new_protocol_it_can_be_one_of_the_former_owner() -> None:
    (found,) = last_commits(rows_of(*FIRST, A)).values()
    assert set(found.values()) == {None}


def test_a_group_has_its_own_commits() -> None:
    """The second group has committed before its first generation."""
    other = commit("t", 1, 5, group_id=OTHER)
    of_other = (other, pair(1, group_id=OTHER, a=[1]), other)
    rows = rows_of(FIRST_PAIR, B, END, *of_other, group(9, group_id=OTHER))
    assert last_commits(rows) == {(GROUP, 1): {"a": None, "b": 1}, (OTHER, 1): {"a": 5}}
    rows = rows_of(FIRST_PAIR, B, *of_other, group(9, group_id=OTHER))
    assert last_commits(rows)[GROUP, 1] == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("times", "expected"),
    [((1, None), 1), ((None, None), None), ((3, 1), 3), ((1, -5), 1)],
)
def test_times_that_are_unknown_or_went_back(
    times: tuple[int | None, ...], expected: int | None
) -> None:
    rows = rows_of(FIRST_PAIR, A, A, END)
    for row, seconds in zip(rows[1:3], times, strict=True):
        row["at"] = None if seconds is None else START_MS + 1000 * seconds
    (found,) = last_commits(rows).values()
    assert found["a"] == expected


def test_recorded_commits(tmp_path: Path) -> None:
    """Of each state of the recording, read by a loop over its records."""
    audit = local_audit([EVENTS], tmp_path, assignors=["optimum"])
    states = {row["rebalance_id"]: row for row in rows_of_table(audit, "rebalances")}
    commits = [
        (decoded, fields["offset"], fields["timestamp"])
        for fields in pq.read_table(EVENTS / "consumer_offsets.parquet").to_pylist()
        if isinstance(
            decoded := decode_record(fields["key"], fields["value"]), OffsetCommit
        )
    ]
    found = 0
    for row in rows_of_table(audit, "members"):
        state = states[row["rebalance_id"]]
        held = {(t["topic"], p) for t in row["assigned"] for p in t["partitions"]}
        times = [
            at
            for record, offset, at in commits
            if record.group_id == row["group_id"]
            and (record.topic, record.partition) in held
            and offset > state["source_offset"]
            and (at <= state["until"].timestamp() * 1000)
        ]
        last = row["last_commit_at"]
        if state["protocol"] == "consumer" or state["ended"] == "open":
            assert last is None
            continue
        assert (last and round(last.timestamp() * 1000)) == max(times, default=None)
        found += last is not None
    assert found > 90


def test_the_last_commit_of_a_dead_consumer_is_before_its_end() -> None:
    """It was killed 63 ms later; the others committed until the rebalance."""
    first, second = planned_cases(EVENTS)["dead-consumer"]
    last = {
        member.client_id: member.last_commit_at
        for member in (first.members or {}).values()
    }
    killed_ms = 1_795_958_031_913
    assert last["dead-consumer-1"] == killed_ms - 63
    assert second.at is not None
    assert {each.last_commit_at for each in (second.members or {}).values()} == {None}
    assert last["dead-consumer-0"] == second.at - 2
