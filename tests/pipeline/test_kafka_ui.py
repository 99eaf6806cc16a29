"""Groups in kafka-ui's JSON: the same states as in the text of Kafka's tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.tables import read_table
from tests.pipeline.local_audit import local_audit

Part = tuple[str, int, str | None]
PARTS: tuple[Part, ...] = (("t", 0, "c-1"), ("t", 1, "c-2"), ("u", 0, "c-1"))
TEXT = """\
GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g t 0 1 6 5 c-1 /h -
g t 1 1 6 5 c-2 /h -
g u 0 1 6 5 c-1 /h -

GROUP ASSIGNMENT-STRATEGY STATE #MEMBERS
g range Stable 2
"""


def group(
    *parts: Part, members: int = 2, state: str = "STABLE", **more: Any
) -> dict[str, Any]:
    """As the API returns it, with fields that do not matter."""
    return {
        "inherit": "details",
        "groupId": "g",
        "members": members,
        "topics": 2,
        "simple": False,
        "partitionAssignor": "range",
        "state": state,
        "coordinator": {"id": 1, "host": "h"},
        "consumerLag": 15,
        "partitions": [
            {
                "topic": topic,
                "partition": number,
                "currentOffset": 1,
                "endOffset": 6,
                "consumerLag": 5,
                "consumerId": member,
                "host": None if member is None else "/h",
            }
            for topic, number, member in parts
        ],
        **more,
    }


def audited(
    folder: Path, text: str, table: str = "snapshots", name: str = "group"
) -> list[dict[str, Any]]:
    folder.mkdir()
    (folder / name).write_text(text)
    local_audit([folder / name], folder / "out")
    rows: list[dict[str, Any]] = read_table(folder / "out", table).to_pylist()
    return rows


@pytest.mark.parametrize(
    "written",
    [
        json.dumps,
        lambda value: json.dumps(value, indent=2),
        lambda value: "\n" + json.dumps([value]),
    ],
)
def test_it_is_judged_as_the_text_is(
    tmp_path: Path, written: Callable[[Any], str]
) -> None:
    (of_json,) = audited(tmp_path / "json", written(group(*PARTS)))
    (of_text,) = audited(tmp_path / "text", TEXT)
    line = of_text.pop("source_offset")
    assert (line, of_json.pop("source_offset")) == (2, 1)
    assert of_json == of_text
    assert (of_json["members_listed"], of_json["at_rest"]) == ("all", "state")
    assert of_json["client_assignor"] == "range"
    assert (of_json["lag_known"], of_json["peak_lag"]) == (True, 10)


@pytest.mark.parametrize(
    ("value", "column", "stated"),
    [
        (group(*PARTS, members=3), "members_listed", "with-partitions"),
        (group(*PARTS, ("u", 1, None)), "verdict", "invalid"),
        (group(*PARTS, partitionAssignor=None), "client_assignor", None),
    ],
)
def test_what_it_states(
    tmp_path: Path, value: dict[str, Any], column: str, stated: str | None
) -> None:
    (row,) = audited(tmp_path / "one", json.dumps(value))
    assert row[column] == stated
    assert row["dec_min_balanced"] is None


def test_a_group_between_two_assignments_is_quarantined(tmp_path: Path) -> None:
    text = json.dumps(group(*PARTS, state="PREPARING_REBALANCE"))
    (quarantined,) = audited(tmp_path / "one", text, "quarantine")
    assert (quarantined["kind"], quarantined["group_id"]) == ("set-aside", "g")
    assert "PreparingRebalance" in quarantined["reason"]


def test_one_damaged_group_costs_only_itself(tmp_path: Path) -> None:
    bad = group(("t", 0, "c-1"), groupId="bad")
    bad["partitions"][0]["partition"] = "0"
    text = json.dumps([bad, group(*PARTS)])
    (row,) = audited(tmp_path / "some", text)
    assert row["group_id"] == "g"
    (quarantined,) = audited(tmp_path / "aside", text, "quarantine")
    assert (quarantined["kind"], quarantined["group_id"]) == ("unreadable", "bad")
    assert "$.partitions[0].partition" in quarantined["reason"]


def test_lists_can_be_long_and_names_odd(tmp_path: Path) -> None:
    parts = [("t", number, f"c {number % 7}\n") for number in range(500)]
    (row,) = audited(tmp_path / "long", json.dumps(group(*parts, members=7)))
    assert (row["partitions"], row["members"]) == (500, 7)
