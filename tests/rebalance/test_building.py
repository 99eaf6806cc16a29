"""Instances built from dicts, tables, and objects of Admin clients."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from confluent_kafka import ConsumerGroupState, Node, TopicPartition, admin

from rebalance import (
    DocumentError,
    Instance,
    InstanceError,
    MissingExtraError,
    instance_of,
    parse_rebalance,
)
from rebalance.building import (
    instance_from_confluent,
    instance_from_dict,
    instance_from_kafka_python,
    instance_from_table,
)
from tests.support.shapes import SHAPES

WANTED = {"a": ["t", "u"], "b": ["t"], "c": ["u"]}
COLUMNS: dict[str, list[Any]] = {
    "topic": ["t", "u", "t", "t"],
    "partition": [2, 0, 0, 1],
    "member": ["b", None, "a", "a"],
    "lag": [7, 0, 5, 6],
}
DOCUMENT = {
    "group": "g",
    "topics": {
        "t": {"partitions": 3, "lag": [5, 6, 7]},
        "u": {"partitions": 1, "lag": [0]},
    },
    "members": {
        "a": {"subscription": ["t", "u"], "owned": {"t": [0, 1]}},
        "b": {"subscription": ["t"], "owned": {"t": [2]}},
        "c": {"subscription": ["u"]},
    },
}


def columns_of(instance: Instance) -> dict[str, Any]:
    """Every column of an instance, as plain values."""
    names = ("group", "topics", "members", "instance_ids")
    arrays = ("topic_offsets", "member_class", "class_offsets", "class_topics", "owner")
    lag = None if instance.lag is None else instance.lag.tolist()
    found = {name: getattr(instance, name) for name in names}
    return {**found, "lag": lag} | {
        name: getattr(instance, name).tolist() for name in arrays
    }


EXPECTED = columns_of(instance_from_dict(DOCUMENT))


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes_from_dicts(name: str) -> None:
    parsed = instance_of(parse_rebalance(json.dumps(SHAPES[name])))
    assert columns_of(instance_from_dict(SHAPES[name])) == columns_of(parsed)


def test_an_invalid_dict_names_the_place() -> None:
    with pytest.raises(DocumentError, match=r"\$\.topics\.t\.partitions"):
        instance_from_dict({**DOCUMENT, "topics": {"t": {"partitions": -1}}})


@pytest.mark.parametrize("table", [pa.table, pd.DataFrame])
def test_a_table_of_partitions(table: Callable[[Any], Any]) -> None:
    built = instance_from_table(table(COLUMNS), WANTED, group="g")
    assert columns_of(built) == EXPECTED


def test_subscriptions_as_a_table() -> None:
    pairs = [(member, topic) for member, topics in WANTED.items() for topic in topics]
    wanted = pd.DataFrame(pairs, columns=["member", "topic"])
    built = instance_from_table(pd.DataFrame(COLUMNS), wanted, group="g")
    assert columns_of(built) == EXPECTED


def test_topics_to_which_all_owners_subscribe() -> None:
    built = instance_from_table(pa.table(COLUMNS), ["t", "u"])
    assert built.members == ("a", "b")
    assert built.n_classes == 1
    assert built.owner.tolist() == [0, 0, 1, -1]


def test_pandas_turns_integers_with_gaps_into_floats() -> None:
    frame = pd.DataFrame(COLUMNS).astype({"lag": "float64", "partition": "float64"})
    assert columns_of(instance_from_table(frame, WANTED, group="g")) == EXPECTED


def test_only_topics_and_numbers_are_needed() -> None:
    frame = pd.DataFrame({"topic": ["t", "t"], "partition": [0, 1]})
    built = instance_from_table(frame, {"a": ["t"]})
    assert built.lag is None
    assert built.owner.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"topic": None}, "no column 'topic'"),
        ({"partition": [0, 0, 0, 1]}, r"partition listed twice: \('t', 0\)"),
        ({"partition": [3, 0, 0, 1]}, r"partition without a row: \('t', 2\)"),
        ({"partition": [-1, 0, 0, 1]}, "partition listed twice"),
        ({"partition": ["2", "0", "0", "1"]}, "column 'partition' is not int64"),
        ({"partition": [2.5, 0, 0, 1]}, "column 'partition' is not int64"),
        ({"member": ["z", None, "a", "a"]}, "owner is not a member: 'z'"),
        ({"member": [1, 2, 3, 4]}, "column 'member' is not string"),
        ({"lag": [7, None, 5, 6]}, "column 'lag' has no value in row: 1"),
        ({"topic": ["t", None, "t", "t"]}, "column 'topic' has no value in row: 1"),
    ],
)
def test_each_error_of_a_table_names_its_place(
    change: dict[str, Any], reason: str
) -> None:
    columns = {k: v for k, v in {**COLUMNS, **change}.items() if v is not None}
    with pytest.raises(InstanceError, match=reason):
        instance_from_table(pa.table(columns), WANTED)


def test_a_member_without_a_subscription_is_named() -> None:
    with pytest.raises(InstanceError, match="topics are a list of names: 't'"):
        instance_from_confluent(confluent(), topics(), "t")
    with pytest.raises(InstanceError, match="no subscription is given: 'c'"):
        instance_from_confluent(confluent(), topics(), {"a": ["t"], "b": ["t"]})


def confluent() -> Any:
    """The group as confluent-kafka describes it."""
    kinds: Any = admin  # which does not list these classes as exported
    members = [
        kinds.MemberDescription(
            name,
            "client",
            "host",
            kinds.MemberAssignment(
                [
                    TopicPartition(topic, number)
                    for topic, numbers in member.get("owned", {}).items()
                    for number in numbers
                ]
            ),
        )
        for name, member in DOCUMENT["members"].items()  # type: ignore[attr-defined]
    ]
    state, node = ConsumerGroupState.STABLE, Node(0, "host", 9092)
    return kinds.ConsumerGroupDescription("g", False, members, "range", state, node)


def topics() -> list[SimpleNamespace]:
    """Topics as ``describe_topics`` lists them; the group does not use one of them."""
    sizes = {"t": 3, "u": 1, "other": 9}
    return [
        SimpleNamespace(name=name, partitions=[*range(size)])
        for name, size in sizes.items()
    ]


LAG = {("t", 0): 5, ("t", 1): 6, ("t", 2): 7, ("u", 0): 0, ("other", 0): 1}


def test_a_group_of_confluent_kafka() -> None:
    built = instance_from_confluent(confluent(), topics(), WANTED, lag=LAG)
    assert columns_of(built) == EXPECTED
    cluster = SimpleNamespace(topics={topic.name: topic for topic in topics()})
    built = instance_from_confluent(confluent(), cluster, WANTED, lag=LAG)
    assert columns_of(built) == EXPECTED


def kafka_python(**changes: Any) -> dict[str, Any]:
    """The group as kafka-python describes it."""
    members = [
        {
            "member_id": name,
            "group_instance_id": None,
            "member_metadata": {"topics": member["subscription"]},
            "member_assignment": {
                "assigned_partitions": [
                    {"topic": topic, "partitions": numbers}
                    for topic, numbers in member.get("owned", {}).items()
                ]
            },
        }
        for name, member in DOCUMENT["members"].items()  # type: ignore[attr-defined]
    ]
    return {"group_id": "g", "group_state": "Stable", "members": members, **changes}


def test_a_group_of_kafka_python() -> None:
    described = [vars(topic) for topic in topics()]
    built = instance_from_kafka_python(kafka_python(), described, lag=LAG)
    assert columns_of(built) == EXPECTED


def test_groups_that_cannot_be_used_say_why() -> None:
    described = [vars(topic) for topic in topics()]
    group = kafka_python(group_state="PreparingRebalance")
    with pytest.raises(InstanceError, match="PreparingRebalance, not Stable: 'g'"):
        instance_from_kafka_python(group, described)
    group = kafka_python()
    group["members"][1]["member_metadata"] = b""
    with pytest.raises(InstanceError, match="the member is not reported: 'b'"):
        instance_from_kafka_python(group, described)
    with pytest.raises(InstanceError, match=r"unknown partition: \('t', 0\)"):
        instance_from_kafka_python(kafka_python(), described[1:])
    lag = {**LAG, ("t", 3): 1}
    with pytest.raises(InstanceError, match=r"lag of an unknown partition: \('t', 3\)"):
        instance_from_kafka_python(kafka_python(), described, lag=lag)
    with pytest.raises(InstanceError, match=r"no lag is given: \('t', 1\)"):
        instance_from_kafka_python(kafka_python(), described, lag={("t", 0): 1})


def test_notebooks_show_members_and_escape_names() -> None:
    shown = instance_from_dict({**DOCUMENT, "group": "<g>"})._repr_html_()
    assert "&lt;g&gt;: 4 partitions of 2 topics, 3 members" in shown
    row = "".join(f'<td style="text-align: right">{n}</td>' for n in (2, 2, 11))
    assert f"<tr><td>a</td>{row}</tr>" in shown
    many = {f"m{n}": {"subscription": ["t"]} for n in range(31)}
    shown = instance_from_dict({**DOCUMENT, "members": many})._repr_html_()
    assert shown.count("<tr>") == 31  # with the head
    assert shown.endswith("<p>… and 1 more</p>")


def test_without_arrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="instances from tables"):
        instance_from_table({}, WANTED)
