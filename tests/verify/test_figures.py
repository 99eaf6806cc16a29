"""Every figure: against counting by definition."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given

import verify
from tests.references import naive_judge as naive
from tests.support.examples import costly
from tests.support.shapes import EVERY_FIELD, LAG, RACKS, Document, shape
from tests.support.strategies import LARGER, rebalances_with_assignments

BALANCES = ("kip54_balanced", "dec_min_balanced")


@costly()
@given(rebalances_with_assignments(LARGER))
@example((LAG, {"members": {"c0": {"t0": [0]}, "c1": {"t0": [1, 2]}}}))
@example((RACKS, {"members": {"c0": {"t1": [0, 1]}, "c1": {"t1": [2, 3]}}}))
def test_figures(pair: tuple[Document, Document]) -> None:
    """Differential: the same numbers by definition."""
    figures = verify.judge(*pair)["figures"]
    assert [*figures] == [
        "loads",
        "kept",
        "moves",
        "kip54_score",
        "kip54_balanced",
        "dec_min_balanced",
        "peak_lag",
        "lag_spread",
        "rack_mismatches",
    ]
    counted = {name: n for name, n in figures.items() if name not in BALANCES}
    assert counted == naive.figures(*pair)


@given(rebalances_with_assignments(valid=False))
def test_figures_of_invalid_assignments(pair: tuple[Document, Document]) -> None:
    """Only members of the group and partitions that exist count, each once."""
    instance, assignment = pair
    counts = {t: v["partitions"] for t, v in instance["topics"].items()}
    normalized: Document = {"members": {name: {} for name in instance["members"]}}
    for name in normalized["members"]:
        for topic, numbers in assignment["members"].get(name, {}).items():
            held = {n for n in numbers if n < counts.get(topic, 0)}
            normalized["members"][name][topic] = sorted(held)
    figures = verify.judge(*pair)["figures"]
    counted = {name: n for name, n in figures.items() if name not in BALANCES}
    assert counted == naive.figures(instance, normalized)


@given(rebalances_with_assignments())
def test_one_case_serves_many_answers(pair: tuple[Document, Document]) -> None:
    instance, assignment = pair
    case = verify.case_of(instance)
    first = verify.judge_case(case, assignment)
    assert first == verify.judge_case(case, assignment) == verify.judge(*pair)


@pytest.mark.parametrize("members", [0, 1, 2, 50])
def test_score_of_a_staircase(members: int) -> None:
    """Loads 0, 1, 2 ... n - 1: the differences sum to (n - 1) n (n + 1) / 6."""
    topics = {f"t{i:02}": {"partitions": i} for i in range(members)}
    wants = {f"m{i:02}": {"subscription": [f"t{i:02}"]} for i in range(members)}
    instance = {"format": "rebalance/1", "topics": topics, "members": wants}
    given_out = {f"m{i:02}": {f"t{i:02}": list(range(i))} for i in range(members)}
    figures = verify.judge(instance, {"members": given_out})["figures"]
    assert figures["kip54_score"] == (members - 1) * members * (members + 1) // 6
    assert figures["loads"] == list(range(members))[::-1]


def test_verdict_is_json_whatever_the_names() -> None:
    instance = shape("EVERY_FIELD")
    answer: Document = {"members": {name: {} for name in instance["members"]}}
    verdict = verify.judge(EVERY_FIELD, answer)
    assert json.loads(json.dumps(verdict)) == verdict
    assert verdict["id"] == "r/1"
