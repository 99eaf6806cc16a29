"""Tapes against the standard library, and columns from tapes against the models.

Reaches into `rebalance` to compare the steps of reading and writing, one by one.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebalance import (
    Assignment,
    ClaimRule,
    Instance,
    InstanceError,
    assignment_json,
    document_of,
    instance_of,
    members_of,
    parse_rebalance,
    to_json,
)
from rebalance.assignment_text import members_text
from rebalance.tape import instance_of_text
from rebalance.tape.json_tape import ARRAY, INTEGER, OBJECT, STRING, Tape, tape_of
from tests.support.same_columns import same_columns
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from tests.support.strategies import LARGER, rebalances, rebalances_with_assignments
from tests.support.unreadable import REBALANCES

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    st.one_of(st.integers(-(10**20), 10**20), NAMES, st.floats(), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=12,
)
LAYOUTS: tuple[dict[str, Any], ...] = (
    {"separators": (",", ":")},
    {"indent": 1},
    {"ensure_ascii": False, "separators": (" ,\t", " :\r\n")},
)


def value_at(tape: Tape, row: int) -> tuple[Any, int]:
    """Return the value of a row, and the row after it."""
    kind, value = int(tape.kind[row]), int(tape.value[row])
    if kind == STRING:
        return tape.string(row), row + 1
    if kind == INTEGER:
        return value, row + 1
    assert kind in {OBJECT, ARRAY}
    at, items = row + 1, []
    while at < value:
        item, at = value_at(tape, at)
        items.append(item)
    if kind == ARRAY:
        return items, value + 1
    return dict(zip(items[::2], items[1::2], strict=True)), value + 1


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Draw JSON, and now and then change some of its bytes."""
    text = bytearray(
        json.dumps(draw(VALUES), **draw(st.sampled_from(LAYOUTS))).encode()
    )
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 1))] = draw(
            st.sampled_from([b"", b'"', b"0", b"-", b",", b"]", b"}", b"\\", b"\xff"])
        )
    return bytes(text)


@example(b"")
@example(b" ")
@example(b"[1,]")
@example(b"[,1]")
@example(b'{"a":1,}')
@example(b'{"a"}')
@example(b'{"a" 1}')
@example(b'{1:"a"}')
@example(b"[1}")
@example(b"[1 2]")
@example(b"[01]")
@example(b"[-]")
@example(b"[--1]")
@example(b"[1]]")
@example(b"[1],")
@example(b"[[1]")
@example(b'["a')
@example(b'["a\nb"]')
@example(b'["\xff"]')
@example(b"\xef\xbb\xbf[]")
@example(b"[" * 40 + b"]" * 40)
@example(b"[1e3]")
@example(b"[1.5]")
@example(b"[-0, 0, 10]")
@example(b"[999999999999999999, -999999999999999999]")
@example(b"[1000000000000000000]")
@given(text=texts())
def test_a_tape_is_that_of_the_value(text: bytes) -> None:
    tape = tape_of(text)
    if tape is not None:
        found, end = value_at(tape, 0)
        assert end == tape.kind.size
        assert found == json.loads(text)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_without_floats_and_escapes_have_a_tape(layout: dict[str, Any]) -> None:
    value = {"a": [1, -2, "é", {}, [], [[3]], {"b": {"c": 10**17}}], "d": "", "": 0}
    text = json.dumps(value, **{"ensure_ascii": False} | layout).encode()
    tape = tape_of(text)
    assert tape is not None
    assert value_at(tape, 0) == (value, tape.kind.size)


def read(text: bytes, rule: ClaimRule = ClaimRule.NEWEST_CLAIM) -> Instance | None:
    return instance_of_text(text, claim_rule=rule, max_partitions=1000)


def by_models(text: bytes, rule: ClaimRule = ClaimRule.NEWEST_CLAIM) -> Instance:
    return instance_of(parse_rebalance(text, max_partitions=1000), claim_rule=rule)


def normalized(document: Document) -> Document:
    """Drop what only the models read: racks, names that do not exist, absurd lags."""
    topics = document["topics"]
    for topic in topics.values():
        topic.pop("racks", None)
        if "lag" in topic:
            topic["lag"] = [lag % 10**15 for lag in topic["lag"]]
    for entry in document["members"].values():
        entry.pop("rack", None)
        entry["subscription"] = [t for t in entry["subscription"] if t in topics]
        if "owned" in entry:
            entry["owned"] = {
                topic: sorted(n for n in numbers if n < topics[topic]["partitions"])
                for topic, numbers in entry["owned"].items()
                if topic in topics
            }
    return document


@pytest.mark.parametrize("rule", ClaimRule)
@given(document=rebalances(LARGER), layout=st.sampled_from(LAYOUTS))
def test_columns_are_those_of_the_models(
    rule: ClaimRule, document: Document, layout: dict[str, Any]
) -> None:
    text = json.dumps(document, **layout).encode()
    found = read(text, rule)
    assert found is None or same_columns(found, by_models(text, rule))
    plain = json.dumps(normalized(document), **layout).encode()
    if b"\\" not in plain:
        found = read(plain, rule)
        assert found is not None
        assert same_columns(found, by_models(plain, rule))


@given(document=rebalances(), seed=st.integers(0, 2**32))
def test_changed_texts_are_read_as_the_models_read_them(
    document: Document, seed: int
) -> None:
    rng = Random(seed)  # noqa: S311
    text = bytearray(json.dumps(normalized(document)).encode())
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text))
        text[place : place + rng.randint(0, 2)] = rng.choice(
            [b"", b"0", b"-", b'"', b"a", b",", b"[", b"]", b"t1", b"1.0", b"null"]
        )
    found = read(bytes(text))
    if found is not None:
        assert same_columns(found, by_models(bytes(text)))


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes(name: str) -> None:
    text = json.dumps(shape(name)).encode()
    found = read(text)
    assert found is None or same_columns(found, by_models(text))


T = {"t": {"partitions": 2}}
A = {"a": member(["t"])}


@pytest.mark.parametrize("path", REBALANCES, ids=lambda path: path.stem)
def test_unreadable_documents_are_left_to_the_models(path: Path) -> None:
    assert read(path.read_bytes()) is None


@pytest.mark.parametrize(
    "change",
    [
        {"topics": {"t": {"partitions": 1001}}},
        {"topics": {"t": {"partitions": 501}, "u": {"partitions": 500}}},
        {"topics": {"t": {"partitions": 2, "racks": [["a"], ["b"]]}}},
        {"members": {"a": member(["t", "u"])}},
        {"members": {"a": member(["t"], {"t": [1, 0]})}},
        {"members": {"a": member(["t"], {"t": [2]})}},
        {"members": {"a": member(["t"], {"u": [0]})}},
        {"members": {"a": member(["t"], rack="r")}},
    ],
    ids=json.dumps,
)
def test_oddities_are_left_to_the_models(change: dict[str, Any]) -> None:
    assert read(json.dumps(rebalance(T, A)).encode()) is not None
    assert read(json.dumps(rebalance(T, A) | change).encode()) is None


def test_lags_that_do_not_fit_are_left_to_the_models() -> None:
    document = rebalance({"t": {"partitions": 12, "lag": [9 * 10**17] * 12}}, A)
    text = json.dumps(document).encode()
    assert read(text) is None
    with pytest.raises(InstanceError, match="2\\^63"):
        by_models(text)


@given(drawn=rebalances_with_assignments(LARGER, valid=False))
def test_texts_of_assignments_are_those_of_their_members(
    drawn: tuple[Document, Document],
) -> None:
    laid_out = by_models(json.dumps(drawn[0]).encode())
    rng = np.random.default_rng(len(laid_out.members))
    members = len(laid_out.members)
    assignee = rng.integers(-1, members, laid_out.n_partitions).astype(np.int32)
    assignment = Assignment(assignee=assignee)
    expected = orjson.dumps(
        members_of(laid_out, assignment), option=orjson.OPT_SORT_KEYS
    )
    assert members_text(laid_out, assignment) == expected


def test_large_assignments_are_written_from_columns_as_from_members() -> None:
    owned = {f"t{i}": list(range(1, 4000, 3)) for i in range(4)}
    topics = {f"t{i}": {"partitions": 4000} for i in range(4)}
    document = rebalance(topics, {'a"é': member([*topics], owned), "b": member(["t1"])})
    laid_out = instance_of(parse_rebalance(json.dumps(document)))
    assignment = Assignment(assignee=laid_out.owner)
    about = document_of(laid_out, assignment, assignor="x")
    assert assignment_json(laid_out, assignment, about) == to_json(about)
