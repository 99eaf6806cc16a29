"""One rebalance is driven to a stable state, and its outcome has one category."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from conformance.clients import Answer, Verdict
from conformance.runs import MOST_ROUNDS, Category, Requirement, drive, next_round
from conformance.runs.optimum import least_moves, moves_bound
from tests.conformance.subjects import (
    Scripted,
    answered,
    failed,
    heuristic,
    in_rounds,
    optimal,
)
from tests.support.shapes import (
    CHAIN,
    DOUBLE_CLAIM,
    LONG_CHAIN,
    NOTHING,
    STALE_CLAIM,
    VANISHED,
    Document,
    member,
    rebalance,
)
from tests.support.strategies import LARGER, SMALL, rebalances
from verify import case_of, judge

TWO = rebalance(
    {"t": 2}, {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["t"], None)}
)


@pytest.mark.heavy
@example(CHAIN)
@example(DOUBLE_CLAIM)
@example(STALE_CLAIM)
@example(VANISHED)
@example(NOTHING)
@given(rebalances(SMALL))
def test_the_optimum_is_optimal_in_one_answer_and_in_rounds(document: Document) -> None:
    document = without_capacities(document)
    once = drive(Scripted(optimal), document)
    assert (once.category, len(once.rounds)) == (Category.OPTIMAL, 1)
    assert once.needless_moves == 0
    subject = Scripted(in_rounds(optimal))
    gradual = drive(subject, document, cooperative=True)
    assert gradual.category is Category.OPTIMAL
    assert len(gradual.rounds) <= 2
    assert subject.received == [round_.rebalance for round_ in gradual.rounds]
    assert gradual.held is not None
    verdict = judge(document, {"members": dict(gradual.held)})
    assert verdict["verdict"] == "valid"
    assert gradual.figures == verdict["figures"]


def without_capacities(document: Document) -> Document:
    """Counts are balanced, not shares of capacities."""
    members = document["members"].items()
    return document | {
        "members": {
            m: {k: entry[k] for k in entry if k != "capacity"} for m, entry in members
        }
    }


@pytest.mark.heavy
@given(rebalances(SMALL))
def test_an_eager_answer_gets_the_verdict_of_the_judge(document: Document) -> None:
    document = without_capacities(document)
    for name in ("range", "sticky"):
        outcome = drive(Scripted(heuristic(name)), document)
        held = outcome.held
        assert held is not None
        figures = judge(document, {"members": dict(held)})["figures"]
        best = drive(Scripted(optimal), document).figures
        assert best is not None
        expected = (
            Category.KIP54_UNBALANCED
            if not figures["kip54_balanced"]
            else Category.UNBALANCED
            if figures["loads"] != best["loads"]
            else Category.NEEDLESS_MOVES
            if figures["moves"] > best["moves"]
            else Category.OPTIMAL
        )
        assert outcome.category is expected


def test_members_keep_revoke_and_claim_in_the_next_round() -> None:
    subject = Scripted(in_rounds(optimal))
    outcome = drive(subject, TWO, cooperative=True)
    first, second = subject.received
    assert first == TWO
    owned = {m: member["owned"] for m, member in second["members"].items()}
    assert sorted(map(str, owned.values())) in (
        ["{'t': [0]}", "{}"],
        ["{'t': [1]}", "{}"],
    )
    assert [member["generation"] for member in second["members"].values()] == [2, 2]
    assert outcome.figures is not None
    assert (outcome.figures["moves"], outcome.figures["loads"]) == (1, [1, 1])


def test_a_partition_that_is_not_revoked_is_a_fault() -> None:
    outcome = drive(Scripted(optimal), TWO, cooperative=True)
    assert (outcome.category, outcome.detail) == (Category.UNREVOKED, "unrevoked")
    assert outcome.held is None
    assert "claimant a" in (outcome.reason or "")


def test_rounds_that_do_not_end_are_restless() -> None:
    """a owns one of two partitions, is given the other one, and so on."""

    def changing(document: Document) -> Answer:
        owned = document["members"]["a"]["owned"]["t"]
        return answered({"a": {"t": [0 if owned == [1] else 1]}, "b": {}})

    outcome = drive(Scripted(changing), TWO, cooperative=True)
    assert outcome.category is Category.RESTLESS
    assert len(outcome.rounds) == MOST_ROUNDS
    assert outcome.held is None
    assert str(MOST_ROUNDS) in (outcome.reason or "")


@pytest.mark.parametrize(
    ("answer", "category", "detail"),
    [
        (failed(Verdict.HANG, "no answer in 1 s"), Category.HANG, ""),
        (failed(Verdict.CRASH, "SIGSEGV: at 0x0"), Category.CRASH, "SIGSEGV"),
        (
            failed(Verdict.ERROR, "java.lang.NullPointerException: x"),
            Category.ERROR,
            "java.lang.NullPointerException",
        ),
        (failed(Verdict.ERROR, "index 17 of m3"), Category.ERROR, "index # of m#"),
        (failed(Verdict.INVALID, "$: no object"), Category.INVALID, "unreadable"),
        (answered({"a": {"t": [0]}, "b": {}}), Category.INVALID, "unassigned"),
        (
            answered({"a": {"t": [0, 1]}, "b": {"t": [1]}}),
            Category.INVALID,
            "assigned-twice",
        ),
        (answered({"a": {"t": [0, 1]}, "b": {}}), Category.KIP54_UNBALANCED, ""),
    ],
)
def test_each_outcome_has_its_category(
    answer: Answer, category: Category, detail: str
) -> None:
    outcome = drive(Scripted(lambda _: answer), TWO)
    assert (outcome.category, outcome.detail) == (category, detail)
    assert outcome.reason


def test_a_chain_is_named() -> None:
    as_it_stands = {
        m: member.get("owned", {}) for m, member in CHAIN["members"].items()
    }
    outcome = drive(Scripted(lambda _: answered(as_it_stands)), CHAIN)
    assert outcome.category is Category.UNBALANCED
    assert "a → b → c → d" in (outcome.reason or "")


def test_needless_moves_are_counted() -> None:
    swapped = {"a": {"t": [1]}, "b": {"t": [0]}}
    document = rebalance(
        {"t": 2}, {"a": member(["t"], {"t": [0]}), "b": member(["t"], {"t": [1]})}
    )
    outcome = drive(Scripted(lambda _: answered(swapped)), document)
    assert (outcome.category, outcome.needless_moves) == (Category.NEEDLESS_MOVES, 2)


def test_requirements_are_nested() -> None:
    met = [
        {c for c in Category if requirement.is_met_by(c)} for requirement in Requirement
    ]
    # Differing answers are each judged by themselves.
    assert met[0] > met[1] > met[2] == {Category.OPTIMAL, Category.NONDETERMINISTIC}
    assert {c for c in Category if c.is_safety} == set(Category) - met[0]


def test_a_next_round_states_what_every_member_has() -> None:
    held = {"a": {"t": [1]}, "b": {}}
    after = next_round(TWO, held)
    assert after["members"]["a"]["owned"] == {"t": [1]}
    assert after["members"]["b"]["owned"] == {}
    assert TWO["members"]["b"] == member(["t"])


def test_long_chains_are_settled_in_two_rounds() -> None:
    outcome = drive(Scripted(in_rounds(optimal)), LONG_CHAIN, cooperative=True)
    assert (len(outcome.rounds), outcome.category) == (2, Category.OPTIMAL)


@pytest.mark.heavy
@given(rebalances(LARGER))
def test_the_bound_on_moves_holds(document: Document) -> None:
    """Reaches into the optimum, to compare the quick bound with it."""
    document = without_capacities(document)
    outcome = drive(Scripted(optimal), document, fewest=lambda _: -1)
    assert outcome.figures is not None
    bound = moves_bound(case_of(document), outcome.figures["loads"])
    assert bound <= outcome.figures["moves"] == least_moves(document)
    settled = bound == outcome.figures["moves"]
    assert outcome.category is (
        Category.OPTIMAL if settled else Category.NEEDLESS_MOVES
    )
