"""The judge checks objects of integers at once, and reads integers without a function.

Reaches into `verify.schema` to compare both with the slow way: item by item.
"""

from __future__ import annotations

import json
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given

import verify
from tests.support.shapes import Document
from tests.support.strategies import generators, rebalances_with_assignments
from tests.test_readers_agree import STATED, damaged
from verify import schema

READERS = {0: verify.read_rebalance, 1: verify.read_assignment}
READERS_OF_MANY = {0: verify.read_rebalances, 1: verify.read_assignments}


def outcome(which: int, text: str) -> Any:
    """Return the document, or path and reason of its refusal."""
    try:
        return READERS[which](text)
    except verify.Unreadable as error:
        return error.path, error.reason


def outcome_item_by_item(which: int, text: str) -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(schema, "_all_match", lambda *_: False)
        by_function = partial(json.loads, parse_int=schema._parsed_integer)
        patched.setattr(json, "loads", by_function)
        return outcome(which, text)


@given(generators(), rebalances_with_assignments())
def test_what_is_checked_at_once_is_refused_as_item_by_item(
    rng: Random, pair: tuple[Document, Document]
) -> None:
    for which, document in enumerate((pair[0], pair[1] | STATED)):
        text = damaged(rng, document)
        assert outcome(which, text) == outcome_item_by_item(which, text), text


@given(generators(), rebalances_with_assignments())
def test_many_texts_are_read_as_one_by_one(
    rng: Random, pair: tuple[Document, Document]
) -> None:
    for which, document in enumerate(pair):
        whole, changed = json.dumps(document), damaged(rng, document)
        alone, read = outcome(which, changed), READERS_OF_MANY[which]
        if isinstance(alone, dict):
            assert read([whole, changed]) == [document, alone]
            continue
        with pytest.raises(verify.Unreadable) as refused:
            read([whole, changed])
        assert refused.value.reason == alone[1], changed
        assert refused.value.path in {alone[0], alone[0].replace("$", "$[1]", 1)}


NUMBERS = "[0] [1,1] [1,true] [-1] [9223372036854775808] [1.0] [null] [[1]] {} 3"


@pytest.mark.parametrize("wrong", NUMBERS.split())
@pytest.mark.parametrize("key", ["t", "\\ud800", "t\\u00e9"])
def test_owned_of_any_sort(wrong: str, key: str) -> None:
    text = (
        '{"format": "rebalance/1", "group": "g", "topics": {}, "members": {"m": '
        '{"subscription": [], "owned": {"a": [0, 5], "%s": %s, "z": [7]}}}}'
    )
    text %= key, wrong
    found = outcome(0, text)
    assert found == outcome_item_by_item(0, text)
    is_good = wrong == "[0]" and key != "\\ud800"
    assert is_good == isinstance(found, dict)


@pytest.mark.parametrize(
    "number",
    ["9" * 20, "9" * 21, "-" + "9" * 20, "-" + "9" * 19, "9" * 5000, "9" * 21 + ".5"],
)
def test_long_integers(number: str) -> None:
    text = f'{{"format": "rebalance/1", "group": {number}}}'
    assert outcome(0, text) == outcome_item_by_item(0, text)
    document = json.dumps({"format": "rebalance/1", "group": number})
    assert outcome(0, document) == outcome_item_by_item(0, document)
