"""Findings that agree with invalid answers.

Reaches into `oracle.report.known_faults` to try answers of all findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.findings.definitions import all_definitions
from oracle.report.advice import AdviceKind
from oracle.report.known_faults import known_faults
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import BEST, TWICE, even
from tests.support.shapes import Document
from tests.support.wire import TESTS

LEFT: Document = {
    "format": "rebalance/1",
    "group": "g",
    "topics": {"t": {"partitions": 2}, "u": {"partitions": 1}},
    "members": {
        "a": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 2},
        "b": {"subscription": ["t"], "generation": 2},
        "c": {"subscription": ["u"], "owned": {"t": [0]}, "generation": 1},
    },
}
"""The first instance of the finding left-topic-claims."""


def names(*arguments: object) -> list[str]:
    return [fault.finding for fault in known_faults(*arguments)]  # type: ignore[arg-type]


def test_a_finding_agrees_in_client_assignor_rule_and_shape() -> None:
    (fault,) = known_faults(["sarama"], "sticky", ["unsubscribed"], LEFT)
    assert (fault.finding, fault.clients) == ("left-topic-claims", ("sarama",))
    assert (fault.rules, fault.fixed) == (("unsubscribed",), ())
    assert (TESTS.parent / fault.page).is_file()


@pytest.mark.parametrize(
    ("clients", "assignor", "rules", "instance"),
    [
        (["franz-go"], "sticky", ["unsubscribed"], LEFT),
        (["sarama"], "range", ["unsubscribed"], LEFT),
        (["sarama"], "sticky", ["unrevoked"], LEFT),
        (["sarama"], "sticky", ["unsubscribed"], even("g")),
        # No client assigns in the new protocol.
        ([], "uniform", ["unassigned"], LEFT),
    ],
)
def test_a_finding_that_disagrees_in_one_is_not_named(
    clients: list[str], assignor: str, rules: list[str], instance: Document
) -> None:
    assert names(clients, assignor, rules, instance) == []


def test_the_findings_of_any_client_count_if_it_is_unknown() -> None:
    faults = known_faults([], "sticky", ["assigned-twice"], LEFT)
    by_id = {fault.finding: fault for fault in faults}
    assert by_id["double-claims-assigned-twice"].fixed == (("franz-go", "1.21.4"),)
    assert "kafka-clients" in by_id["left-topic-claims"].clients
    assert "librdkafka" not in by_id["left-topic-claims"].clients  # it has no sticky


def test_a_connector_has_the_findings_of_its_client() -> None:
    arguments = ("sticky", ["unsubscribed"], LEFT)
    assert names(["kafka-connect"], *arguments) == names(["kafka-clients"], *arguments)
    assert names(["kafka-connect"], *arguments)


def test_withdrawn_findings_explain_nothing() -> None:
    withdrawn = {d.id for d in all_definitions() if d.status == "withdrawn"}
    assert withdrawn
    found = names([], "cooperative-sticky", ["unassigned", "unsubscribed"], LEFT)
    assert not withdrawn & {*found}


def test_the_finding_is_next_to_the_invalid_answer(tmp_path: Path) -> None:
    audit = Audit()
    for generation, answer in enumerate((TWICE, BEST), start=1):
        instance = even("orders")
        audit.rebalance(instance, {"actual": answer}, generation=generation)
    (row,) = audit.facts(tmp_path / "audit").groups
    finding, _ = row.advised
    assert finding.kind is AdviceKind.FINDING
    assert finding.answer is not None
    assert (finding.answer.generation, finding.answer.rules) == (1, ("assigned-twice",))
    assert row.advice.startswith(
        "the invalid answer of generation 1 may be explained by the finding"
        " double-claims-assigned-twice, if its client is franz-go before 1.21.4"
    )
    block = row.settings[0]
    assert block.steps[0].setting == "docs/findings/double-claims-assigned-twice.md"
    assert block.note == "franz-go is free of it from 1.21.4."


def test_topics_that_a_leader_left_out(tmp_path: Path) -> None:
    instance = {
        "topics": {"t": {"partitions": 2}, "u": {"partitions": 2}},
        "members": {name: {"subscription": ["t", "u"]} for name in "ab"},
    }
    answers = (
        {"a": {"t": [0]}, "b": {"t": [1]}},
        {"a": {"t": [0], "u": [0]}, "b": {"t": [1]}},
    )
    for number, members in enumerate(answers):
        audit = Audit()
        answer = {"format": "assignment/1", "members": members}
        audit.rebalance(even("orders") | instance, {"actual": answer}, generation=1)
        (row,) = audit.facts(tmp_path / str(number)).groups
        kinds = [advice.kind for advice in row.advised]
        assert (AdviceKind.LEFT_OUT in kinds) == (number == 0)
    assert "left u without a reader" not in row.advice
