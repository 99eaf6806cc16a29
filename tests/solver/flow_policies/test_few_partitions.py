"""A few partitions, whose best values are counted by hand."""

from __future__ import annotations

import pytest

from solver import Limits, Status, flow_policies, parse_policy
from tests.solver.flow_policies.routes import check_answer, judged, result_of
from tests.solver.routes import instance
from tests.support.shapes import Document, member, rebalance

SWAP = rebalance(
    {"t": {"partitions": 2, "racks": [["y"], ["x", "y"]]}},
    {
        "a": member(["t"], {"t": [0]}, rack="x"),
        "b": member(["t"], {"t": [1]}, rack="y"),
    },
)
"""As it is, one mismatches; a swap costs two moves, and then all match."""

TAKERS = rebalance(
    {"t": {"partitions": 3, "racks": [["x"], ["x"], []]}, "u": {"partitions": 1}},
    {
        "a": member(["t"], rack="x"),
        "b": member(["t", "u"], {"u": [0]}, rack="y"),
        "c": member(["t"]),
    },
)
"""Two for a and c alone, if racks count; c has no rack, and matches everything."""

FAR = rebalance(
    {"t": {"partitions": 2, "racks": [["x"], ["x"]]}},
    {
        "a": member(["t"], {"t": [0, 1]}, rack="y"),
        "b": member(["t"], rack="y"),
    },
)
"""Nobody is near."""

COUNTED: list[tuple[Document, str, list[object]]] = [
    (SWAP, "dec-min; rack, stickiness", [0, 2]),
    (SWAP, "dec-min; stickiness, rack", [0, 1]),
    (SWAP, "dec-min; rack, load, stickiness", [0, [1, 1], 2]),
    (SWAP, "dec-min; stickiness + rack", [1]),
    (SWAP, "dec-min; stickiness + 3*rack", [2]),
    (SWAP, "per-topic; rack, stickiness", [0, 2]),
    (SWAP, "per-topic; stickiness, rack", [0, 1]),
    (SWAP, "none; rack", [0]),
    (SWAP, "none; rack, load", [0, [1, 1]]),
    (SWAP, "none; rack, stickiness, load", [0, 1, [2, 0]]),
    (SWAP, "none; stickiness, rack, load", [0, 1, [1, 1]]),
    (SWAP, "none; load, stickiness", [[1, 1], 0]),
    (TAKERS, "dec-min; rack", [0]),
    (TAKERS, "dec-min; stickiness", [0]),
    (TAKERS, "none; rack, load", [0, [2, 1, 1]]),
    (TAKERS, "none; stickiness, rack, load", [0, 0, [2, 1, 1]]),
    (TAKERS, "kip54; stickiness", [0]),
    (FAR, "dec-min; stickiness, rack", [1, 2]),
    (FAR, "none; rack, load", [2, [1, 1]]),
    (FAR, "none; rack, stickiness, load", [2, 0, [2, 0]]),
    (FAR, "spread=1; rack, load", [2, [1, 1]]),
]


@pytest.mark.parametrize(("document", "policy", "values"), COUNTED)
def test_the_best_values(document: Document, policy: str, values: list[object]) -> None:
    outcome = result_of(document, policy)
    assert outcome is not None
    check_answer(document, outcome, values)


@pytest.mark.parametrize(
    ("policy", "seconds", "rests_on"),
    [
        ("dec-min; rack, stickiness", None, ["certificate", "certificate"]),
        ("dec-min; rack, stickiness", 0.0, ["terms", "terms"]),
        ("dec-min; load, rack", None, ["certificate", "certificate"]),
        ("dec-min; load, rack", 0.0, ["certificate", "terms"]),
        ("none; rack, load, stickiness", None, ["terms", "certificate", "certificate"]),
    ],
)
def test_prices_prove_a_best_value_and_0_is_a_bound_without_them(
    policy: str, seconds: float | None, rests_on: list[str]
) -> None:
    limits = Limits(seconds=seconds)
    outcome = flow_policies.solve(instance(SWAP), parse_policy(policy), limits=limits)
    assert outcome is not None
    assert outcome.status is (Status.OPTIMAL if seconds is None else Status.FEASIBLE)
    levels = judged(SWAP, outcome)["objectives"]
    assert [level["rests_on"] for level in levels] == rests_on
    assert not any("evidence" in level for level in levels)
