"""The readers of the engines and the judge share no code, and accept the same input.

Otherwise, the two could judge different inputs.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import example, given

import verify
from rebalance import (
    DocumentError,
    PolicyError,
    parse_assignment,
    parse_rebalance,
    to_json,
)
from solver import parse_policy
from tests.support.shapes import CHAIN, SHAPES, Document
from tests.support.strategies import generators, rebalances, rebalances_with_assignments

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    -2,
    0,
    1.0,
    1.5,
    2**31,
    2**63 - 1,
    2**63,
    float("nan"),
    "",
    "t",
    "t0",
    "\ud800",
    [],
    [0, 0],
    [1, 1],
    ["t0", "t0"],
    [[]],
    {},
    {"t0": [0]},
    {"t0": [1, 1]},
)


def spots(value: Any) -> list[tuple[Any, Any]]:
    """List every container with each of its keys or places."""
    keys = value if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for _, key in list(found):
        if isinstance(value[key], (dict, list)):
            found += spots(value[key])
    return found


def damaged(rng: Random, document: Document) -> str:
    """Change one spot of a document: another value, none, a surplus key or item."""
    document = json.loads(json.dumps(document))
    place, key = rng.choice(spots(document))
    change = rng.randrange(5)
    if change == 0:
        del place[key]
    elif change == 1 and isinstance(place, dict):
        place["surplus"] = rng.choice(ODD)
    elif change == 2 and isinstance(place, list):
        place.append(place[key])
    else:
        place[key] = rng.choice(ODD)
    text = json.dumps(document)
    if rng.randrange(8) == 0:
        text = text[: rng.randrange(len(text))]
    return text


def rebalance_refused(text: str) -> tuple[bool, bool]:
    """Return whether the engines' reader and the judge's reject a rebalance/1."""
    return refuses(parse_rebalance, text), refuses(verify.read_rebalance, text)


def refuses(read: Any, text: str) -> bool:
    try:
        read(text)
    except (DocumentError, verify.Unreadable):
        return True
    return False


@given(generators(), rebalances())
@example(Random(1), CHAIN)  # noqa: S311
def test_damaged_rebalances_are_taken_by_both_or_none(
    rng: Random, document: Document
) -> None:
    text = damaged(rng, document)
    ours, judges = rebalance_refused(text)
    assert ours == judges, text


TERM: Document = {
    "kind": "crowd",
    "bound": 3,
    "members": ["a"],
    "topics": ["t"],
    "at_least": 2,
    "weight": {"a": 1},
    "price": {"t": {"a": -1, "b": 2}},
}
PROOFS: tuple[Document, ...] = (
    {"by": "certificate"},
    {"by": "terms", "terms": [TERM, {"kind": "zero", "bound": 0}]},
    {"by": "search", "engine": "e"},
    {"by": "search", "engine": "e", "terms": [TERM]},
    {"by": "search", "engine": "e", "terms": []},
)
STATED: Document = {
    "status": "optimal",
    "reason": "because",
    "policy": "dec-min; stickiness",
    "objectives": [
        {"of": "stickiness", "value": 3, "bound": [3], "scale": 2, "proof": proof}
        for proof in PROOFS
    ],
    "figures": {"kept": 1, "loads": [1]},
    "certificate": {
        "level": {"a": 1},
        "price": {"a": 0},
        "threshold": {"a": [1, 2]},
        "weights": {"rack": 1, "stickiness": 2},
    },
}


def is_policy(document: Any) -> bool:
    """Return whether a document's policy is one, in canonical notation."""
    text = document.get("policy", "dec-min") if isinstance(document, dict) else ""
    try:
        return str(parse_policy(text)) == text
    except PolicyError:
        return False


@given(generators(), rebalances_with_assignments(valid=False))
def test_damaged_assignments_are_taken_by_both_or_none(
    rng: Random, pair: tuple[Document, Document]
) -> None:
    """The judge refuses besides what is no policy: the engines' reader knows none."""
    text = damaged(rng, pair[1] | STATED)
    ours = refuses(parse_assignment, text) or not is_policy(json.loads(text))
    assert ours == refuses(verify.read_assignment, text), text


@pytest.mark.parametrize("policy", ["", "sticky", "dec-min;stickiness", "none; load,"])
def test_what_is_no_policy_is_unreadable_to_the_judge(policy: str) -> None:
    text = json.dumps({"format": "assignment/1", "members": {}, "policy": policy})
    with pytest.raises(verify.Unreadable, match=r"^\$\.policy: "):
        verify.read_assignment(text)


@pytest.mark.parametrize("name", SHAPES)
def test_canonical_text_is_taken_by_both(name: str) -> None:
    text = to_json(parse_rebalance(json.dumps(SHAPES[name]))).decode()
    assert rebalance_refused(text) == (False, False)
