"""The documents in docs/documents.md match the readers and writers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import verify
from conformance.runs import Category, drive, parse_finding, parse_run
from oracle.explanation import explain
from solver import STICKY, solve
from tests.conformance.subjects import Scripted, answered
from tests.support.shapes import Document, member, rebalance
from verify import columns_of
from verify.policy.brute_force import settle_policy

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "documents.md").read_text()
SHOWN: list[Any] = [
    json.loads(text) for text in re.findall(r"```(?:json)?\n({.*?)```", PAGE, re.DOTALL)
]
INSTANCE = rebalance(
    {"t": {"partitions": 5, "lag": [60, 50, 40, 35, 30]}},
    {"a": member(["t"], {"t": [0, 1]}), "b": member(["t"]), "c": member(["t"])},
)


def shown(*keys: str) -> Document:
    """Return the one document shown that has these fields."""
    (found,) = [document for document in SHOWN if all(key in document for key in keys)]
    return dict(found)


def test_documents_are_read() -> None:
    formats = [document["format"] for document in SHOWN if "format" in document]
    once = ["explanation/1", "finding/1", "rebalance/1", "run/1", "verdict/1"]
    assert sorted(formats) == ["assignment/1"] * 2 + once
    for document in SHOWN:
        read = {
            "rebalance/1": verify.read_rebalance,
            "assignment/1": verify.read_assignment,
        }.get(document.get("format"))
        assert read is None or read(json.dumps(document)) == document


def test_a_finding_states_what_the_judge_finds() -> None:
    (finding,) = [
        document for document in SHOWN if document.get("format") == "finding/1"
    ]
    parse_finding(json.dumps(finding))
    (answer,) = finding["rounds"]
    outcome = drive(
        Scripted(lambda _: answered(answer["members"])), finding["instance"]
    )
    assert outcome.category.value == finding["category"]
    assert outcome.figures == finding["figures"]
    assert outcome.reason == finding["reason"]
    assert outcome.needless_moves == finding["needless_moves"]
    assert verify.judge(finding["instance"], finding["expected"])["proved"]["dec_min"]


def test_counts_of_a_run_are_read() -> None:
    (counts,) = [document for document in SHOWN if document.get("format") == "run/1"]
    run = parse_run(json.dumps(counts))
    assert list(run.outcomes) == [category.value for category in Category]
    assert sum(run.outcomes.values()) == run.rebalances


def test_an_explanation_is_what_the_command_writes() -> None:
    (printed,) = [
        document for document in SHOWN if document.get("format") == "explanation/1"
    ]
    claims = {"a": member(["t"], {"t": [0]}), "b": member(["t"], {"t": [1]})}
    instance = rebalance({"t": 3}, claims, group="orders")
    given = {"format": "assignment/1", "members": {"a": {"t": [1, 2]}, "b": {"t": [0]}}}
    assert explain(instance, given, STICKY, solve).to_document() == printed


def test_a_policy_is_judged_as_shown() -> None:
    answer = shown("format", "policy", "objectives")
    verdict = verify.judge(INSTANCE, answer)
    assert verdict["verdict"] == "valid"
    assert verdict["evidence"] == {}
    printed = next(
        document for document in SHOWN if "balance_met" in str(document.get("policy"))
    )
    assert {name: verdict[name] for name in printed} == printed
    case = verify.case_of(INSTANCE)
    columns = columns_of(case, answer["members"])
    settled = settle_policy(case, columns, answer, complete=True)
    assert settled == shown("feasible")


def test_a_wrong_term_is_reported_as_shown() -> None:
    answer = shown("format", "policy", "objectives")
    answer["objectives"][0]["proof"]["terms"][0]["bound"] = 81
    (level, _) = verify.judge(INSTANCE, answer)["objectives"]
    evidence = json.dumps(level["evidence"])
    assert f"`{evidence}`" in PAGE


def test_all_evidence_is_listed() -> None:
    source = "".join(
        path.read_text() for path in Path(verify.__file__).parent.rglob("*.py")
    )
    names = set(re.findall(r'evidence\["([a-z_0-9]+)"\]|"evidence": \{"(\w+)"', source))
    for name in {first or other for first, other in names} | {"status", "balance"}:
        assert f"`{name}`" in PAGE, name
