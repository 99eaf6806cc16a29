"""Digests of cases: of each by itself, and of all fields but how long it lasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pipeline.case_table import case_table
from pipeline.cases import Case, CaseMember, Episode, pack
from pipeline.nights.case_digests import digests_of

MEMBER = CaseMember(subscription=["t", "u"], owned={"t": [0, 1]}, assigned={"t": [1]})
CASE = Case(
    rebalance_id="r",
    group_id="g",
    source_kind="consumer-offsets",
    source="s",
    at=7,
    members={"m": MEMBER, "n": MEMBER},
    committed={"t": [(0, 5), (1, 6)]},
)
EPISODE = Episode(
    episode_id="r",
    first_generation=1,
    started_at=7,
    rounds=1,
    ended="open",
    owned_from="given",
    withheld=0,
    unowned_partition_ms=None,
    source="s",
)


def members(**changes: Any) -> Case:
    return replace(CASE, members={"m": MEMBER, "n": replace(MEMBER, **changes)})


OTHERS: list[Case] = [
    replace(CASE, at=8),
    replace(CASE, at=None),
    replace(CASE, at=0),
    replace(CASE, cooperative=True),
    replace(CASE, leader=""),
    replace(CASE, members=None),
    replace(CASE, members={}),
    replace(CASE, members={"m": MEMBER}),
    replace(CASE, committed={"t": [(0, 6), (1, 5)]}),
    replace(CASE, episode=EPISODE),
    replace(CASE, episode=replace(EPISODE, before={"m": {"t": [0]}})),
    members(assigned=None),
    members(assigned={}),
    members(assigned={"u": [1]}),
    members(owned={"t": [0], "u": [1]}),
    members(owned={"t": [1, 0]}),
    members(subscription=["t"]),
]


def table_of(cases: list[Case]) -> pa.Table:
    return case_table([pack(case) for case in cases])


def test_every_field_counts() -> None:
    found = digests_of(table_of([CASE, *OTHERS])).tolist()
    assert len(set(found)) == len(found)


def test_time_that_it_lasts_does_not_count() -> None:
    lasted = replace(CASE, until=9, ended="next", lasted_unknown="no-time")
    first, second = digests_of(table_of([CASE, lasted])).tolist()
    assert first == second


@pytest.mark.parametrize(
    "divided",
    [
        lambda table: table.slice(3, 5),
        lambda table: pa.concat_tables([table.slice(3, 1), table.slice(4, 4)]),
        lambda table: table.take(list(range(3, 8))),
    ],
)
def test_a_case_has_one_digest_in_all_tables(
    divided: Callable[[pa.Table], pa.Table],
) -> None:
    table = table_of([CASE, *OTHERS])
    assert digests_of(divided(table)).tolist() == digests_of(table).tolist()[3:8]
