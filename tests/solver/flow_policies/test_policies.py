"""Flow policies against enumeration of all assignments, and against the judge."""

from __future__ import annotations

import pytest

from rebalance import instance_of, rebalance_of
from solver import Status, parse_policy, solve
from tests.references.brute import Brute
from tests.solver.flow_policies.routes import (
    ALWAYS,
    SOMETIMES,
    check_answer,
    drawn,
    judged,
    result_of,
)
from tests.support.amount import seeds, share
from tests.support.shapes import SHAPES, Document, member, rebalance, shape
from verify import TooLarge


def every_policy(document: Document) -> dict[str, int]:
    """Check all policies on a rebalance; count what was answered of each."""
    brute, answered = Brute(document), dict.fromkeys(SOMETIMES, 0)
    for text in (*ALWAYS, *SOMETIMES):
        lag = any("lag" in topic for topic in document["topics"].values())
        if "lag" in text and not lag:
            continue
        outcome = result_of(document, text)
        assert outcome is not None or text not in ALWAYS, text
        if outcome is not None:
            check_answer(document, outcome, brute.best(text))
            answered[text] = 1
    return answered


def test_agrees_with_brute_force() -> None:
    answered = dict.fromkeys((*ALWAYS, *SOMETIMES), 0)
    for seed in seeds(max(10, share(100, 250))):
        try:
            for text, count in every_policy(drawn(seed)).items():
                answered[text] += count
        except TooLarge:
            continue
    assert min(answered.values()) > 0, answered


@pytest.mark.parametrize("name", SHAPES)
def test_named_shapes(name: str) -> None:
    try:
        every_policy(shape(name))
    except TooLarge:
        pytest.skip("too large to look at everything")


NEAR = rebalance(
    {"t": {"partitions": 4, "racks": [["x"], ["x"], ["y"], ["y"]]}},
    {
        "a": member(["t"], {"t": [2, 3]}, rack="x"),
        "b": member(["t"], {"t": [0, 1]}, rack="y"),
    },
)
"""Everything is as even as can be, and everything is on the wrong side."""


@pytest.mark.parametrize(
    ("policy", "values"),
    [
        ("dec-min; stickiness, rack", [0, 4]),
        ("dec-min; rack, stickiness", [0, 4]),
        ("dec-min; stickiness + rack", [4]),
        ("dec-min; 3*stickiness + 2*rack", [8]),
        ("dec-min; 2*stickiness + 3*rack", [8]),
        ("per-topic; rack, stickiness", [0, 4]),
        ("none; rack, load", [0, [2, 2]]),
        ("none; stickiness, load", [0, [2, 2]]),
    ],
)
def test_racks_against_moves(policy: str, values: list[int]) -> None:
    outcome = result_of(NEAR, policy)
    assert outcome is not None
    check_answer(NEAR, outcome, values)


def test_budget_that_binds_is_left_to_a_program() -> None:
    assert result_of(NEAR, "dec-min; rack; max-moves=3") is None
    assert result_of(NEAR, "dec-min; rack; max-moves=4") is not None
    assert result_of(NEAR, "none; rack; max-moves=3") is None


def test_budget_below_the_fewest_moves_is_refused() -> None:
    for policy in ("dec-min; stickiness", "dec-min; peak-lag", "per-topic; load"):
        document = shape("CHAIN")
        if policy.startswith("per-topic"):
            document = rebalance(
                {"t": 4}, {"a": member(["t"], {"t": [0, 1, 2, 3]}), "b": member(["t"])}
            )
        least = {"dec-min": 3, "per-topic": 2}[policy.split(";")[0]]
        refused = result_of(document, f"{policy}; max-moves={least - 1}")
        assert refused is not None
        assert refused.status is Status.INFEASIBLE
        assert refused.assignment is None
        balance = policy.split(";")[0]
        assert refused.reason == (
            f"the fewest moves of a {balance} assignment are {least}; "
            f"max-moves allows {least - 1}"
        )


def test_spread_below_the_least_is_refused() -> None:
    document = rebalance({"t": 5, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
    refused = result_of(document, "spread=3; peak-lag")
    assert refused is None  # only what flow can ask is refused by flow
    refused = result_of(document, "spread=3; stickiness")
    assert refused is not None
    assert (
        refused.reason == "the least spread of an assignment is 4; spread=3 asks less"
    )
    met = result_of(document, "spread=4; stickiness")
    assert met is not None
    assert met.status is Status.OPTIMAL


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


def test_bug_an_owner_in_another_rack_is_as_good_as_others_in_the_right_one() -> None:
    """Keeping t:0 costs a mismatch, giving it to b a move: both are best, c is not."""
    topics: Document = {"t": {"partitions": 1, "racks": [["x"]]}}
    document = rebalance(
        topics,
        {
            "a": {**member(["t"], {"t": [0]}, 1, capacity=5), "rack": "y"},
            "b": {**member(["t"], capacity=4), "rack": "x"},
            "c": {**member(["t"]), "rack": "y"},
        },
    )
    for text in (
        "none; stickiness + rack, load",
        "spread=1; stickiness + rack, load",
        "none; 2*stickiness + 2*rack, load",
    ):
        best = Brute(document).best(text)
        outcome = result_of(document, text)
        if outcome is not None:
            check_answer(document, outcome, best)
        result = solve(instance_of(rebalance_of(document)), parse_policy(text))
        assert result.status is Status.OPTIMAL
        values = [
            list(v) if isinstance(v, tuple) else v
            for v in (objective.value for objective in result.objectives)
        ]
        assert values == best
