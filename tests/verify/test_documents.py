"""The judge's reader: takes every document, and nothing else, in any shape.

`tests.test_readers_agree` compares it with the reader of the engines.
"""

from __future__ import annotations

import json
import pickle
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import verify
from tests.support.shapes import SHAPES, Document, shape
from tests.support.strategies import generators, rebalances, rebalances_with_assignments


@pytest.mark.parametrize("name", SHAPES)
def test_reads_every_shape(name: str) -> None:
    assert verify.read_rebalance(json.dumps(shape(name))) == shape(name)


@given(rebalances())
def test_reads_written_documents(document: Document) -> None:
    for text in (json.dumps(document), json.dumps(document, indent=2).encode()):
        assert verify.read_rebalance(text) == document


@given(rebalances_with_assignments(valid=False))
def test_reads_any_assignment(pair: tuple[Document, Document]) -> None:
    _, assignment = pair
    assert verify.read_assignment(json.dumps(assignment)) == assignment


def test_bounds_are_included() -> None:
    document = shape("NOTHING")
    document["topics"]["t"] = {"partitions": 1, "lag": [2**63 - 1]}
    document["topics"]["u"] = {"partitions": verify.PARTITIONS_MAX - 1}
    limits = {"generation": 2**31 - 1, "capacity": 2**63 - 1}
    document["members"]["a"] = {"subscription": [], **limits}
    document["members"]["b"] = {"subscription": [], "generation": -1, "capacity": 1}
    document["members"]["c"] = {"subscription": [], "owned": {"t": [2**63 - 1]}}
    assert verify.read_rebalance(json.dumps(document)) == document


def test_assignment_bounds_are_included() -> None:
    price = {"a": -(2**63) + 1, "b": 2**63 - 1}
    certificate = {"level": {"a": 0, "b": 2**63 - 1}, "price": price}
    document = {
        "format": "assignment/1",
        "members": {"a": {"t": [2**63 - 1, 0]}},
        "certificate": certificate,
    }
    assert verify.read_assignment(json.dumps(document)) == document


def test_figures_may_be_nothing_at_all() -> None:
    names = ("kept", "moves", "withheld", "kip54_score", "peak_lag", "lag_spread")
    figures = dict.fromkeys((*names, "rack_mismatches"), 0)
    figures |= {"kip54_balanced": False, "dec_min_balanced": True}
    document = {"format": "assignment/1", "members": {}, "figures": figures}
    assert verify.read_assignment(json.dumps(document)) == document


def test_unreadable_carries_path_and_reason() -> None:
    with pytest.raises(verify.Unreadable) as caught:
        verify.read_rebalance('{"format": "rebalance/1", "group": 1}')
    assert caught.value.path == "$.topics"
    assert caught.value.reason == "missing"
    assert str(caught.value) == "$.topics: missing"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("written", "shown"),
    [("x" * 78, f'"{"x" * 78}"'), ("x" * 79, f'"{"x" * 79}...')],
)
def test_a_long_culprit_is_shown_in_part(written: str, shown: str) -> None:
    """Eighty characters, quotes included."""
    with pytest.raises(verify.Unreadable) as caught:
        verify.read_rebalance(json.dumps({"format": written}))
    assert caught.value.reason == f"{shown} is not one of rebalance/1"


def test_every_wrong_value_is_listed() -> None:
    with pytest.raises(verify.Unreadable) as caught:
        verify.read_rebalance(
            '{"format": "rebalance/1", "group": 3, "extra": 1, "topics": {"t":'
            ' {"partitions": 2, "lag": [-2, 3.5]}}, "members": {"a": {"subscription":'
            ' ["t", "t"], "generation": -7}, "b": {}}}'
        )
    assert caught.value.culprits == [
        ("$.extra", "unknown key"),
        ("$.group", "3 is not a string"),
        ("$.topics.t.lag[0]", "-2 is not within 0 and 9223372036854775807"),
        ("$.topics.t.lag[1]", "a float: 3.5"),
        ("$.members.a.subscription[1]", '"t" listed twice'),
        ("$.members.a.generation", "-7 is not within -1 and 2147483647"),
        ("$.members.b.subscription", "missing"),
    ]
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert copied.culprits == caught.value.culprits


def test_contradictions_are_listed() -> None:
    topics = '{"t": {"partitions": 2, "lag": [1]}, "u": {"partitions": 9}}'
    text = f'{{"format": "rebalance/1", "group": "", "topics": {topics}'
    with pytest.raises(verify.Unreadable) as caught:
        verify.read_rebalance(text + ', "members": {}}', max_partitions=10)
    assert caught.value.culprits == [
        ("$.topics.t.lag", "1 entries for 2 partitions"),
        ("$.topics.u.partitions", "11 partitions up to here, above the limit 10"),
    ]


def test_of_very_many_wrong_values_a_hundred_are_listed() -> None:
    topics = f'{{"t": {{"partitions": 500, "lag": {[-1] * 500}}}}}'
    text = f'{{"format": "rebalance/1", "group": "", "topics": {topics}'
    with pytest.raises(verify.Unreadable) as caught:
        verify.read_rebalance(text + ', "members": {}}')
    *listed, last = caught.value.culprits
    assert (len(listed), last) == (100, ("$", "more than 100 wrong values"))


def test_unreadable_survives_pickling() -> None:
    error = verify.Unreadable("missing", ("members", "a b", 3))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (again.path, again.reason) == ('$.members["a b"][3]', "missing")
    assert str(again) == str(error)


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'{"format":"rebalance/1","group":"g","id":' + b"[" * 990 + b"]" * 990 + b"}")
def test_random_bytes_are_unreadable(text: bytes) -> None:
    for read in (verify.read_rebalance, verify.read_assignment):
        with pytest.raises(verify.Unreadable):
            read(text)


@given(rebalances(), generators())
def test_a_cut_document_is_unreadable(document: Document, rng: Random) -> None:
    text = json.dumps(document)
    with pytest.raises(verify.Unreadable):
        verify.read_rebalance(text[: rng.randrange(len(text))])
