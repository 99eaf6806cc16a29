"""What reports state of a failing check: the answer, the optimum, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import verify
from conformance import parse_scenario
from conformance.checks import (
    LONGEST,
    Check,
    JunitReport,
    TapReport,
    corpus_checks,
    diagnosis,
)
from conformance.clients import Answer, Verdict
from conformance.runs import (
    FAMILIES,
    Category,
    DrivenRebalance,
    JudgedAnswer,
    Requirement,
    drive,
    stated_optimum,
)
from rebalance import Instance
from solver import Result, Status, solve
from tests.conformance.subjects import Scripted, answered, in_rounds, optimal
from tests.support import amount
from tests.support.shapes import Document, member, rebalance

yaml: Any = pytest.importorskip("yaml")

FAULT = Category.INVALID
OWNED = rebalance({"t": 3}, {"a": member("t", {"t": [0, 1, 2]}, 4), "b": member("t")})
MANY = rebalance({"t": 4_000}, {f"member-{n:04}": member(["t"]) for n in range(1_000)})


def check_of(document: Document, answer: Answer, *, cooperative: bool = False) -> Check:
    subject = Scripted(lambda _: answer)
    outcome = drive(subject, document, cooperative=cooperative)
    return Check(part="fresh", name="0/0/0", outcome=outcome)


def blocks(check: Check, *, longest: int | None = LONGEST) -> tuple[str, str]:
    """Return the YAML block of TAP, and the text of JUnit."""
    lines: list[str] = []
    requirement = Requirement.OPTIMUM
    tap = TapReport(
        write=lines.append,
        requirement=requirement,
        command=lambda *_: "again",
        longest=longest,
    )
    tap.add("me", check)
    written: list[bytes] = []
    junit = JunitReport(
        write=written.append, requirement=requirement, command=lambda *_: "again"
    )
    junit.add("me", check)
    junit.end()
    block = "".join(lines).partition("  ---\n")[2].removesuffix("  ...\n")
    return block, written[0].decode()


def test_an_answer_is_next_to_the_optimum() -> None:
    heaped = answered({"a": {"t": [0, 1, 2]}, "b": {}})
    found = diagnosis(check_of(OWNED, heaped), "again")
    assert list(found) == [
        *("result", "reasons", "command", "rebalance", "answer", "optimum"),
    ]
    assert found["result"] == "kip54-unbalanced"
    assert found["command"] == "again"
    assert found["rebalance"] == OWNED
    assert found["answer"]["members"] == {"a": {"t": [0, 1, 2]}, "b": {}}
    assert found["answer"]["figures"]["loads"] == [3, 0]
    assert found["answer"]["figures"]["moves"] == 0
    assert found["optimum"]["status"] == "optimal"
    assert found["optimum"]["figures"]["loads"] == [2, 1]
    assert found["optimum"]["figures"]["moves"] == 1
    assert {m: len(held["t"]) for m, held in found["optimum"]["members"].items()} == {
        "a": 2,
        "b": 1,
    }


def test_a_stated_optimum_is_what_the_judge_finds_of_it() -> None:
    for seed in amount.seeds(200):
        for name in ("claims", "chains"):
            document = FAMILIES[name].first(seed, 0)
            stated = stated_optimum(document)
            case = verify.case_of(document)
            verdict = verify.judge_case(case, {"members": stated["members"]})
            assert verdict["verdict"] == "valid"
            assert stated["figures"] == verdict["figures"]
            assert stated["figures"]["dec_min_balanced"] is True
            answer = optimal(document)
            assert check_of(document, answer).result == "optimal"
            assert answer.assignment is not None
            other = verify.judge_case(case, {"members": answer.assignment.members})
            assert stated["figures"]["moves"] == other["figures"]["moves"]


def test_an_optimum_that_is_not_proved_states_its_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The exact core proves all of them; this result is made of a proved one."""

    def stopped(instance: Instance) -> Result:
        result = solve(instance)
        (stickiness,) = result.objectives
        return replace(
            result,
            status=Status.FEASIBLE,
            objectives=(replace(stickiness, bound=0),),
            reason="time limit of 1 s",
        )

    monkeypatch.setattr("conformance.runs.optimum.solve", stopped)
    stated = stated_optimum(OWNED)
    assert stated["status"] == "feasible"
    assert stated["objectives"] == [{"of": "stickiness", "value": 1, "bound": 0}]
    assert stated["reason"] == "time limit of 1 s"
    assert stated["figures"]["moves"] == 1
    block, xml = blocks(check_of(OWNED, answered({"a": {}, "b": {}})))
    assert yaml.safe_load(block)["optimum"] == stated
    assert '"bound": 0' in xml


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(verdict=Verdict.CRASH, reason="SIGSEGV"), {"error": "SIGSEGV"}),
        (
            Answer(verdict=Verdict.INVALID, reason="not JSON", line="hello"),
            {"error": "not JSON", "line": "hello"},
        ),
    ],
)
def test_without_an_assignment_the_answer_is_what_there_was(
    answer: Answer, expected: Document
) -> None:
    found = diagnosis(check_of(OWNED, answer), "again")
    assert found["answer"] == expected
    assert found["optimum"]["figures"]["moves"] == 1


def test_of_several_rounds_the_last_answer_is_stated() -> None:
    """Moves are counted from the claims of the first round, as those of the optimum."""

    def swapped(document: Document) -> Answer:
        return answered({"a": {"t": [0]}, "b": {"t": [1, 2]}})

    outcome = drive(Scripted(in_rounds(swapped)), OWNED, cooperative=True)
    found = diagnosis(Check(part="p", name="n", outcome=outcome), "again")
    assert found["result"] == "needless-moves"
    assert found["rounds"] == 2
    assert found["rebalance"] == OWNED
    assert found["answer"]["members"] == {"a": {"t": [0]}, "b": {"t": [1, 2]}}
    assert found["answer"]["figures"]["moves"] == 2
    assert found["optimum"]["figures"]["moves"] == 1


def test_long_documents_are_cut_and_the_command_has_all() -> None:
    heaped = {"member-0000": {"t": list(range(1_000))}}
    rest = {f"member-{n:04}": {"t": [999 + n]} for n in range(1, 1_000)}
    left = {"member-0999": {"t": list(range(1_998, 4_000))}}
    check = check_of(MANY, answered({**heaped, **rest, **left}))
    found = diagnosis(check, "again")
    assert found["cut"] == "the command shows the omitted part"
    assert found["rebalance"]["omitted"]["members"] == 1_000
    for key in ("answer", "optimum"):
        shown = found[key]
        assert len(json.dumps(shown["members"])) <= LONGEST + 2_000
        assert len(shown["members"]) + shown.get("omitted_members", 0) == 1_000
        assert len(shown["figures"]["loads"]) + shown["omitted_loads"] == 1_000
    block, xml = blocks(check)
    assert len(block) < 6 * LONGEST
    assert len(xml) < 6 * LONGEST
    full = diagnosis(check, "again", longest=None)
    assert "cut" not in full
    assert full["rebalance"] == MANY
    assert len(full["answer"]["members"]) == len(full["optimum"]["members"]) == 1_000
    assert yaml.safe_load(blocks(check, longest=None)[0]) == json.loads(
        json.dumps(full)
    )


def test_a_long_line_of_a_program_is_cut() -> None:
    answer = Answer(verdict=Verdict.INVALID, reason="not JSON", line="x" * 10_000)
    found = diagnosis(check_of(OWNED, answer), "again")
    assert found["answer"]["line"] == "x" * LONGEST + " … (10,000 characters)"
    assert "cut" in found


@pytest.mark.parametrize(
    "word",
    ["\U0001f600", "a: b", "- ", "\x7f\x85\u2028\u2029\ufeff", "\x00\x1b", "'\"\\/"],
)
def test_bug_blocks_are_yaml_whatever_a_program_says(word: str) -> None:
    """Once, a character beyond the basic plane was a pair of surrogates."""
    answer = Answer(verdict=Verdict.INVALID, reason=word, line=word)
    one = JudgedAnswer(rebalance=OWNED, answer=answer)
    outcome = DrivenRebalance(rounds=(one,), category=FAULT, reason=word)
    block, _ = blocks(Check(part="p", name="n", outcome=outcome))
    entries = yaml.safe_load(block)
    assert entries["reasons"] == [word]
    assert entries["answer"] == {"error": word, "line": word}
    for line in block.splitlines():
        key, _, value = line.strip().partition(": ")
        assert json.loads(value) == entries[key]


def test_a_lone_surrogate_is_replaced() -> None:
    answer = Answer(verdict=Verdict.CRASH, reason="\udc80")
    one = JudgedAnswer(rebalance=OWNED, answer=answer)
    outcome = DrivenRebalance(rounds=(one,), category=FAULT, reason="\udc80")
    block, xml = blocks(Check(part="p", name="n", outcome=outcome))
    assert yaml.safe_load(block)["reasons"] == ["\ufffd"]
    assert "\udc80" not in xml


def test_what_the_corpus_expects_is_stated_with_the_optimum() -> None:
    expect = [{"name": "one", "of": ["everyone"], "loads_within": [1, 2]}]
    step = {"name": "0", "rebalance": OWNED, "expect": expect}
    scenario = parse_scenario(
        json.dumps(
            {
                "format": "scenario/1",
                "name": "s",
                "source": "x",
                "tells": "y",
                "steps": [step],
            }
        )
    )
    heaped = answered({"a": {"t": [0, 1, 2]}, "b": {}})
    (check,) = corpus_checks(Scripted(lambda _: heaped), [scenario])
    found = diagnosis(check, "again")
    assert found["result"] == "unmet"
    assert found["optimum"]["figures"]["loads"] == [2, 1]
