"""Moves to give back, and needless moves as a table."""

from __future__ import annotations

import pytest

from oracle.explanation import explanation_lines
from tests.references.naive_explanations import (
    explained,
)
from tests.support.shapes import member, rebalance

OWNED = rebalance(
    {"t": 4},
    {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"], {"t": [2, 3]}, 1)},
)
CROSSED = {
    "format": "assignment/1",
    "members": {"a": {"t": [2, 3]}, "b": {"t": [0, 1]}},
}


@pytest.mark.parametrize(
    ("balance", "returned"),
    [
        ("none", "t:0 to a, t:1 to a"),
        ("kip54", "t:0 to a, t:2 to b"),
        ("dec-min", "t:2 to b, t:0 to a"),
    ],
)
def test_the_moves_to_give_back_are_named(balance: str, returned: str) -> None:
    found = explained(OWNED, CROSSED, f"{balance}; stickiness; max-moves=2")
    assert [statement.text for statement in found.statements][:2] == [
        "The move budget is exceeded: 4 moves, 2 are allowed.",
        f"Give back {returned}: 2 moves then, and the balance is met (2 allowed).",
    ]


def test_needless_moves_are_a_table_with_short_ids() -> None:
    ids = [
        f"consumer-orders-{n}-3f2c9d6a-11e8-4bfa-9d3e-0242ac12000{n}" for n in (1, 2)
    ]
    document = rebalance(
        {"t": 4},
        {
            ids[0]: member(["t"], {"t": [0, 1]}, 1),
            ids[1]: member(["t"], {"t": [2, 3]}, 1),
        },
    )
    members = {ids[0]: {"t": [2, 3]}, ids[1]: {"t": [0, 1]}}
    found = explained(document, {"format": "assignment/1", "members": members})
    (table,) = [line for line in explanation_lines(found) if not isinstance(line, str)]
    assert table.columns[1:4] == ("partition", "from", "to")
    assert [row[:4] for row in table.rows] == [
        (1, "t:2", "consu…120001", "consu…120002"),
        (1, "t:0", "consu…120002", "consu…120001"),
        (2, "t:3", "consu…120001", "consu…120002"),
        (2, "t:1", "consu…120002", "consu…120001"),
    ]
    texts = [line for line in explanation_lines(found) if isinstance(line, str)]
    assert all(len(text) < 100 for text in texts)
