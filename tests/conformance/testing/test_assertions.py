"""The assertions for test suites of assignors, and what their messages say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given

import verify
from oracle.pytest_plugin import Assignment, assert_optimal, assert_valid
from rebalance import instance_of, members_of, rebalance_of
from solver import solve
from tests.support.shapes import CHAIN, Document, member, rebalance
from tests.support.strategies import TINY, rebalances, rebalances_with_assignments

STANDS = {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}}
BEST = {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}}


class TopicPartition(NamedTuple):
    """As in kafka-python and aiokafka."""

    topic: str
    partition: int


@pytest.mark.parametrize(
    "assignment",
    [
        BEST,
        {"format": "assignment/1", "members": BEST},
        {m: [(t, n) for t in held for n in held[t]] for m, held in BEST.items()},
        {
            m: {TopicPartition(t, n) for t in held for n in held[t]}
            for m, held in BEST.items()
        },
        {m: {t: range(n[0], n[0] + 1) for t, n in h.items()} for m, h in BEST.items()},
    ],
)
def test_every_form_of_an_assignment_is_read(assignment: Assignment) -> None:
    assert_valid(CHAIN, assignment)
    assert_optimal(CHAIN, assignment)


def test_a_member_without_partitions_is_listed() -> None:
    given = {name: held for name, held in STANDS.items() if held}
    with pytest.raises(AssertionError, match="missing-member: member 'd'"):
        assert_valid(CHAIN, given)
    assert_valid(CHAIN, given | {"d": []})


@pytest.mark.parametrize("wrong", [None, [("t", 0)], {"a": 3}, {"a": {"t": ["x"]}}])
def test_what_is_no_assignment_is_named(wrong: Assignment) -> None:
    with pytest.raises(TypeError, match="assignment"):
        assert_valid(CHAIN, wrong)


def test_every_violation_is_named() -> None:
    answer = {"a": {"t": [0], "u": [0]}, "e": {"v": [0]}}
    with pytest.raises(AssertionError) as caught:
        assert_valid(CHAIN, answer)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the assignment is invalid:"
    assert "  unsubscribed: member 'a', partition 0, topic 'u'" in lines
    assert "  unassigned: partition 1, topic 't'" in lines
    assert any(line.startswith("  unknown-member: member 'e'") for line in lines)
    assert lines[-1] == f"assignment: {str(answer).replace(chr(39), chr(34))}"
    with pytest.raises(AssertionError, match="the assignment is invalid:"):
        assert_optimal(CHAIN, answer)


def test_the_chain_is_shown_with_a_better_assignment() -> None:
    assert_valid(CHAIN, STANDS)
    with pytest.raises(AssertionError) as caught:
        assert_optimal(CHAIN, STANDS)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "the assignment is valid, but not balanced:",
        "  loads [2, 1, 1, 0], the best are [1, 1, 1, 1]",
        "  each passes one partition to the next: a → b → c → d",
    ]
    assert lines[-1].startswith('a better one: {"a": {"t": [')


def test_needless_moves_are_counted() -> None:
    document = rebalance(
        {"t": 2}, {"a": member(["t"], {"t": [0]}), "b": member(["t"], {"t": [1]})}
    )
    with pytest.raises(AssertionError, match="moves 2, the fewest are 0"):
        assert_optimal(document, {"a": {"t": [1]}, "b": {"t": [0]}})


def test_the_claim_rule_is_a_parameter() -> None:
    """By the newest claim a owns t:0; by the current generation nobody does."""
    document = rebalance(
        {"t": 2, "u": 1},
        {"a": member(["t"], {"t": [0]}, 1), "b": member(["t", "u"], {"u": [0]}, 2)},
    )
    moved = {"a": {"t": [1]}, "b": {"t": [0]}}
    moved["b"]["u"] = [0]
    with pytest.raises(AssertionError, match="needlessly"):
        assert_optimal(document, moved)
    assert_optimal(document, moved, claim_rule="current-generation")


def test_a_cooperative_round_can_withhold() -> None:
    document = rebalance(
        {"t": 2}, {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"])}
    )
    first: Document = {"a": {"t": [0]}, "b": {}}
    assert_valid(document, first, cooperative=True)
    with pytest.raises(AssertionError, match="unassigned"):
        assert_valid(document, first)
    with pytest.raises(AssertionError, match="unrevoked"):
        assert_valid(document, {"a": {"t": [0]}, "b": {"t": [1]}}, cooperative=True)


def test_a_cooperative_round_can_wait_for_a_member_that_left_the_topic() -> None:
    claimed = member(["u"], {"t": [0]}, 1)
    document = rebalance({"t": 1, "u": 1}, {"a": claimed, "b": member(["t"], None, 1)})
    waits: Document = {"a": {"u": [0]}, "b": {}}
    assert_valid(document, waits, cooperative=True)
    assert_valid(document, waits | {"b": {"t": [0]}}, cooperative=True)
    document["members"]["a"] = member(["u"], {"u": [0]}, 2)
    with pytest.raises(AssertionError, match="unassigned"):
        assert_valid(document, waits, cooperative=True)


def test_an_unreadable_instance_is_an_error() -> None:
    with pytest.raises(verify.Unreadable):
        assert_valid(CHAIN | {"surprise": 1}, BEST)


def test_a_long_document_is_cut() -> None:
    document = rebalance({"t": 3000}, {"a": member(["t"])})
    with pytest.raises(AssertionError, match=r"… \(\d\d,\d\d\d characters\)"):
        assert_valid(document, {"a": {"t": range(2999)}})


@pytest.mark.heavy
@given(rebalances_with_assignments(TINY, valid=False))
def test_valid_is_what_the_judge_calls_valid(pair: tuple[Document, Document]) -> None:
    document, answer = pair
    is_valid = verify.judge(document, answer)["verdict"] == "valid"
    assert passes(assert_valid, document, answer) == is_valid


@pytest.mark.heavy
@given(rebalances_with_assignments(TINY))
def test_optimal_is_what_no_other_assignment_beats(
    pair: tuple[Document, Document],
) -> None:
    """Differential test: brute force of the judge against the exact core."""
    document, answer = pair
    for entry in document["members"].values():
        entry.pop("capacity", None)
    best = verify.best(document, lag=False)
    mine = verify.judge(document, answer)["figures"]
    is_best = (mine["loads"], mine["kept"]) == (best["loads"], best["kept"])
    assert passes(assert_optimal, document, answer) == is_best


@pytest.mark.heavy
@given(rebalances(TINY))
def test_the_optimum_passes(document: Document) -> None:
    instance = instance_of(rebalance_of(document))
    result = solve(instance)
    assert_optimal(document, members_of(instance, result.require_assignment()))


def passes(
    check: Callable[[Document, Assignment], None],
    document: Document,
    answer: Document,
) -> bool:
    try:
        check(document, answer)
    except AssertionError:
        return False
    return True
