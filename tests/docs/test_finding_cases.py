"""Each affected version has an instance, whose stored answer the judge confirms."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

import verify
from conformance.findings import (
    Definition,
    all_definitions,
    definition,
    findings_by_definition,
    stored_records,
)
from conformance.runs import proved_optimum
from rebalance import plain_of
from studies.findings.affected import Affected, affected_by
from studies.findings.evidence import confirmations_of, reproducers_of
from studies.findings.finding_facts import TRACKERS, FindingFacts, finding_facts
from studies.findings.pages import TRIALS, read_trials, render
from studies.findings.shown_case import ShownCase, alike, case_of, cases_of

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "findings"
FAILURES = {"hang", "crash", "error"}


@cache
def trials() -> tuple[Any, ...]:
    return read_trials(FOLDER / TRIALS)


@cache
def cases(name: str) -> tuple[ShownCase, ...]:
    return cases_of(definition(name), [t for t in trials() if t.finding == name])


@cache
def facts(name: str) -> FindingFacts:
    """Return the facts of a finding without random records."""
    return finding_facts(
        definition(name),
        [t for t in trials() if t.finding == name],
        [],
        reproducers=reproducers_of(FOLDER, name),
        confirmations=confirmations_of(FOLDER, name),
    )


def hit(definition: Definition) -> tuple[Affected, ...]:
    return affected_by([t for t in trials() if t.finding == definition.id], [])[0]


SHOWN = [case for definition in all_definitions() for case in cases(definition.id)]
IDS = [
    f"{definition.id} {case.owner}"
    for definition in all_definitions()
    for case in cases(definition.id)
]


def test_every_affected_version_has_a_case() -> None:
    """Of the records as well: what only a random rebalance shows has no example."""
    recorded = findings_by_definition(stored_records().findings)
    for described in all_definitions():
        mine = [t for t in trials() if t.finding == described.id]
        affected, _ = affected_by(mine, recorded[described.id])
        wanted = {f"{a.client}@{version}" for a in affected for version in a.assignors}
        assert {case.owner for case in cases(described.id)} == wanted, described.id


@pytest.mark.parametrize("case", SHOWN, ids=IDS)
def test_stored_answers_are_as_wrong_as_the_page_states(case: ShownCase) -> None:
    assert case.rounds
    last = case.rounds[-1]
    if case.category in FAILURES:
        assert last.members is None
        return
    answer = {"format": "assignment/1", "members": last.members}
    verdict = verify.judge(last.instance, answer, cooperative=case.cooperative)
    broken = {violation["rule"] for violation in verdict["violations"]}
    if case.category in {"invalid", "unrevoked"}:
        assert case.detail in broken
    else:
        assert case.category in {"restless", "needless-moves"}
        assert not broken
    if case.category == "needless-moves":
        least = proved_optimum(case.instance)["figures"]["moves"]
        assert verdict["figures"]["moves"] - least == case.needless_moves


@pytest.mark.parametrize("case", SHOWN, ids=IDS)
def test_expected_results_are_valid_and_proved(case: ShownCase) -> None:
    assert case.expected is not None
    stated = plain_of(case.expected)
    verdict = verify.judge(case.instance, stated)
    assert verdict["verdict"] == "valid"
    assert verdict["proved"]["dec_min"]
    assert verdict["proved"]["stickiness"]
    optimum = proved_optimum(case.instance)
    assert verdict["figures"] == optimum["figures"]


def test_the_files_of_instances_have_what_the_pages_show() -> None:
    for described in all_definitions():
        for case, *_ in alike(cases(described.id)):
            if not case.before:
                path = FOLDER / "instances" / facts(described.id).instance_file(case)
                assert orjson.loads(path.read_bytes()) == case.instance


@pytest.mark.parametrize(
    ("definition", "owner", "example"),
    [
        ("left-topic-claims", "kafka-clients@4.4.0", 0),
        ("left-topic-claims", "librdkafka@2.16.1", 4),
        ("missing-partition-claims", "kafka-clients@4.4.0", 0),
        ("missing-partition-claims", "librdkafka@2.16.1", 0),
    ],
)
def test_bug_a_degenerate_instance_stood_for_all_clients(
    definition: str, owner: str, example: int
) -> None:
    """Pages showed the smallest example, to which Java's answer is optimal."""
    (case,) = (case for case in cases(definition) if case.owner == owner)
    assert case.example == example
    (found,) = (d for d in all_definitions() if d.id == definition)
    first = case_of(found, [t for t in trials() if t.finding == definition], [])
    assert first.owner == "kafka-clients@4.4.0"


def test_bug_two_claims_of_one_generation_led() -> None:
    """The page begins with claims of different generations, seen in a real group."""
    first, *_ = cases("unrevoked-double-claims")
    members = first.instance["members"].values()
    assert len({member["generation"] for member in members}) == 2
    played = confirmations_of(FOLDER, "unrevoked-double-claims")
    seen = {
        confirmation.client
        for confirmation in played
        if confirmation.expected == "unrevoked"
    }
    confirmed = [confirmation for confirmation in played if confirmation.confirmed]
    assert seen == {"franz-go", "kafka-clients", "kafka-python"}
    assert all(confirmation.members == "all real" for confirmation in confirmed)
    assert any(
        "of generation 2, b claims p:0 of generation 1" in confirmation.outcome
        for confirmation in confirmed
        if confirmation.expected == "unrevoked"
    )


def version_key(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def test_a_fixed_client_has_versions_on_both_sides() -> None:
    fixed = 0
    for described in all_definitions():
        for status in described.statuses:
            if status.first_fixed is None:
                continue
            fixed += 1
            (mine,) = (a for a in hit(described) if a.client == status.client)
            border = version_key(status.first_fixed)
            assert all(version_key(version) < border for version in mine.assignors)
            assert any(version_key(version) >= border for version in mine.spared)
    assert fixed == 2


def status_on_page(name: str) -> str:
    page = render("finding", finding=facts(name))
    (status,) = re.findall(r"^\| status \| (.*) \|$", page, flags=re.MULTILINE)
    return str(status)


def test_statuses() -> None:
    words = {
        definition.id: status_on_page(definition.id) for definition in all_definitions()
    }
    assert words["double-claims-panic"] == "fixed in franz-go 1.21.4"
    assert words["double-claims-assigned-twice"] == "fixed in franz-go 1.21.4"
    assert words["missing-topic"] == "open; by design for sarama"
    assert words["no-subscription"] == "withdrawn"
    assert words["leader-topics-only"] == "open"
    threads = {
        definition.id: [thread.url for thread in definition.threads]
        for definition in all_definitions()
    }
    assert "https://github.com/tulios/kafkajs/pull/635" in threads["leader-topics-only"]
    assert (
        "https://github.com/aio-libs/aiokafka/pull/1185"
        in threads["missing-generation"]
    )


def test_the_readme_states_how_many_there_are() -> None:
    kept = [
        definition
        for definition in all_definitions()
        if definition.status != "withdrawn"
    ]
    clients = {a.client for definition in kept for a in hit(definition)}
    fixed = [definition for definition in kept if definition.status == "fixed"]
    assert (len(kept), len(clients), len(fixed)) == (15, 9, 2)
    text = " ".join((FOLDER.parents[1] / "README.md").read_text("utf-8").split())
    assert "[15 findings](docs/findings/README.md) about nine of ten clients" in text
    assert "two of them fixed since" in text


def test_every_search_has_a_date() -> None:
    assert {definition.searched.date for definition in all_definitions()} == {
        "2026-11-26"
    }


def reports(definition: Definition) -> dict[str, str]:
    return {
        report.affected.client: render("report", definition=definition, report=report)
        for report in facts(definition.id).reports
    }


@pytest.mark.parametrize(
    "definition", all_definitions(), ids=lambda definition: definition.id
)
def test_open_findings_have_a_report_per_client(definition: Definition) -> None:
    affected = {a.client for a in hit(definition)}
    made = reports(definition)
    assert set(made) == {
        name for name in affected if definition.status_of(name) == "open"
    }
    tested = {test.record.client for test in reproducers_of(FOLDER, definition.id)}
    for client, text in made.items():
        assert client in TRACKERS
        for part in ("## Versions", "## Minimal test", "## Actual result"):
            assert part in text
        assert ("finding: " in text) == (client in tested)
        assert "````" not in text  # the fence around it
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert not re.search(r"\]\((?!https://)", prose), "a link that only we have"


def test_a_fix_of_one_line_is_suggested() -> None:
    text = reports(definition("roundrobin-key-error"))["kafka-python"]
    _, _, fix = text.partition("## Suggested fix")
    assert "\n_group_instance_id, member_id = next(member_iter)\n" in fix


def test_a_double_claim_is_what_was_not_revoked() -> None:
    """Not merely a shape of an instance in which another claim is passed over."""
    double = definition("unrevoked-double-claims")
    findings = findings_by_definition(stored_records().findings)[double.id]
    cases = [
        (finding.shrunk or finding).model_dump(include={"instance", "rounds"})
        for finding in findings
    ]
    for trial in trials():
        if trial.finding == double.id and trial.shows:
            instance = double.examples[trial.example].documents()[-1]
            cases.append(trial.model_dump(include={"rounds"}) | {"instance": instance})
    assert cases
    for case in cases:
        broken = [v for answer in case["rounds"] for v in answer["violations"] or ()]
        assert broken
        assert all(len(claimants(case["instance"], v)) > 1 for v in broken)


def claimants(instance: dict[str, Any], violation: dict[str, Any]) -> list[str]:
    topic, number = violation["topic"], violation["partition"]
    return [
        name
        for name, member in instance["members"].items()
        if number in (member.get("owned") or {}).get(topic, ())
    ]
