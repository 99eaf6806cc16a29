"""Kafka's sticky assignors, unmodified, compared with ours.

Each answer equals ours, or differs for a reason that is stated and checked
(`tests.conformance.sticky_reasons`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice

import pytest

from conformance.clients import LINES, Adapter, Answer, Verdict, suspecting
from tests.conformance import jars
from tests.conformance.corpus.scenes import SCENARIOS
from tests.conformance.jars import (
    INSTANCES,
    STICKY,
    answer_of,
    in_order,
    judged_answer,
    running,
    with_topics_there,
)
from tests.conformance.sticky_reasons import (
    explained,
    has_members,
    lettered,
    ours,
    well_behaved,
    without_faulty_claims,
)
from tests.heuristics.lost_group import BEFORE, TAKEN_OVER, left
from tests.heuristics.routes import fits
from tests.heuristics.test_range_racks import with_more_racks
from tests.heuristics.test_sticky import seeded_skewed
from tests.references.heuristics import Held, flat
from tests.references.sticky import is_mixed
from tests.support import last_drawn
from tests.support.amount import FIRST_SEED
from tests.support.shapes import Document, member, rebalance
from tests.support.strategies import LARGER, seeded_rebalance
from verify import judge

pytestmark = pytest.mark.heavy

COMPARED = INSTANCES // 8
RESTLESS = [name for name in SCENARIOS if name.startswith("cooperative-restless")]
NONE_LEFT = "No more unfilled consumers to be assigned"
RAISED = ("NullPointerException", NONE_LEFT)
MOST_EXPLAINED = 0.03
"""Share of sticky's answers that may differ, each for its reason; found: 0.5 %."""


def drawn() -> Iterator[Document]:
    """Draw rebalances of every kind, half of them with racks."""
    for seed in count(FIRST_SEED):
        is_skewed = seed % 4 < 2
        plain = seeded_skewed(seed) if is_skewed else seeded_rebalance(seed, LARGER)
        document = with_more_racks(plain, seed) if seed % 2 else plain
        if fits(document) and document["members"]:
            yield last_drawn.note(lettered(with_topics_there(document)), seed)


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_ours_are_kafkas_but_for_reasons(version: str, assignor: str) -> None:
    n_explained, n_mixed = 0, 0
    documents = map(without_faulty_claims, drawn())
    with running(version, assignor) as kafka:
        for document in islice(filter(has_members, documents), COMPARED):
            last_drawn.note_changed(document)
            answer = kafka.answer(json.dumps(document).encode())
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)
            assert answer.assignment is not None
            theirs = in_order(answer.assignment)
            n_mixed += is_mixed(document)
            if theirs != ours(assignor, document):
                instead = explained(assignor, document)
                assert theirs == instead.held, document
                assert instead.reasons, document
                n_explained += 1
    assert COMPARED // 4 < n_mixed < COMPARED - COMPARED // 8
    if assignor == "sticky":
        assert n_explained <= MOST_EXPLAINED * COMPARED


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_whatever_is_claimed(version: str, assignor: str) -> None:
    """Kafka raises, breaks a rule, or is within its guarantee; ours is, always."""
    cooperative = assignor == "cooperative-sticky"
    with running(version, assignor) as kafka:
        for document in islice(drawn(), COMPARED // 4):
            answer = judged_answer(kafka, assignor, document)
            assert answer.verdict is not Verdict.HANG, document
            assert answer.verdict is not Verdict.CRASH, document
            if answer.verdict is Verdict.ERROR:
                assert any(reason in (answer.reason or "") for reason in RAISED), (
                    document
                )
            given = {"members": ours(assignor, document)}
            verdict = judge(document, given, cooperative=cooperative)
            assert verdict["violations"] == [], document
            assert cooperative or verdict["figures"]["kip54_balanced"], document


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_valid_by_whatever_names(version: str, assignor: str) -> None:
    """Where hash order decides, Kafka's answers differ from ours, and are valid."""
    with running(version, assignor) as kafka:
        every = filter(has_members, map(well_behaved, jars.drawn()))
        for document in islice(every, COMPARED // 8):
            last_drawn.note_changed(document)
            answer = judged_answer(kafka, assignor, document)
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)


# Known faults of Kafka: if one of these tests fails, Kafka has fixed the fault. Each is
# in one of our docstrings under "not copied", and tests/heuristics has a test of ours.


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_moves_in_anothers_stead_need_not_end(
    version: str, assignor: str
) -> None:
    with running(version, assignor) as kafka:
        warm_up(kafka)
        kafka.seconds, kafka.patience = 2.0, suspecting(2.0)
        document = SCENARIOS["sticky-endless"].steps[0].rebalance
        answer = kafka.answer(json.dumps(document).encode())
        assert answer.verdict is Verdict.HANG


def warm_up(kafka: Adapter) -> None:
    """Let the program start, and load its classes, outside the time limit."""
    document = rebalance(
        {"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["t", "u"])}
    )
    assert kafka.answer(json.dumps(document).encode()).verdict is Verdict.ANSWERED


FOUR = {"a": member(["t"], {"t": [0, 1, 2, 3]}, 5), "b": member(["t"], None, 5)}


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_a_previous_owner_that_has_left_is_given_some(
    version: str, assignor: str
) -> None:
    """This holds while the partition may be moved; otherwise, the assignor raises."""
    left = {"c": member(["u"], {"t": [0]}, 4), "d": member(["u"], None, 5)}
    answer = answer_of(version, assignor, rebalance({"t": 4, "u": 2}, FOUR | left))
    assert answer.verdict is Verdict.INVALID
    assert answer.assignment is not None
    assert answer.assignment.members["c"]["t"] == [0]
    alone = {"c": member(["u"], {"t": [0]}, 4)}
    answer = answer_of(version, assignor, rebalance({"t": 4, "u": 2}, FOUR | alone))
    assert answer.verdict is Verdict.ERROR
    assert "NullPointerException" in (answer.reason or "")


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_partitions_that_do_not_exist(version: str, assignor: str) -> None:
    """A claim on a number that does not exist is accepted, or breaks the quotas."""
    members = {"a": member(["t"], {"t": [0, 1]}, 1), "b": member(["u"])}
    answer = answer_of(version, assignor, rebalance({"t": 1, "u": 1}, members))
    assert answer.verdict is Verdict.INVALID
    assert "unknown-partition" in (answer.reason or "")
    equal = {"a": member(["t"], {"t": [2]}, 1), "b": member(["t"], {"t": [0]}, 1)}
    answer = answer_of(version, assignor, rebalance({"t": 2}, equal))
    assert answer.verdict is Verdict.ERROR
    assert NONE_LEFT in (answer.reason or "")


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_a_claim_without_subscription_voids_an_older_one(
    version: str, assignor: str
) -> None:
    members = {
        "a": member(["t"], None, 1),
        "b": member(["u"], {"t": [0]}, 2),
        "c": member(["t"], {"t": [0]}, 1),
    }
    document = rebalance({"t": 1, "u": 1}, members)
    answer = answer_of(version, assignor, document)
    assert answer.assignment is not None
    assert answer.assignment.members["c"] == {}
    assert ours("sticky", document)["c"] == {"t": [0]}


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_two_equal_claims_void_a_newer_one(
    version: str, assignor: str
) -> None:
    members = {m: member(["t"], {"t": [1]}, 1) for m in ("a", "b")}
    document = rebalance({"t": 2}, members | {"c": member(["t"], {"t": [1]}, 2)})
    answer = answer_of(version, assignor, document)
    assert answer.assignment is not None
    assert answer.assignment.members["c"] == {}
    assert ours("sticky", document)["c"] == {"t": [1]}


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_a_member_without_subscription_receives_partitions(
    version: str, assignor: str
) -> None:
    """Members that want nothing count as subscribed like the first who wants some."""
    members = {"m1": member([]), "m2": member(["t"])}
    answer = answer_of(version, assignor, rebalance({"t": 2}, members))
    assert answer.verdict is Verdict.INVALID
    assert "unsubscribed" in (answer.reason or "")


def answer_of_new_process(
    version: str, assignor: str, document: Document, *, keeps: bool
) -> Answer:
    """Call after `BEFORE` the leader that `keeps` its assignor, or another leader."""
    with running(version, assignor, keeps=keeps) as kafka:
        before = judged_answer(kafka, assignor, BEFORE)
        assert before.verdict is Verdict.ANSWERED
        return judged_answer(kafka, assignor, document)


@pytest.mark.parametrize("version", LINES)
def test_known_fault_an_earlier_rebalance_is_remembered(version: str) -> None:
    """All claims are then old ones, and t:0 does not go back to who had it before."""
    other = answer_of_new_process(version, "sticky", TAKEN_OVER, keeps=False).assignment
    same = answer_of_new_process(version, "sticky", TAKEN_OVER, keeps=True).assignment
    assert other is not None
    assert same is not None
    assert in_order(other) == ours("sticky", TAKEN_OVER)
    assert other.members["c"] == {"t": [0]}
    assert same.members["c"] == {"t": [1]}


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_members_that_left_a_lost_group_receive_partitions(
    version: str, assignor: str
) -> None:
    """Member c claims what it had just before it left the topic."""
    document = left(is_alone=False)
    other = answer_of_new_process(version, assignor, document, keeps=False)
    same = answer_of_new_process(version, assignor, document, keeps=True)
    assert other.assignment is not None
    assert other.assignment.members["c"] == {}
    assert same.verdict is Verdict.INVALID
    assert same.assignment is not None
    assert same.assignment.members["c"] == {"t": [3]}
    alone = left(is_alone=True)
    other = answer_of_new_process(version, assignor, alone, keeps=False)
    same = answer_of_new_process(version, assignor, alone, keeps=True)
    assert other.verdict is not Verdict.ERROR
    assert same.verdict is Verdict.ERROR
    assert "NullPointerException" in (same.reason or "")


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_difference_topics_that_do_not_exist_make_it_mixed(
    version: str, assignor: str
) -> None:
    """The general path gives the lowest numbers away, ours the highest."""
    members = {"a": member(["t"]), "b": member(["t", "gone"], {"t": [0, 1, 2, 3]}, 1)}
    answer = answer_of(version, assignor, rebalance({"t": 4}, members))
    assert answer.assignment is not None
    assert answer.assignment.members["b"] == {"t": [2, 3]}


@pytest.mark.parametrize("version", LINES)
@pytest.mark.parametrize("generation", [1, 2])
def test_known_fault_given_while_another_claimant_has_it(
    version: str, generation: int
) -> None:
    """Member b claims t:0 too, of an older generation than a, or of the same."""
    members = {
        "a": member(["t", "u"], {"t": [0, 1, 2]}, generation),
        "b": member(["t"], {"t": [0]}, 1),
        "c": member(["u"], None, generation),
    }
    document = rebalance({"t": 3, "u": 1}, members)
    answer = answer_of(version, "cooperative-sticky", document)
    assert answer.verdict is Verdict.INVALID
    assert "unrevoked" in (answer.reason or "")


@pytest.mark.parametrize("version", LINES)
def test_withheld_for_a_claimant_that_no_longer_reads_the_topic(version: str) -> None:
    """The leader cannot know that member a has stopped reading t: one round more."""
    members = {"a": member(["u"], {"t": [0]}, 1), "b": member(["t"], None, 1)}
    answer = answer_of(
        version, "cooperative-sticky", rebalance({"t": 1, "u": 1}, members)
    )
    assert answer.verdict is Verdict.ANSWERED
    assert answer.assignment is not None
    assert answer.assignment.members == {"a": {"u": [0]}, "b": {}}


@pytest.mark.parametrize("version", LINES)
@pytest.mark.parametrize("scenario", RESTLESS)
def test_known_fault_with_racks_a_group_may_never_rest(
    version: str, scenario: str
) -> None:
    """Partitions move in every round, and some are withheld."""
    document = SCENARIOS[scenario].steps[0].rebalance
    served = sum(about["partitions"] for about in document["topics"].values())
    given: list[Held] = []
    with running(version, "cooperative-sticky") as kafka:
        for generation in range(3, 53):
            answer = kafka.answer(json.dumps(document).encode())
            assert answer.assignment is not None
            given.append(in_order(answer.assignment))
            members = {
                m: member | {"owned": given[-1][m], "generation": generation}
                for m, member in document["members"].items()
            }
            document = document | {"members": members}
    assert given[-1] == given[-3] != given[-2]
    assert all(
        sum(len(flat(mine)) for mine in held.values()) < served for held in given
    )


@pytest.mark.parametrize("version", LINES)
def test_known_fault_moves_do_not_look_at_racks(version: str) -> None:
    """Kept by ours: see there."""
    where = {"partitions": 3, "racks": [["r"], ["r", "s"], ["r", "s"]]}
    members = {
        "a": member(["t", "u"], {"t": [0, 1, 2]}, 1, rack="r"),
        "b": member(["t"], None, 1, rack="s"),
        "c": member(["u"], None, 1),
    }
    document = rebalance({"t": where, "u": 1}, members)
    answer = answer_of(version, "sticky", document)
    assert answer.assignment is not None
    assert answer.assignment.members["b"] == {"t": [0]}
    assert ours("sticky", document)["b"] == {"t": [0]}
