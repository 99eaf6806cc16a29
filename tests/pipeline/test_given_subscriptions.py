"""Subscriptions from a file, for states whose sources report none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cases import GIVEN, NOT_REPORTED, Case, CaseMember
from pipeline.groups import read_group
from pipeline.side_files.given_subscriptions import (
    GivenSubscriptions,
    read_subscriptions,
    with_given_subscriptions,
)
from pipeline.tables import read_table
from rebalance import OracleError
from tests.pipeline.local_audit import local_audit
from tests.pipeline.logged_states import message, snapshots

LOGGED = (
    message(1, a={"t": [0, 1]}, b={"t": [2]}),
    message(2, a={"t": [0, 1, 2]}, b={}),
    message(3, a={"t": [0, 1], "u": [0]}, b={"t": [2], "u": [1, 2]}),
)
UUID = "3f0c1b9e-8f0a-4c1e-9d6f-0123456789ab"


def audited(folder: Path, given: Any) -> dict[int, dict[str, Any]]:
    """Judge the log with a file of subscriptions beside it."""
    folder.mkdir()
    (folder / "app.log").write_text("\n".join(LOGGED))
    (folder / "subscriptions.json").write_text(json.dumps(given))
    local_audit([folder], folder / "out")
    return snapshots(folder / "out")


def balance(rows: dict[int, dict[str, Any]]) -> dict[int, tuple[Any, ...]]:
    names = ("verdict", "dec_min_balanced", "subscriptions")
    return {n: tuple(row[name] for name in names) for n, row in rows.items()}


def test_what_is_given_completes_a_state(tmp_path: Path) -> None:
    rows = audited(tmp_path / "equal", {"g": ["t", "u"], "other": ["x"]})
    assert balance(rows) == {
        1: ("valid", True, "given"),
        2: ("valid", False, "given"),
        3: ("valid", True, "given"),
    }
    assert {row["balanced_if_equal"] for row in rows.values()} == {None}
    assert {row["undetermined"] for row in rows.values()} == {None}
    assert {n: row["generation"] for n, row in rows.items()} == {1: 1, 2: 2, 3: 3}
    unequal = audited(tmp_path / "unequal", {"g": {"a-1": ["t", "u"], "b-1": ["u"]}})
    assert unequal[2]["dec_min_balanced"] is True


def test_of_some_members_it_is_a_lower_bound(tmp_path: Path) -> None:
    rows = audited(tmp_path / "some", {"g": {"b-1": ["t"]}})
    assert balance({2: rows[2]}) == {2: ("unknown", False, "not-reported")}
    rows = audited(tmp_path / "none", {"other": ["t"]})
    assert balance({2: rows[2]}) == {2: ("unknown", None, "not-reported")}


def test_what_contradicts_a_state_is_not_used(tmp_path: Path) -> None:
    rows = audited(tmp_path / "wrong", {"g": ["t"]})
    assert balance({1: rows[1]}) == {1: ("valid", True, "given")}
    assert balance({3: rows[3]}) == {3: ("unknown", None, "not-reported")}
    said = "a-1 has partitions of u, to which it does not subscribe as --subscriptions"
    assert rows[3]["doubt"].startswith(said)
    assert rows[3]["undetermined"] == rows[3]["doubt"]


def state(members_listed: str, **members: CaseMember) -> Case:
    return Case(
        rebalance_id="r",
        group_id="g",
        source_kind="describe",
        source="s",
        subscriptions=NOT_REPORTED,
        members_listed=members_listed,
        members=members,
    )


def holder(client_id: str | None = None, instance_id: str | None = None) -> CaseMember:
    return CaseMember(
        subscription=["t"],
        owned={},
        assigned={"t": [0]},
        client_id=client_id,
        instance_id=instance_id,
    )


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("app", holder()),
        (f"app-{UUID}", holder()),
        ("m", holder(client_id="app")),
        ("m", holder(instance_id="app")),
    ],
)
def test_names_of_a_member(name: str, member: CaseMember) -> None:
    given = GivenSubscriptions({"g": {"app": ["t", "u"]}})
    found = with_given_subscriptions(state("all", **{name: member}), given)
    assert found.subscriptions == GIVEN
    assert (found.members or {})[name].subscription == ["t", "u"]
    other = with_given_subscriptions(state("all", apps=holder()), given)
    assert other.subscriptions == NOT_REPORTED


def test_members_that_a_text_does_not_list_stay_unknown(tmp_path: Path) -> None:
    """One without partitions would make it unbalanced."""
    (tmp_path / "lag.txt").write_text(
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST"
        " CLIENT-ID\n"
        + "".join(
            f"g t {number} 5 5 0 m{number // 2}-{UUID} /h m{number // 2}\n"
            for number in range(4)
        )
    )
    (tmp_path / "state.txt").write_text(
        "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\n"
        "g b:9092 (1) range Stable 3\n"
    )
    (tmp_path / "subscriptions.json").write_text('{"g": ["t"]}')
    local_audit([tmp_path], tmp_path / "out")
    (row,) = read_table(tmp_path / "out", "snapshots").to_pylist()
    assert row["subscriptions"] == "given"
    assert (row["verdict"], row["dec_min_balanced"]) == ("unknown", None)


def test_one_group_says_where_its_subscriptions_are_from(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(LOGGED[1])
    (tmp_path / "subscriptions.json").write_text('{"g": {"a-1": ["t"], "b-1": ["u"]}}')
    (tmp_path / "topics.json").write_text('{"t": 3, "u": 1}')
    for source in (tmp_path, tmp_path / "out"):
        if source != tmp_path:
            local_audit([tmp_path], source)
        found = read_group(str(source), "g")
        assert "members subscribe to the topics in subscriptions.json" in found.premises
        assert found.rebalance.members["b-1"].subscription == ["u"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "s.json: $: "),
        ('{"g": []}', "s.json: $.g"),
        ('{"g": {"m": "t"}}', "s.json: $.g"),
        ('{"g": ["t"], "g": ["u"]}', "s.json: $.g: "),
        ("{", "s.json: $: not JSON"),
    ],
)
def test_a_file_of_another_form(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(OracleError) as caught:
        read_subscriptions(tmp_path / "s.json")
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(said)
