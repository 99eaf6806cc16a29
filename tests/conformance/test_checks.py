"""Checks: subjects with a known fault have exactly the expected results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from conformance import Scenario, parse_scenario
from conformance.checks import (
    CORPUS,
    MOST_HANGS,
    Check,
    GaveUpError,
    algorithms,
    corpus_checks,
    family_checks,
    until_hanging,
)
from conformance.clients import Answer, Verdict
from conformance.runs import FAMILIES, Requirement
from heuristics import ASSIGNORS
from rebalance import instance_of, parse_rebalance
from tests.conformance.subjects import (
    Scripted,
    answered,
    failed,
    heuristic,
    in_rounds,
    optimal,
)
from tests.support.shapes import Document, member, rebalance

Reply = Callable[[Document], Answer]
EAGER = ("range", "sticky")
DRAWN = ("fresh", "churn", "claims", "left", "chains")


def results(checks: Iterable[Check]) -> Counter[str]:
    return Counter(check.result for check in checks)


def findings(checks: Iterable[Check], requirement: Requirement) -> list[str]:
    return [
        f"{check.part} {check.name}: {check.reasons}"
        for check in checks
        if not check.passes(requirement)
    ]


def drawn(reply: Reply, *names: str, cooperative: bool = False) -> list[Check]:
    subject = Scripted(reply)
    return [
        check
        for name in names
        for check in family_checks(
            subject, FAMILIES[name], seed=1, count=3, cooperative=cooperative
        )
    ]


def as_it_stands(document: Document) -> Answer:
    """Members keep what they claim; only sensible where nobody has to get anything."""
    members = document["members"]
    return answered({m: about.get("owned", {}) for m, about in members.items()})


def heaped(document: Document) -> Answer:
    """The first subscriber of a topic gets all of it."""
    held: dict[str, dict[str, list[int]]] = {m: {} for m in document["members"]}
    for topic, about in document["topics"].items():
        for m, entry in sorted(document["members"].items()):
            if topic in entry["subscription"]:
                held[m][topic] = list(range(about["partitions"]))
                break
    return answered(held)


def lost(document: Document) -> Answer:
    return answered({m: {} for m in document["members"]})


def unsubscribed(document: Document) -> Answer:
    numbers = {t: list(range(o["partitions"])) for t, o in document["topics"].items()}
    first = min(document["members"])
    return answered({m: numbers if m == first else {} for m in document["members"]})


def scenario(*steps: Document) -> Scenario:
    listed = [{"name": str(i)} | step for i, step in enumerate(steps)]
    document = {"format": "scenario/1", "name": "s", "source": "", "tells": ""}
    return parse_scenario(json.dumps(document | {"steps": listed}))


TWO = rebalance({"t": 2}, {"a": member(["t"]), "b": member(["t"])})
OWNED = rebalance(
    {"t": 2}, {"a": member(["t"], {"t": [0]}), "b": member(["t"], {"t": [1]})}
)
CHAIN = rebalance(
    {"t": 2, "u": 1, "v": 1},
    {
        "a": member(["t"], {"t": [0, 1]}),
        "b": member(["t", "u"], {"u": [0]}),
        "c": member(["u", "v"], {"v": [0]}),
        "d": member(["v"], {}),
    },
)
SWAPPED = answered({"a": {"t": [1]}, "b": {"t": [0]}})


def to_and_fro(document: Document) -> Answer:
    """In every round, one of two members gives up what it was given in the last."""
    owner = "a" if document["members"]["a"].get("owned") else "b"
    given = {"a": {}, "b": {"t": [1]}} if owner == "a" else {"a": {"t": [0]}, "b": {}}
    return answered(given)


def first_check(
    reply: Reply, document: Document, *, cooperative: bool = False
) -> Check:
    steps = scenario({"rebalance": document})
    (check,) = corpus_checks(Scripted(reply), [steps], cooperative=cooperative)
    return check


@pytest.mark.parametrize(
    ("reply", "document", "result", "met"),
    [
        (lambda _: failed(Verdict.HANG, "no answer"), TWO, "hang", ""),
        (lambda _: failed(Verdict.CRASH, "SIGSEGV"), TWO, "crash", ""),
        (lambda _: failed(Verdict.ERROR, "Oops"), TWO, "error", ""),
        (lambda _: failed(Verdict.INVALID, "no JSON"), TWO, "invalid", ""),
        (lost, TWO, "invalid", ""),
        (unsubscribed, CHAIN, "invalid", ""),
        (heaped, TWO, "kip54-unbalanced", "valid"),
        (as_it_stands, CHAIN, "unbalanced", "valid kip54"),
        (lambda _: SWAPPED, OWNED, "needless-moves", "valid kip54"),
        (optimal, CHAIN, "optimal", "valid kip54 optimum"),
    ],
)
def test_a_fault_has_its_result(
    reply: Reply, document: Document, result: str, met: str
) -> None:
    check = first_check(reply, document)
    assert check.result == result
    passed = [
        requirement.value for requirement in Requirement if check.passes(requirement)
    ]
    assert " ".join(passed) == met
    assert bool(check.reasons) == (result != "optimal")


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (lambda _: SWAPPED, "unrevoked"),
        (to_and_fro, "restless"),
        (in_rounds(lambda _: SWAPPED), "needless-moves"),
        (in_rounds(optimal), "optimal"),
    ],
)
def test_rounds_are_played_to_the_end(reply: Reply, result: str) -> None:
    assert first_check(reply, OWNED, cooperative=True).result == result


@pytest.mark.heavy
def test_the_optimum_meets_everything() -> None:
    checks = list(corpus_checks(Scripted(optimal), algorithm="optimum"))
    assert len(checks) > 60
    assert findings(checks, Requirement.OPTIMUM) == []
    rounds = corpus_checks(Scripted(in_rounds(optimal)), cooperative=True)
    assert findings(rounds, Requirement.VALID) == []
    assert findings(drawn(optimal, *FAMILIES), Requirement.OPTIMUM) == []


@pytest.mark.heavy
@pytest.mark.parametrize("name", EAGER)
def test_our_assignors_are_what_they_are_called(name: str) -> None:
    subject = Scripted(heuristic(name))
    checks = list(corpus_checks(subject, algorithm=name))
    assert findings(checks, Requirement.VALID) == []
    assert findings(drawn(heuristic(name), *DRAWN), Requirement.VALID) == []


@pytest.mark.heavy
def test_another_assignor_is_distinguished_from_the_one_it_claims_to_be() -> None:
    checks = list(corpus_checks(Scripted(heuristic("range")), algorithm="sticky"))
    assert results(checks)["unmet"] > 3
    unmet = [check for check in checks if check.result == "unmet"]
    assert all(not check.passes(Requirement.VALID) for check in unmet)
    assert any("kept" in reason for check in unmet for reason in check.reasons)


@pytest.mark.heavy
def test_an_expected_refusal_is_no_finding() -> None:
    assignor = ASSIGNORS["constrained-sticky"]

    def reply(document: Document) -> Answer:
        refused = assignor.refuses(instance_of(parse_rebalance(json.dumps(document))))
        if refused is None:
            return heuristic(assignor.name)(document)
        return failed(Verdict.ERROR, refused)

    expecting = list(corpus_checks(Scripted(reply), algorithm=assignor.name))
    assert results(expecting)["refused"] > 0
    refusals = [check for check in expecting if check.result == "refused"]
    assert all(check.passes(Requirement.OPTIMUM) for check in refusals)
    assert all(check.reasons == () for check in refusals)
    plain = results(corpus_checks(Scripted(reply)))
    assert plain["refused"] == 0
    assert plain["error"] >= len(refusals)


def test_an_answer_where_a_refusal_is_expected() -> None:
    refusing = {"name": "refuses", "of": ["constrained-sticky"], "refused": True}
    steps = scenario({"rebalance": TWO, "expect": [refusing]})
    subject = Scripted(optimal)
    (check,) = corpus_checks(subject, [steps], algorithm="constrained-sticky")
    assert check.result == "unmet"
    assert check.reasons == ("refuses: answered, expected to refuse",)


def test_steps_go_on_from_the_last_answer() -> None:
    subject = Scripted(heaped)
    broken = TWO | {"topics": {"t": {"partitions": -1}}}
    unreadable = {"rebalance": broken, "unreadable": "$.topics.t.partitions"}
    steps = scenario({"rebalance": TWO}, unreadable, {"rebalance": TWO})
    names = [check.name for check in corpus_checks(subject, [steps])]
    assert names == ["s: 0", "s: 2"]
    fresh, later = subject.received
    assert "owned" not in fresh["members"]["a"]
    assert later["members"]["a"] == {
        "subscription": ["t"],
        "owned": {"t": [0, 1]},
        "generation": 2,
    }


def test_after_a_failure_a_step_is_as_written() -> None:
    subject = Scripted(lambda _: failed(Verdict.CRASH, "SIGSEGV"))
    steps = scenario({"rebalance": TWO}, {"rebalance": TWO})
    assert results(corpus_checks(subject, [steps])) == {"crash": 2}
    assert all("owned" not in document["members"]["a"] for document in subject.received)


def round_of(number: int, **expected: Any) -> Document:
    about = {"name": "r", "of": ["everyone"], "round": number} | expected
    return {"rebalance": OWNED, "expect": [about]}


def test_rounds_have_expectations_of_their_own() -> None:
    first = scenario(round_of(1, figures={"withheld": 2}))
    wrong = scenario(round_of(1, figures={"withheld": 1}))
    last = scenario(round_of(2, assignment={"a": {"t": [1]}, "b": {"t": [0]}}))
    never = scenario(round_of(9, assignment={}))

    def played(steps: Scenario, *, cooperative: bool) -> tuple[str, ...]:
        subject = Scripted(in_rounds(lambda _: SWAPPED))
        (check,) = corpus_checks(subject, [steps], cooperative=cooperative)
        return check.unmet

    for steps in (first, last, never):
        assert played(steps, cooperative=True) == ()
    assert played(wrong, cooperative=True) == ("r: withheld 2, expected 1",)


def test_churn_goes_on_from_the_last_answer_until_a_fault() -> None:
    churn = FAMILIES["churn"]
    names = [check.name for check in drawn(optimal, "churn")]
    assert names == [f"1/{i}/{step}" for i in range(3) for step in range(churn.steps)]
    assert [check.name for check in drawn(lost, "churn")] == ["1/0/0", "1/1/0", "1/2/0"]


def test_a_subject_that_hangs_is_given_up() -> None:
    subject = Scripted(lambda _: failed(Verdict.HANG, "no answer in 1 s"))
    seen: list[Check] = []
    with pytest.raises(GaveUpError, match="no answer 3 times in a row"):
        seen.extend(until_hanging(corpus_checks(subject)))
    assert len(subject.received) == MOST_HANGS


def test_one_hang_now_and_then_ends_nothing() -> None:
    turns = iter(range(10_000))

    def sometimes(document: Document) -> Answer:
        return failed(Verdict.HANG, "") if next(turns) % 3 else optimal(document)

    checks = list(until_hanging(corpus_checks(Scripted(sometimes))))
    assert results(checks)["hang"] > len(checks) / 2


@pytest.mark.heavy
def test_algorithms_are_those_of_the_corpus() -> None:
    assert {*ASSIGNORS, "optimum"} == set(algorithms())


def test_a_finding_states_its_rounds() -> None:
    check = first_check(lost, OWNED)
    document = check.to_document("me", Requirement.VALID)
    assert document == {
        "format": "check/1",
        "subject": "me",
        "part": CORPUS,
        "check": "s: 0",
        "result": "invalid",
        "passed": False,
        "reasons": ["rule unassigned, topic t, partition 0"],
        "rounds": [
            {
                "rebalance": document["rounds"][0]["rebalance"],
                "members": {"a": {}, "b": {}},
            }
        ],
    }
    assert "rounds" not in first_check(optimal, OWNED).to_document(
        "me", Requirement.OPTIMUM
    )
