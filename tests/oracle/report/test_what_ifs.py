"""Rebalances that other settings would have avoided: pinned, and against loops."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from oracle.report.what_ifs import GroupWhatIfs, group_what_ifs
from pipeline.causes import KINDS
from pipeline.tables import SCHEMAS

Row = dict[str, Any]
COLUMNS = (
    *("cluster", "group_id", "at", "source_partition", "source_offset", "protocol"),
    *("members", "causes"),
)
BEGIN = datetime(2026, 11, 24, 8, tzinfo=UTC)
ALONE = {"returned", "left-briefly"}


def row_of(
    seconds: float | None,
    *kinds: str,
    group: str = "g",
    members: int = 2,
    count: int = 2,
    protocol: str | None = "classic",
) -> Row:
    """Return a rebalance, so many seconds after the begin."""
    entry = {"count": count, "members": [], "topics": []}
    return {
        "cluster": "c",
        "group_id": group,
        "at": None if seconds is None else BEGIN + timedelta(seconds=seconds),
        "source_partition": 1,
        "protocol": protocol,
        "members": members,
        "causes": [entry | {"kind": kind} for kind in kinds],
    }


def table_of(rows: list[Row]) -> pa.Table:
    schema = pa.schema([SCHEMAS["rebalances"].field(name) for name in COLUMNS])
    return pa.Table.from_pylist(
        [row | {"source_offset": n} for n, row in enumerate(rows)], schema
    )


def what_ifs(*rows: Row) -> tuple[int, tuple[int, ...]]:
    (found,) = group_what_ifs(table_of([*rows]))
    return found.avoided_by_static_ids, tuple(found.merged_by_delay.values())


@pytest.mark.parametrize(
    ("kinds", "avoided"),
    [
        ([["left-briefly"], ["returned"]], 2),
        ([["left-briefly", "left"], ["returned"]], 1),
        ([["left-briefly"], ["joined"], ["returned"]], 2),
        ([["left-briefly"], ["round"], ["returned", "round"]], 3),
        ([["left-briefly"], ["joined", "round"], ["round"]], 1),
        ([["joined"], ["round"], ["restless"], ["unknown"]], 0),
        ([["round"], ["returned", "round"]], 0),
        ([["joined"], ["started", "returned"]], 1),
        ([["joined"], ["started", "returned"], ["round"]], 2),
        ([["started", "returned"]], 0),
        ([["started"]], 0),
        ([[]], 0),
    ],
)
def test_static_ids(kinds: list[list[str]], avoided: int) -> None:
    rows = [row_of(100 * n, *listed) for n, listed in enumerate(kinds)]
    assert what_ifs(*rows) == (avoided, (0, 0))


def test_a_group_that_started_with_other_members_would_have_rebalanced() -> None:
    before = row_of(0, "joined", members=3)
    assert what_ifs(before, row_of(9, "started", "returned"))[0] == 0
    fewer = row_of(9, "started", "returned")
    fewer["causes"][1]["count"] = 1
    assert what_ifs(row_of(0, "joined"), fewer)[0] == 0


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([row_of(0, "started"), row_of(3, "joined"), row_of(10, "joined")], (1, 2)),
        ([row_of(0, "started"), row_of(10.001, "joined")], (0, 0)),
        ([row_of(0, "started"), row_of(2, "left"), row_of(3, "joined")], (0, 0)),
        ([row_of(0, "started"), row_of(2, "joined", "left")], (0, 0)),
        ([row_of(0, "started"), row_of(2, "joined", protocol="consumer")], (0, 0)),
        ([row_of(0, "started"), row_of(2, "joined", protocol=None)], (0, 0)),
        ([row_of(0, "joined"), row_of(2, "joined")], (0, 0)),
        ([row_of(0, "started"), row_of(-1, "joined")], (0, 0)),
        ([row_of(0, "started"), row_of(None, "joined")], (0, 0)),
        ([row_of(None, "started"), row_of(1, "joined")], (0, 0)),
    ],
)
def test_a_longer_delay(rows: list[Row], merged: tuple[int, int]) -> None:
    assert what_ifs(*rows)[1] == merged


def test_drawn_groups_are_those_of_loops() -> None:
    rng = Random(2)  # noqa: S311
    rows = [
        row_of(
            second * 1.3,
            *rng.sample(("started", "returned", "joined", "round", "left"), draws),
            group=rng.choice("fgh"),
            members=rng.choice((1, 2)),
            count=rng.choice((1, 2)),
        )
        for second in range(600)
        for draws in [rng.choice((1, 1, 1, 2))]
    ]
    found = group_what_ifs(table_of(rows))
    assert [row.group for row in found] == ["f", "g", "h"]
    for row in found:
        mine = [other for other in rows if other["group_id"] == row.group]
        assert row == loops(mine)
        assert row.avoided_by_static_ids > 9
        assert row.merged_by_delay[10_000] > row.merged_by_delay[3_000] > 1


def loops(rows: list[Row]) -> GroupWhatIfs:
    """Count by replaying the rebalances of a group, one after the other."""
    avoided, merged = 0, [0, 0]
    is_avoided, started = False, None
    for before, row in zip([None, *rows], rows, strict=False):
        counts = {cause["kind"]: cause["count"] for cause in row["causes"]}
        kinds = set(counts)
        if "round" in kinds:
            is_avoided = is_avoided and kinds <= {*ALONE, "round"}
        else:
            is_avoided = bool(kinds) and kinds <= ALONE
            if "started" in kinds and before is not None:
                same = before["members"] == counts["started"]
                is_avoided = same and counts["started"] == counts.get("returned")
        avoided += is_avoided
        if "started" in kinds:
            started = row["at"]
        elif not kinds or not kinds <= {"joined", "returned", "round"}:
            started = None
        elif started is not None:
            for place, seconds in enumerate((3, 10)):
                merged[place] += row["at"] - started <= timedelta(seconds=seconds)
    return GroupWhatIfs(
        cluster="c",
        group=rows[0]["group_id"],
        avoided_by_static_ids=avoided,
        merged_by_delay={3_000: merged[0], 10_000: merged[1]},
    )


def test_sentences_state_the_numbers() -> None:
    found = GroupWhatIfs(
        cluster="c",
        group="g",
        avoided_by_static_ids=29,
        merged_by_delay={3_000: 0, 10_000: 1},
    )
    assert found.findings == (
        "Static membership would have avoided 29 rebalances.",
        (
            "A group.initial.rebalance.delay.ms longer by 10 s would have merged 1"
            " rebalance with the one before."
        ),
    )
    assert not GroupWhatIfs(
        cluster="c", group="g", avoided_by_static_ids=0, merged_by_delay={3_000: 0}
    ).findings


def test_no_rebalances() -> None:
    assert group_what_ifs(table_of([])) == ()
    assert set(ALONE) < set(KINDS)
