"""States of which nothing is stated, and why.

Reaches into ``pipeline.judging`` for the reasons.
"""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.cases import SNAPSHOT, Case, CaseMember
from pipeline.evaluation import DEFAULT
from pipeline.judging.snapshot_rows import BETWEEN_ROUNDS, NOT_AT_REST, OWNERS
from tests.pipeline.cluster_facts import usual_settings
from tests.pipeline.judging.judged_cases import judge_case_rows

SETTINGS = usual_settings(assignors=DEFAULT)


def rows_of_state(a: list[int], b: list[int], **more: Any) -> dict[str, list[Any]]:
    """Return the rows of two members that subscribe to a topic of two partitions."""
    members = {
        name: CaseMember(
            subscription=["t"], owned={}, assigned={"t": held} if held else {}
        )
        for name, held in (("a", a), ("b", b))
    }
    stated = {"at_rest": "state", "members_listed": "all", "client_assignor": "range"}
    case = Case(
        rebalance_id="r",
        group_id="g",
        source_kind="describe",
        source="s",
        owned_from=SNAPSHOT,
        members=members,
        least_sizes={"t": 2},
        **(stated | more),
    )
    found: dict[str, list[Any]] = {}
    for name, row in judge_case_rows(case, SETTINGS):
        found.setdefault(name, []).append(row)
    return found


def state(a: list[int], b: list[int], **more: Any) -> dict[str, Any]:
    (row,) = rows_of_state(a, b, **more)["snapshots"]
    return dict(row)


@pytest.mark.parametrize(
    ("subscriptions", "shown"),
    [("reported", ["t"]), ("given", ["t"]), ("not-reported", None)],
)
def test_only_subscriptions_that_are_known_are_rows_of_members(
    subscriptions: str, shown: list[str] | None
) -> None:
    rows = rows_of_state([0], [1], subscriptions=subscriptions)["members"]
    assert [row["subscription"] for row in rows] == [shown, shown]
    assert {row["owned"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"doubt": "2 of 3 members"}, "2 of 3 members"),
        ({"at_rest": None}, NOT_AT_REST),
        ({"members_listed": "owners"}, OWNERS),
    ],
)
def test_nothing_is_stated_of_a_state(more: dict[str, Any], reason: str) -> None:
    row = state([0], [1], **more)
    assert (row["undetermined"], row["verdict"]) == (reason, "unknown")
    assert row["dec_min_balanced"] is None


@pytest.mark.parametrize(
    ("a", "b", "listed", "even"),
    [
        ([0], [1], "all", True),
        ([0, 1], [], "all", False),
        ([0, 1], [], "with-partitions", False),
        ([0], [1], "with-partitions", None),  # others can have none
        ([0], [1], "owners", None),
        ([0], [0], "all", None),
    ],
)
def test_balance_if_all_subscribe_to_the_same(
    a: list[int], b: list[int], listed: str, *, even: bool | None
) -> None:
    row = state(a, b, members_listed=listed, subscriptions="not-reported", at_rest=None)
    assert row["balanced_if_equal"] is even


def test_a_state_at_rest_is_judged() -> None:
    row = state([0], [1])
    assert (row["undetermined"], row["verdict"]) == (None, "valid")
    assert row["dec_min_balanced"] is True


@pytest.mark.parametrize("name", [None, "cooperative-sticky"])
def test_between_two_rounds_partitions_can_be_without_owner(name: str | None) -> None:
    row = state([0], [], client_assignor=name)
    assert (row["undetermined"], row["verdict"]) == (BETWEEN_ROUNDS, "unknown")


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [([0], [], "range"), ([0], [0], "cooperative-sticky"), ([0, 1], [0], None)],
)
def test_no_round_explains_other_violations(
    a: list[int], b: list[int], name: str | None
) -> None:
    row = state(a, b, client_assignor=name)
    assert (row["undetermined"], row["verdict"]) == (None, "invalid")
