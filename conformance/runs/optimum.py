"""The optimum to compare with: dec-min balance, then stickiness, with its proof."""

from __future__ import annotations

from typing import Any

from rebalance import instance_of, plain_of, rebalance_of
from solver import solve

Document = dict[str, Any]


def least_moves(rebalance: Document) -> int:
    """Return the fewest moves of a dec-min balanced assignment.

    Raises
    ------
    DocumentError
        If the document is no rebalance/1.
    """
    (stickiness,) = solve(instance_of(rebalance_of(rebalance))).objectives
    assert stickiness.is_proved  # noqa: S101  # the exact core proves every answer
    assert isinstance(stickiness.value, int)  # noqa: S101
    return stickiness.value


def proved_optimum(rebalance: Document) -> Document:
    """Return the optimum as assignment/1, with figures and certificate."""
    instance = instance_of(rebalance_of(rebalance))
    return plain_of(solve(instance).to_document(instance))
