"""Reading rebalance/1 and assignment/1: accepted and rejected documents, and paths."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from rebalance import DocumentError, parse_assignment, parse_rebalance, to_json
from tests.support.shapes import Document
from tests.support.strategies import rebalances, rebalances_with_assignments
from tests.support.unreadable import ASSIGNMENTS, REBALANCES, check_error

GOOD: dict[str, Any] = {
    "format": "rebalance/1",
    "group": "orders",
    "id": "r1",
    "topics": {
        "t0": {"partitions": 2, "lag": [5, 6], "racks": [["a"], ["b", "a"]]},
        "t 1": {"partitions": 0},
    },
    "members": {
        "c0": {
            "subscription": ["t0", "gone"],
            "owned": {"t0": [1, 0], "gone": [7]},
            "generation": -1,
            "rack": "a",
            "instance_id": "static-1",
            "capacity": 2,
        }
    },
}


def changed(path: str, value: object) -> dict[str, Any]:
    """Return GOOD with one place set; ``path`` is dotted, list places are numbers."""
    document = json.loads(json.dumps(GOOD))
    *steps, last = path.split(".")
    place = document
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return dict(document)


def refused(text: str | bytes) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        parse_rebalance(text, source="f", line=4)
    assert (caught.value.source, caught.value.line) == ("f", 4)
    return caught.value


def test_every_field_is_read() -> None:
    document = parse_rebalance(json.dumps(GOOD))
    assert document.group == "orders"
    assert document.topics["t0"].lag == [5, 6]
    assert document.topics["t 1"].lag is None
    member = document.members["c0"]
    assert member.owned == {"t0": [1, 0], "gone": [7]}
    assert (member.generation, member.capacity) == (-1, 2)
    assert (member.rack, member.instance_id) == ("a", "static-1")


@pytest.mark.parametrize("path", REBALANCES, ids=lambda path: path.stem)
def test_unreadable_rebalances_are_refused(path: Path) -> None:
    error = refused(path.read_bytes())
    check_error(path, "reader", str(error).removeprefix("f:4: "))


@pytest.mark.parametrize("path", ASSIGNMENTS, ids=lambda path: path.stem)
def test_unreadable_assignments_are_refused(path: Path) -> None:
    """But those whose policy is not one: the reader knows no policies."""
    try:
        parse_assignment(path.read_bytes())
        error = "accepted"
    except DocumentError as refusal:
        error = str(refusal)
    check_error(path, "reader", error)


def test_very_deep_nesting_is_refused() -> None:
    assert "nested too deeply" in refused("[" * 100_000).reason


def test_long_culprits_are_shortened() -> None:
    error = refused(json.dumps(changed("members.c0.rack", ["x" * 10**6])))
    assert len(str(error)) < 300
    error = refused(json.dumps(changed("y" * 10**6, 1)))
    assert len(str(error)) < 300


def test_all_culprits_are_listed() -> None:
    document = changed("topics.t0.lag", [-1, 2.5])
    document["members"]["c0"] |= {"rack": 3, "surplus": 1}
    del document["group"]
    error = refused(json.dumps(document))
    culprits = [
        "$.group: field required",
        "$.topics.t0.lag[0]: input should be greater than or equal to 0: -1",
        "$.topics.t0.lag[1]: input should be a valid integer: 2.5",
        "$.members.c0.rack: input should be a valid string: 3",
        "$.members.c0.surplus: extra inputs are not permitted",
    ]
    assert error.lines() == [f"f:4: {culprit}" for culprit in culprits]
    assert str(error) == "f:4: " + "; ".join(culprits)
    assert copy.copy(error).culprits == error.culprits  # as Spark transfers it


def test_all_contradictions_are_listed() -> None:
    document = changed("topics.t0.lag", [1])
    document["topics"]["t0"]["racks"] = [[], [], []]
    document["members"]["c0"] |= {
        "subscription": ["t0", "t0", "t0"],
        "owned": {"t0": [0], "gone": [7, 8, 7]},
    }
    assert [path for path, _ in every_culprit(document)] == [
        "$.topics.t0.lag",
        "$.topics.t0.racks",
        "$.members.c0.subscription[1]",
        "$.members.c0.subscription[2]",
        "$.members.c0.owned.gone[2]",
    ]


def test_a_limit_of_partitions_is_one_culprit() -> None:
    document = changed("topics.t0.partitions", 10_000_001)
    document["topics"]["t0"] = {"partitions": 10_000_001}
    document["topics"]["t 1"] = {"partitions": 9}
    assert [path for path, _ in every_culprit(document)] == ["$.topics.t0.partitions"]


def test_a_list_of_wrong_numbers_is_not_listed_to_its_end() -> None:
    culprits = every_culprit(changed("topics.t0.lag", [-1] * 5000))
    assert len(culprits) == 101
    assert culprits[-1] == ("$", "more than 100 wrong values")


def every_culprit(document: Document) -> list[tuple[str, str]]:
    return refused(json.dumps(document)).culprits


@pytest.mark.heavy
@given(rebalances())
def test_canonical_form_reads_back_and_is_stable(document: Document) -> None:
    read = parse_rebalance(json.dumps(document))
    text = to_json(read)
    assert to_json(parse_rebalance(text)) == text
    assert parse_rebalance(text).members.keys() == read.members.keys()


def test_order_of_lists_does_not_show_in_the_canonical_form() -> None:
    turned = changed("members.c0.subscription", ["gone", "t0"])
    turned["members"]["c0"]["owned"]["t0"] = [0, 1]
    one, other = (parse_rebalance(json.dumps(d)) for d in (GOOD, turned))
    assert to_json(one) == to_json(other)


@pytest.mark.heavy
@given(rebalances_with_assignments(valid=False))
def test_assignments_read_back(pair: tuple[Document, Document]) -> None:
    text = to_json(parse_assignment(json.dumps(pair[1])))
    assert json.loads(text)["members"] == pair[1]["members"]


def test_an_empty_format_error_lists_the_accepted_formats() -> None:
    assert str(refused("{}")) == "f:4: $.format: 'no format'; expected 'rebalance/1'"
