"""The engine's own check of prices of moves and mismatches.

Reaches into `solver.flow_policies` to compare proved costs with every assignment.
"""

from __future__ import annotations

import numpy as np
import pytest

from rebalance import Assignment
from solver import Certificate
from solver.exact import optimal_face_of
from solver.flow_policies.cheapest_dec_min import proves_cost
from solver.flow_policies.place_classes import places_of
from tests.solver.routes import instance
from tests.support.shapes import member, rebalance

# One owned by a, far from it, with b near; another that nobody owns, near a alone.
DOCUMENT = rebalance(
    {"t": {"partitions": 2, "racks": [["y"], ["x"]]}},
    {"a": member(["t"], {"t": [0]}, rack="x"), "b": member(["t"], rack="y")},
)


@pytest.mark.parametrize(
    ("assignee", "price", "cost", "proved"),
    [
        ([1, 0], [0, 0], 1, True),  # one moves, all are near
        ([0, 1], [0, 0], 6, False),  # nothing moves, all are far
        ([1, 0], [0, 0], 2, False),
        ([1, 0], [2, 0], 1, True),  # no seat is the better for it
        ([1, 0], [5, 0], 1, False),  # b is: the bound drops
        ([1, 1], [0, 0], 1, False),  # not even
    ],
)
def test_prices_prove_their_sum(
    assignee: list[int], price: list[int], cost: int, *, proved: bool
) -> None:
    laid_out = instance(DOCUMENT)
    places = places_of(laid_out)
    assert places is not None
    certificate = Certificate(
        level=np.ones(2, np.int32),
        price=np.array(price, np.int64),
        weights=(1, 3),
    )
    found = proves_cost(
        laid_out,
        places,
        optimal_face_of(laid_out, certificate),
        Assignment(assignee=np.array(assignee, np.int32)),
        certificate,
        cost,
    )
    assert found is proved
