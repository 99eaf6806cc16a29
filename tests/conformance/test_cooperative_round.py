"""What may wait for a member that has left its topic, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import verify
from conformance.clients import Answer
from conformance.runs import Category, drive
from tests.conformance.client_faults import LEFT
from tests.conformance.subjects import Scripted, answered, in_rounds, optimal
from tests.conformance.test_rounds import without_capacities
from tests.support.shapes import VANISHED, Document, claims_of, member, rebalance
from tests.support.strategies import SMALL, rebalances, rebalances_with_assignments

Partition = tuple[str, int]


def left(document: Document) -> set[Partition]:
    """Partitions of which a claimant has left the topic, by the definition."""
    return {
        (topic, number)
        for name, topic, number in claims_of(document)
        if topic not in document["members"][name]["subscription"]
    }


def claimed_by_readers(document: Document) -> set[Partition]:
    return {
        (topic, number)
        for name, topic, number in claims_of(document)
        if topic in document["members"][name]["subscription"]
    }


def without(answer: Answer, dropped: set[Partition]) -> Answer:
    """Return an answer that withholds some partitions."""
    assert answer.assignment is not None
    held = answer.assignment.members
    return answered(
        {
            m: {
                t: [n for n in numbers if (t, n) not in dropped]
                for t, numbers in mine.items()
            }
            for m, mine in held.items()
        }
    )


@pytest.mark.heavy
@example((VANISHED, {"members": {name: {} for name in VANISHED["members"]}}))
@given(rebalances_with_assignments(SMALL, valid=False))
def test_what_is_claimed_is_excused_and_nothing_else(
    drawn: tuple[Document, Document],
) -> None:
    """Compare a round with an eager answer, violation by violation."""
    document, answer = drawn
    eager = verify.judge(document, answer)
    verdict = verify.judge(document, answer, cooperative=True)
    claimed = left(document) | claimed_by_readers(document)
    excused = [
        violation
        for violation in eager["violations"]
        if violation["rule"] == "unassigned"
        and (violation["topic"], violation["partition"]) in claimed
    ]
    expected = [
        violation for violation in eager["violations"] if violation not in excused
    ]
    found = [
        violation
        for violation in verdict["violations"]
        if violation["rule"] != "unrevoked"
    ]
    assert found == expected
    assert verdict["figures"]["withheld"] == len(excused)


@pytest.mark.heavy
@example(LEFT)
@given(rebalances(SMALL))
def test_an_assignor_that_waits_for_one_round_is_optimal(document: Document) -> None:
    document = without_capacities(document)

    def waits(document: Document) -> Answer:
        gone = left(document) - claimed_by_readers(document)  # which would be moves
        return without(in_rounds(optimal)(document), gone)

    outcome = drive(Scripted(waits), document, cooperative=True)
    assert outcome.category is Category.OPTIMAL
    assert len(outcome.rounds) <= 2


@pytest.mark.heavy
@example(LEFT)
@given(rebalances(SMALL))
def test_what_was_left_is_assigned_in_the_stable_state(document: Document) -> None:
    document = without_capacities(document)
    dropped = left(document)
    case = verify.case_of(document)
    waiting = {
        (t, n) for t, n in dropped if case.subscribers.get(t) and n < case.partitions[t]
    }

    def never(document: Document) -> Answer:
        return without(in_rounds(optimal)(document), dropped)

    outcome = drive(Scripted(never), document, cooperative=True)
    if not waiting:
        assert outcome.category is Category.OPTIMAL
        return
    assert (outcome.category, outcome.detail) == (Category.INVALID, "unassigned")
    assert len(outcome.rounds) == 2


@pytest.mark.heavy
@given(rebalances(SMALL), st.data())
def test_what_nobody_claims_does_not_wait(
    document: Document, data: st.DataObject
) -> None:
    document = without_capacities(document)
    claimed = {(topic, number) for _, topic, number in claims_of(document)}
    case = verify.case_of(document)
    free = sorted(
        (topic, number)
        for topic, count in case.partitions.items()
        for number in range(count if case.subscribers[topic] else 0)
        if (topic, number) not in claimed
    )
    assume(free)
    one = data.draw(st.sampled_from(free))

    def drops(document: Document) -> Answer:
        return without(in_rounds(optimal)(document), {one})

    outcome = drive(Scripted(drops), document, cooperative=True)
    assert (outcome.category, outcome.detail) == (Category.INVALID, "unassigned")
    assert len(outcome.rounds) == 1


def test_an_eager_answer_withholds_nothing() -> None:
    answer = {"a": {"u": [0]}, "b": {}}
    outcome = drive(Scripted(lambda _: answered(answer)), LEFT)
    assert (outcome.category, outcome.detail) == (Category.INVALID, "unassigned")


def test_more_waiting_partitions_than_violations_are_listed() -> None:
    """The judge lists 1,000 violations per rule."""
    many = 1_500
    document = rebalance(
        {"t": many, "u": 1},
        {"a": member(["u"], {"t": list(range(many))}, 1), "b": member(["t"])},
    )
    answer = {"members": {"a": {"u": [0]}, "b": {}}}
    verdict = verify.judge(document, answer, cooperative=True)
    assert verdict["verdict"] == "valid"
    assert "more_violations" not in verdict
    assert verdict["figures"]["withheld"] == many
    document["members"]["a"]["owned"]["t"].pop()
    verdict = verify.judge(document, answer, cooperative=True)
    assert verdict["violations"] == [
        {"rule": "unassigned", "topic": "t", "partition": many - 1}
    ]
    assert verdict["figures"]["withheld"] == many - 1
