"""Documents as columns, owners by both rules, and round trips of assignments."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from rebalance import (
    ClaimRule,
    Claims,
    Instance,
    InstanceError,
    assignment_of,
    document_of,
    figures_of,
    instance_of,
    parse_assignment,
    parse_rebalance,
    to_json,
)
from tests.references import naive_judge as naive
from tests.support.examples import shared_by
from tests.support.shapes import SHAPES, Document, shape
from tests.support.strategies import (
    LARGER,
    SMALL,
    rebalances,
    rebalances_with_assignments,
)


def columns(document: Document, rule: ClaimRule = ClaimRule.NEWEST_CLAIM) -> Instance:
    return instance_of(parse_rebalance(json.dumps(document)), claim_rule=rule)


def owner_of(laid_out: Instance) -> dict[tuple[str, int], str]:
    return {
        (
            laid_out.topics[t],
            int(p - laid_out.topic_offsets[t]),
        ): laid_out.members[laid_out.owner[p]]
        for p, t in enumerate(laid_out.partition_topic)
        if laid_out.owner[p] >= 0
    }


@pytest.mark.heavy
@pytest.mark.parametrize("rule", ClaimRule)
@shared_by(len(ClaimRule))
@given(document=rebalances(LARGER))
def test_owners_are_settled_as_the_rule_says(
    rule: ClaimRule, document: Document
) -> None:
    assert owner_of(columns(document, rule)) == naive.owners(document, rule.value)


@pytest.mark.parametrize("rule", ClaimRule)
@pytest.mark.parametrize("name", SHAPES)
def test_owners_of_named_shapes(name: str, rule: ClaimRule) -> None:
    document = shape(name)
    assert owner_of(columns(document, rule)) == naive.owners(document, rule.value)


EVERY_FIELD: Document = {
    "format": "rebalance/1",
    "group": "g",
    "topics": {
        "u": {"partitions": 1},
        "t": {
            "partitions": 3,
            "lag": [9, 8, 7],
            "racks": [["b"], ["a", "b", "a"], []],
        },
        "none": {"partitions": 0},
    },
    "members": {
        "c1": {"subscription": ["u", "t", "gone"], "capacity": 4},
        "c0": {
            "subscription": ["t"],
            "owned": {"t": [5, 2], "u": [0], "gone": [1]},
            "generation": 3,
            "rack": "z",
            "instance_id": "i",
        },
        "c2": {"subscription": ["t", "u"]},
    },
}


def test_example_of_the_format_is_laid_out_column_by_column() -> None:
    laid_out = columns(EVERY_FIELD)
    assert laid_out.topics == ("none", "t", "u")
    assert laid_out.topic_offsets.tolist() == [0, 0, 3, 4]
    assert laid_out.partition_topic.tolist() == [1, 1, 1, 2]
    assert laid_out.members == ("c0", "c1", "c2")
    assert laid_out.member_class.tolist() == [0, 1, 1]
    assert laid_out.class_offsets.tolist() == [0, 1, 3]
    assert laid_out.class_topics.tolist() == [1, 1, 2]
    assert laid_out.class_sizes.tolist() == [1, 2]
    assert laid_out.claims.offsets.tolist() == [0, 2, 2, 2]
    assert laid_out.claims.partitions.tolist() == [2, 3]
    assert laid_out.claims.generation.tolist() == [3, -1, -1]
    assert laid_out.owner.tolist() == [-1, -1, 0, -1]  # u is not subscribed by c0
    assert laid_out.lag is not None
    assert laid_out.lag.tolist() == [9, 8, 7, 0]
    assert laid_out.capacity is not None
    assert laid_out.capacity.tolist() == [1, 4, 1]
    assert laid_out.racks is not None
    assert laid_out.racks.names == ("a", "b", "z")
    assert laid_out.racks.member.tolist() == [2, -1, -1]
    assert laid_out.racks.offsets.tolist() == [0, 1, 3, 3, 3]
    assert laid_out.racks.replicas.tolist() == [1, 0, 1]
    assert laid_out.instance_ids == ("i", None, None)
    assert laid_out.topic_subscribed.tolist() == [False, True, True]
    assert laid_out.topics_of(1).tolist() == [1, 2]


def test_unstated_fields_have_no_column() -> None:
    laid_out = columns(shape("CHAIN"))
    assert (laid_out.lag, laid_out.capacity, laid_out.racks) == (None, None, None)


def test_lag_beyond_64_bits_is_refused_by_name() -> None:
    topics = {n: {"partitions": 1, "lag": [2**62]} for n in ("a", "b")}
    document = {"format": "rebalance/1", "group": "g", "topics": topics, "members": {}}
    with pytest.raises(InstanceError, match=r"total lag exceeds 2\^63 - 1 .*'b'"):
        columns(document)


def parts(**changes: Any) -> dict[str, Any]:
    """Return columns of two topics, two members, one claim; with changes."""
    given: dict[str, Any] = {
        "group": "g",
        "topics": ("t", "u"),
        "topic_offsets": np.array([0, 2, 3]),
        "members": ("a", "b"),
        "member_class": np.array([0, 0], dtype=np.int32),
        "class_offsets": np.array([0, 2]),
        "class_topics": np.array([0, 1], dtype=np.int32),
        "claims": claims(),
    }
    return given | changes


def claims(**changes: Any) -> Claims:
    given: dict[str, Any] = {
        "offsets": np.array([0, 1, 1]),
        "partitions": np.array([2], dtype=np.int32),
        "generation": np.array([1, -1]),
    }
    return Claims(**(given | changes))


def test_columns_that_fit_are_taken() -> None:
    assert Instance(**parts()).owner.tolist() == [-1, -1, 0]


@pytest.mark.parametrize(
    ("changes", "subject"),
    [
        ({"topics": ("u", "t")}, "t"),
        ({"topics": ("t", "t")}, "t"),
        ({"members": ("b", "a")}, "a"),
        ({"topic_offsets": np.array([0, 2])}, "topic_offsets"),
        ({"topic_offsets": np.array([0, 3, 2])}, "topic_offsets"),
        ({"topic_offsets": np.array([1, 2, 3])}, "topic_offsets"),
        ({"member_class": np.array([0], dtype=np.int32)}, "member_class"),
        ({"member_class": np.array([0, 1], dtype=np.int32)}, "member_class"),
        ({"member_class": np.array([0, -1], dtype=np.int32)}, "member_class"),
        ({"class_offsets": np.array([0, 1])}, "class_offsets"),
        ({"class_topics": np.array([0, 2], dtype=np.int32)}, "class_topics"),
        ({"claims": claims(offsets=np.array([0, 1]))}, "claims.offsets"),
        ({"claims": claims(offsets=np.array([0, 1, 2]))}, "claims.offsets"),
        (
            {"claims": claims(partitions=np.array([3], dtype=np.int32))},
            "claims.partitions",
        ),
        ({"claims": claims(generation=np.array([1]))}, "claims.generation"),
        ({"lag": np.array([1, 2])}, "lag"),
        ({"lag": np.array([1, -2, 0])}, 1),
        ({"capacity": np.array([1])}, "capacity"),
        ({"capacity": np.array([1, 0])}, "capacity"),
        ({"instance_ids": ("a",)}, "instance_ids"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    changes: dict[str, Any], subject: object
) -> None:
    with pytest.raises(InstanceError) as caught:
        Instance(**parts(**changes))
    assert caught.value.subject == subject


def test_columns_are_read_only() -> None:
    laid_out = columns(shape("EVERY_FIELD"))
    for column in (laid_out.owner, laid_out.lag, laid_out.claims.partitions):
        assert column is not None
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


@pytest.mark.heavy
@given(rebalances_with_assignments(SMALL))
def test_assignments_go_there_and_back(pair: tuple[Document, Document]) -> None:
    document, answer = pair
    laid_out = columns(document)
    read = parse_assignment(json.dumps(answer))
    written = document_of(laid_out, assignment_of(laid_out, read), assignor="x")
    expected = {
        m: {t: sorted(numbers) for t, numbers in held.items() if numbers}
        for m, held in answer["members"].items()
    }
    assert json.loads(to_json(written))["members"] == expected


@given(rebalances_with_assignments(SMALL))
def test_figures_agree_with_counting_by_hand(pair: tuple[Document, Document]) -> None:
    laid_out = columns(pair[0])
    read = assignment_of(laid_out, parse_assignment(json.dumps(pair[1])))
    counted = figures_of(laid_out, read).model_dump(exclude_none=True)
    assert counted == naive.figures(*pair)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"x": {"t": [0]}}, "unknown member"),
        ({"a": {"x": [0]}}, "unknown topic"),
        ({"a": {"t": [2]}}, "unknown partition"),
        ({"a": {"t": [0]}, "b": {"t": [0]}}, "assigned twice"),
        ({"a": {"t": [0, 0]}}, "assigned twice"),
    ],
)
def test_assignments_that_no_column_can_hold(
    members: dict[str, dict[str, list[int]]], reason: str
) -> None:
    document = parse_assignment(
        json.dumps({"format": "assignment/1", "members": members})
    )
    with pytest.raises(InstanceError, match=reason):
        assignment_of(Instance(**parts()), document)
