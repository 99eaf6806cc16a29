"""Reading rebalance/1 and assignment/1: accepted and rejected documents, and paths."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given

from rebalance import DocumentError, parse_assignment, parse_rebalance, to_json
from tests.support.shapes import SHAPES, Document
from tests.support.strategies import rebalances, rebalances_with_assignments

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


@pytest.mark.parametrize(
    ("path", "value", "culprit"),
    [
        ("topics.t0.lag.1", 2.0, "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", -1, "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", True, "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", "6", "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", 2**63, "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", float("nan"), "$.topics.t0.lag[1]"),
        ("topics.t0.lag.1", float("inf"), "$.topics.t0.lag[1]"),
        ("topics.t0.lag", [1], "$.topics.t0.lag"),
        ("topics.t0.lag", None, "$.topics.t0.lag"),
        ("topics.t0.racks", [["a"]], "$.topics.t0.racks"),
        ("topics.t0.racks.0.0", 7, "$.topics.t0.racks[0][0]"),
        ("topics.t0.partitions", -1, "$.topics.t0.partitions"),
        ("topics.t0.partitions", 10_000_001, "$.topics.t0.partitions"),
        ("topics.t 1.partitions", 1.5, '$.topics["t 1"].partitions'),
        ("topics.t 1.partitions", 10_000_000, '$.topics["t 1"].partitions'),
        ("topics.t0.lagg", [1], "$.topics.t0.lagg"),
        ("topics", [], "$.topics"),
        ("members.c0.subscription", "t0", "$.members.c0.subscription"),
        ("members.c0.subscription.1", "t0", "$.members.c0.subscription[1]"),
        ("members.c0.owned.t0", [0, 1, 0], "$.members.c0.owned.t0[2]"),
        ("members.c0.owned.t0.0", -1, "$.members.c0.owned.t0[0]"),
        ("members.c0.generation", -2, "$.members.c0.generation"),
        ("members.c0.capacity", 0, "$.members.c0.capacity"),
        ("members.c0.capacity", -3, "$.members.c0.capacity"),
        ("members.c0.rack", 3, "$.members.c0.rack"),
        ("members.c0.instance_id", None, "$.members.c0.instance_id"),
        ("members.c0", [], "$.members.c0"),
        ("group", 7, "$.group"),
        ("id", None, "$.id"),
        ("surplus", 1, "$.surplus"),
        ("format", "rebalance/2", "$.format"),
    ],
)
def test_wrong_values_are_refused_where_they_are(
    path: str, value: object, culprit: str
) -> None:
    assert refused(json.dumps(changed(path, value))).path == culprit


@pytest.mark.parametrize("key", ["format", "group", "topics", "members"])
def test_missing_keys_are_named(key: str) -> None:
    document = {name: value for name, value in GOOD.items() if name != key}
    assert refused(json.dumps(document)).path == f"$.{key}"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ('{"format": "rebalance/1", "format": "x"}', "$.format", "twice"),
        ('{"a": [{"b": {"c": 1, "c": 1}}]}', "$.a[0].b.c", "twice"),
        ('{"a b": 1, "a b": 1}', '$["a b"]', "twice"),
        ('{"group": "\\ud800"}', "$.group", "surrogate"),
        ('{"\\udfff": 1}', "$", "surrogate"),
        ("", "$", "not JSON"),
        ("{", "$", "line 1 column 2"),
        ("[1, 2]", "$", "no object"),
        ("7", "$", "no object"),
        ('{"a": 1} {"b": 2}', "$", "Extra data"),
        ("[" * 100_000, "$", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "$", "absurd length"),
        ("\ufeff{}", "$", "byte order mark"),
        (b"\xff\xfe", "$", "not UTF-8 at byte 0"),
        (b'{"a": "\xc3\x28"}', "$", "not UTF-8 at byte 7"),
    ],
    ids=lambda part: ascii(part[:20]),
)
def test_what_is_no_document_is_refused(
    text: str | bytes, path: str, words: str
) -> None:
    error = refused(text)
    assert error.path == path
    assert words in error.reason


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


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes_are_documents(name: str) -> None:
    assert parse_rebalance(json.dumps(SHAPES[name])).format == "rebalance/1"


@pytest.mark.heavy
@given(rebalances_with_assignments(valid=False))
def test_assignments_read_back(pair: tuple[Document, Document]) -> None:
    text = to_json(parse_assignment(json.dumps(pair[1])))
    assert json.loads(text)["members"] == pair[1]["members"]


VALUE = "$.objectives[0].value"


def proved(proof: Document) -> Document:
    return {"objectives": [{"of": "rack", "value": 1, "bound": 1, "proof": proof}]}


def term(**fields: object) -> Document:
    return {"by": "terms", "terms": [{"kind": "x", "bound": 1, **fields}]}


@pytest.mark.parametrize(
    ("extra", "path"),
    [
        ({"status": "best"}, "$.status"),
        ({"figures": {"kept": 1.0}}, "$.figures.kept"),
        ({"figures": {"keptt": 1}}, "$.figures.keptt"),
        ({"certificate": {"level": {}}}, "$.certificate.price"),
        ({"certificate": {"level": {"a": -1}, "price": {}}}, "$.certificate.level.a"),
        ({"members": {"a": {"t": [-1]}}}, "$.members.a.t[0]"),
        ({"format": "rebalance/1"}, "$.format"),
        (proved({"by": "terms", "terms": [{"kind": "zero"}]}), "terms[0].bound"),
        (proved({"by": "terms"}), "terms"),
        (proved({"by": "search"}), "engine"),
        (proved({"by": "search", "engine": "e", "x": 1}), "x"),
        (proved({"by": "search", "engine": "e", "terms": [1]}), "terms[0]"),
        (proved(term(steps=[[1, 2], [3]])), "terms[0].steps[1]"),
        (proved(term(steps=[[1, -2]])), "terms[0].steps[0][1]"),
        (proved(term(price={"a": {"b": 0.5}})), "terms[0].price.a.b"),
        (proved(term(price={"a": {"b": []}})), "terms[0].price.a.b"),
        ({"objectives": [{"of": "load", "value": "x", "bound": 1}]}, VALUE),
        ({"objectives": [{"of": "load", "value": [0.5], "bound": 1}]}, VALUE),
    ],
)
def test_wrong_assignments_are_refused_where_they_are(
    extra: dict[str, Any], path: str
) -> None:
    document = {"format": "assignment/1", "members": {}} | extra
    with pytest.raises(DocumentError) as caught:
        parse_assignment(json.dumps(document))
    if path.startswith("$"):
        assert caught.value.path == path
    else:
        assert caught.value.path == f"$.objectives[0].proof.{path}"


def test_an_empty_format_error_lists_the_accepted_formats() -> None:
    assert str(refused("{}")) == "f:4: $.format: 'no format'; expected 'rebalance/1'"
