"""Enumeration: merged states against the plain list, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import pytest
from hypothesis import example, given

import verify
from tests.references import naive_judge as naive
from tests.support.shapes import (
    CHAIN,
    LAG_GREEDY_FAILS,
    MIXED_GENERATIONS,
    STICKINESS,
    Document,
    member,
    rebalance,
    shape,
)
from tests.support.strategies import SMALL, TINY, rebalances

SHARES_KEPT_PEAK_LOADS = tuple[list[Fraction], int, int, list[int]]


def listed(instance: Document) -> list[SHARES_KEPT_PEAK_LOADS]:
    scored = []
    for answer in verify.every_assignment(instance):
        counted = naive.figures(instance, answer)
        kept, peak = counted["kept"], counted["peak_lag"]
        shares = naive.shares(instance, answer)
        scored.append((shares, kept, peak, counted["loads"]))
    return scored


@given(rebalances(TINY))
@example(CHAIN)
@example(STICKINESS)
@example(LAG_GREEDY_FAILS)
def test_best_of_the_plain_list(instance: Document) -> None:
    """Differential: every policy's optimum by listing all assignments."""
    scored = listed(instance)
    even = [score for score in scored if score[0] == min(other[0] for other in scored)]
    common = lcm(*naive.capacities(instance).values())
    kept, peak = max(score[1] for score in even), min(score[2] for score in even)
    best = verify.best(instance)
    if "shares" in best:
        assert best.pop("shares") == [common * share for share in even[0][0]]
    assert {tuple(score[3]) for score in even} == {tuple(best["loads"])}
    assert best == {
        "loads": even[0][3],
        "kept": kept,
        "peak_lag_at_kept": min(score[2] for score in even if score[1] == kept),
        "peak_lag": peak,
        "kept_at_peak_lag": max(score[1] for score in even if score[2] == peak),
        "any_kept": max(score[1] for score in scored),
        "any_peak_lag": min(score[2] for score in scored),
    }


@given(rebalances(SMALL))
def test_without_lag_the_rest_is_the_same(instance: Document) -> None:
    with_lag, without = verify.best(instance), verify.best(instance, lag=False)
    for name in ("loads", "kept", "any_kept"):
        assert with_lag[name] == without[name]
    assert without["peak_lag"] == without["any_peak_lag"] == 0


@given(rebalances(TINY))
def test_every_assignment_is_there_once_and_valid(instance: Document) -> None:
    answers = list(verify.every_assignment(instance))
    takers = naive.wants(instance)
    count = 1
    for topic, _ in naive.served(instance):
        count *= sum(topic in wanted for wanted in takers.values())
    assert len(answers) == count == len({str(answer) for answer in answers})
    for answer in answers:
        assert answer.keys() == {"format", "members"}
        assert verify.judge(instance, answer)["violations"] == []


def test_claim_rule_is_obeyed() -> None:
    one = verify.best(MIXED_GENERATIONS, claim_rule="current-generation")
    assert (one["kept"], verify.best(MIXED_GENERATIONS)["kept"]) == (2, 8)


def crowd(members: int, partitions: int, lag: list[int] | None = None) -> Document:
    topic: Document = {"partitions": partitions}
    if lag is not None:
        topic["lag"] = lag
    return rebalance({"t": topic}, {f"m{i}": member(["t"]) for i in range(members)})


def test_as_much_as_it_takes() -> None:
    assert verify.best(crowd(20, 2))["loads"] == [1, 1] + [0] * 18
    assert verify.best(crowd(1, 200))["loads"] == [200]


@pytest.mark.heavy
def test_lists_as_many_as_it_takes() -> None:
    assert len(list(verify.every_assignment(crowd(2, 17)))) == 131072


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (crowd(21, 1), "21 members and 1 partitions; brute force goes up to 20 and"),
        (crowd(1, 201), "1 members and 201 partitions; brute force goes up to 20 and"),
        (crowd(2, 20_000_000), "20000000 partitions"),
        (crowd(20, 200), "more than 500000 states$"),
        (crowd(3, 20, [4**i for i in range(20)]), "more than 500000 states"),
    ],
)
def test_refuses_instances_that_take_too_long(instance: Document, reason: str) -> None:
    with pytest.raises(verify.TooLarge, match=reason):
        verify.best(instance)
    with pytest.raises(verify.TooLarge):
        list(verify.every_assignment(instance))


def test_refuses_to_list_too_many() -> None:
    with pytest.raises(verify.TooLarge, match=r"^more than 200000 assignments"):
        next(verify.every_assignment(crowd(2, 18)))
    assert verify.best(crowd(2, 18))["loads"] == [9, 9]


def test_limits_are_included(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.policy.enumeration.ASSIGNMENTS_MAX", 8)
    monkeypatch.setattr("verify.policy.enumeration.STEPS_MAX", 8)
    assert len(list(verify.every_assignment(crowd(2, 3)))) == 8
    with pytest.raises(verify.TooLarge):
        next(verify.every_assignment(crowd(2, 4)))
    assert verify.best(crowd(2, 4))["loads"] == [2, 2]  # 4 states of 3, to 2 each
    with pytest.raises(verify.TooLarge):
        verify.best(crowd(2, 5))


def test_nobody_and_nothing() -> None:
    for name in ("NOTHING", "NO_MEMBERS", "NO_TOPICS", "NO_PARTITIONS"):
        instance = shape(name)
        everyone: Document = {member: {} for member in instance["members"]}
        (only,) = verify.every_assignment(instance)
        assert only == {"format": "assignment/1", "members": everyone}
        assert verify.best(instance)["loads"] == [0] * len(everyone)
