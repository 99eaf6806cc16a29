"""What flow answers, and what it leaves; see also `tests.solver.test_engines_agree`."""

from __future__ import annotations

import pytest

from solver import Limits, Status, flow_policies, parse_policy
from tests.solver.flow_policies.routes import (
    laid_out,
    result_of,
)
from tests.solver.routes import judged
from tests.support.shapes import member, rebalance, shape

NEAR = rebalance(
    {"t": {"partitions": 4, "racks": [["x"], ["x"], ["y"], ["y"]]}},
    {
        "a": member(["t"], {"t": [2, 3]}, rack="x"),
        "b": member(["t"], {"t": [0, 1]}, rack="y"),
    },
)
"""Everything is as even as can be, and everything is on the wrong side."""


def test_budget_that_binds_is_left_to_a_program() -> None:
    assert result_of(NEAR, "dec-min; rack; max-moves=3") is None
    assert result_of(NEAR, "dec-min; rack; max-moves=4") is not None
    assert result_of(NEAR, "none; rack; max-moves=3") is None


def test_kip54_counts_whatever_the_capacities() -> None:
    document = rebalance(
        {"t": 4}, {"a": member(["t"], capacity=3), "b": member(["t"], capacity=1)}
    )
    outcome = result_of(document, "kip54; stickiness")
    assert outcome is not None
    figures = judged(document, outcome)["figures"]
    assert figures["loads"] == [2, 2]
    assert result_of(document, "kip54; load") is None  # 3 and 1 are no KIP-54 balance


@pytest.mark.parametrize(
    "policy",
    [
        "dec-min; peak-lag",
        "per-topic; load",
        "none; lag-spread",
        "kip54; per-topic-spread",
        "per-topic; topic-peak-lag, stickiness",
    ],
)
def test_what_is_not_flow_is_left(policy: str) -> None:
    assert result_of(shape("LAG_GREEDY_FAILS"), policy) is None


def test_more_racks_than_bits_are_left_to_a_program() -> None:
    racks = [f"r{i}" for i in range(63)]
    members = {f"m{i}": member(["t"], rack=rack) for i, rack in enumerate(racks)}
    topic = {"partitions": 63, "racks": [[rack] for rack in racks]}
    document = rebalance({"t": topic}, members)
    assert result_of(document, "dec-min; rack") is None
    del members["m0"]
    del topic["racks"][0]  # type: ignore[attr-defined]
    topic["partitions"] = 62
    outcome = result_of(rebalance({"t": topic}, members), "dec-min; rack")
    assert outcome is not None
    assert outcome.objectives[0].value == 0


def test_weights_past_64_bits_are_left_to_a_program() -> None:
    largest = 2**31 - 1
    level = f"{largest}*stickiness + {largest}*rack"
    other = f"{largest}*stickiness + {largest - 1}*rack"
    assert result_of(NEAR, f"dec-min; {level}, {other}") is None
    assert result_of(NEAR, f"dec-min; {level}") is not None


SWAP = rebalance(
    {"t": {"partitions": 2, "racks": [["y"], ["x", "y"]]}},
    {
        "a": member(["t"], {"t": [0]}, rack="x"),
        "b": member(["t"], {"t": [1]}, rack="y"),
    },
)
"""As it is, one mismatches; a swap costs two moves, and then all match."""


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
    outcome = flow_policies.solve(laid_out(SWAP), parse_policy(policy), limits=limits)
    assert outcome is not None
    assert outcome.status is (Status.OPTIMAL if seconds is None else Status.FEASIBLE)
    levels = judged(SWAP, outcome)["objectives"]
    assert [level["rests_on"] for level in levels] == rests_on
    assert not any("evidence" in level for level in levels)
