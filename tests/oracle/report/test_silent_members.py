"""Time from the last commits of members that left: pinned, drawn, and recorded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from oracle.report.load import load, read_columns
from oracle.report.silent_members import (
    OF_MEMBER,
    OF_REBALANCE,
    GroupSilence,
    group_silences,
    members_of,
)
from pipeline.causes import LastSeen, Silence, silences_of
from pipeline.groups import group_source
from pipeline.tables import SCHEMAS
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import EVENTS

Row = dict[str, Any]
BEGIN = datetime(2026, 11, 24, 8, tzinfo=UTC)
LEFT = [{"kind": "left", "count": 1, "members": [], "topics": []}]


def state(number: int, *people: Row, **more: Any) -> tuple[Row, list[Row]]:
    """Return a rebalance whose state lasts 10 s, and its members."""
    row = {
        "cluster": "c",
        "group_id": "g",
        "source_partition": 1,
        "source_offset": number,
        "generation": number,
        "until": _at(10 * number + 10),
        "ended": "next",
        "lasted_ms": 10_000,
        "causes": LEFT,
    } | more
    row["rebalance_id"] = f"{row['group_id']}/{number}"
    return row, [person | {"rebalance_id": row["rebalance_id"]} for person in people]


def person(name: str, seconds: int | None, load: int | None = 2, **more: Any) -> Row:
    """Return a member that last committed so many seconds after the begin."""
    return {
        "cluster": "c",
        "group_id": more.pop("group_id", "g"),
        "member_id": name,
        "instance_id": None,
        "load": load,
        "last_commit_at": None if seconds is None else _at(seconds),
    } | more


def _at(seconds: int) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def silences(*states: tuple[Row, list[Row]]) -> tuple[GroupSilence, ...]:
    rebalances = [row for row, _ in states]
    members = [row for _, people in states for row in people]
    return group_silences(
        _table("rebalances", OF_REBALANCE, rebalances[::-1]),
        _table("members", OF_MEMBER, members),
    )


def _table(name: str, columns: tuple[str, ...], rows: list[Row]) -> pa.Table:
    schema = pa.schema([SCHEMAS[name].field(column) for column in columns])
    listed = [{column: row[column] for column in columns} for row in rows]
    return pa.Table.from_pylist(listed, schema)


STAYS = person("a", 14)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (state(1, STAYS, person("b", 17)), state(2, STAYS), (1, 6_000)),
        (
            state(1, STAYS, person("b", 17), person("c", 19, 5)),
            state(2, STAYS),
            (2, 11_000),
        ),
        # Without a commit, without partitions, after a clock went back.
        (state(1, STAYS, person("b", None)), state(2, STAYS), (0, 0)),
        (state(1, STAYS, person("b", 17, 0)), state(2, STAYS), (0, 0)),
        (state(1, STAYS, person("b", 17, None)), state(2, STAYS), (0, 0)),
        (state(1, STAYS, person("b", 27)), state(2, STAYS), (1, 0)),
        # Under another member id.
        (
            state(1, person("b", 17, instance_id="i")),
            state(2, person("c", 20, instance_id="i")),
            (0, 0),
        ),
        (
            state(1, person("b", 17, instance_id="i")),
            state(2, person("i", 20)),
            (1, 6_000),
        ),
        # Before another state than the next one, or after an unknown time.
        (state(1, STAYS, person("b", 17)), state(3, STAYS), (0, 0)),
        (state(1, person("b", 17), ended="empty"), state(2, STAYS), (0, 0)),
        (state(1, person("b", 17), lasted_ms=None), state(2, STAYS), (0, 0)),
        (
            state(1, person("b", 17), group_id="f"),
            state(2, STAYS),
            (0, 0),
        ),
    ],
)
def test_members_that_left(
    first: tuple[Row, list[Row]],
    second: tuple[Row, list[Row]],
    expected: tuple[int, int],
) -> None:
    *_, found = silences(first, second)
    assert (found.members, found.partition_ms) == expected


def test_drawn_groups_are_those_of_loops() -> None:
    rng = Random(5)  # noqa: S311
    states = [
        state(
            number,
            *(
                person(
                    name,
                    rng.choice((None, 10 * number + rng.randrange(12))),
                    rng.choice((0, 1, 4)),
                    instance_id=rng.choice((None, f"i{name}")),
                )
                for name in rng.sample("abcdef", rng.randrange(6))
            ),
            group_id=group,
            ended=rng.choice(("next", "next", "next", "empty")),
            lasted_ms=rng.choice((10_000, 10_000, None)),
        )
        for group in "fgh"
        for number in sorted(rng.sample(range(80), 60))
    ]
    found = silences(*states)
    assert [row.group for row in found] == ["f", "g", "h"]
    for row in found:
        assert row == loops([s for s in states if s[0]["group_id"] == row.group])
        assert row.members > 10


def loops(states: list[tuple[Row, list[Row]]]) -> GroupSilence:
    """Compare each state of a group with the next one."""
    found = list[Silence]()
    for (row, people), (after, present) in pairwise(states):
        is_next = row["ended"] == "next" and row["lasted_ms"] is not None
        if is_next and after["generation"] == row["generation"] + 1:
            seats = {each["instance_id"] or each["member_id"] for each in present}
            until = _milliseconds(row["until"])
            found += silences_of([_seen(each) for each in people], seats, until)
    return GroupSilence(
        cluster="c",
        group=states[0][0]["group_id"],
        members=len(found),
        partition_ms=sum(silence.partitions * silence.ms for silence in found),
    )


def _seen(row: Row) -> LastSeen:
    at = row["last_commit_at"]
    last = None if at is None else _milliseconds(at)
    return LastSeen(row["member_id"], row["instance_id"], row["load"], last)


def _milliseconds(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def test_recorded_groups_are_those_of_explain(tmp_path: Path) -> None:
    audit = local_audit([EVENTS], tmp_path, assignors=["optimum"])
    tables, source = load(Path(audit.out)), group_source(str(EVENTS))
    rebalances = read_columns(tables.folder, "rebalances", OF_REBALANCE)
    found = group_silences(rebalances, members_of(tables, rebalances))
    assert [row.group for row in found] == source.groups()
    for row in found:
        listed = [
            silence
            for moment in source.moments(row.group)
            for silence in source.silences(moment)
        ]
        total = sum(silence.partitions * silence.ms for silence in listed)
        assert (row.members, row.partition_ms) == (len(listed), total)
    sentences = {row.group: " ".join(row.findings) for row in found}
    assert sentences["quiet"] == ""
    assert sentences["dead-consumer"] == (
        "Partitions of 1 member that left had no reader for up to 181"
        " partition-seconds."
    )
    assert sentences["crash-loop"] == (
        "Partitions of 14 members that left had no reader for up to 398"
        " partition-seconds."
    )


def test_no_rebalances() -> None:
    assert silences() == ()
