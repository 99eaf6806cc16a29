"""Hangs and crashes with real consumers on a real broker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from conformance.broker import running_broker
from conformance.clients import Adapter, Verdict, client_assignor, suspecting
from rebalance import OutsideError
from studies.confirmation import (
    CASES,
    BrokerGroups,
    Confirmation,
    FaultCase,
    confirm,
    read_confirmations,
    write_confirmations,
)
from studies.confirmation.confirm import NOT_REACHED
from studies.confirmation.histories import BEFORE, ENDLESS_TOPICS, JOINERS
from studies.confirmation.observation import Observation, death_of
from tests.conformance.client_faults import FAULTS
from tests.support.shapes import Document

STUCK = 8.0
RECORDS = Path(__file__).parents[2] / "docs" / "findings" / "confirmations.jsonl"
KNOWN = Confirmation(
    finding="f",
    client="c",
    version="1",
    assignor="sticky",
    cluster="Apache Kafka 4.3.1 broker",
    members="all real",
    history=("a starts.",),
    expected="hang",
    outcome="The leader does not return.",
    confirmed=True,
    date="2026-11-23",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[BrokerGroups]:
    with running_broker() as broker:
        yield BrokerGroups(broker.address)


def case_of(name: str) -> FaultCase:
    return next(case for case in CASES if case.name == name)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "sticky-endless kafka-clients@4.4.0/sticky",
        "double-claims-panic franz-go@1.15.4/sticky",
        "double-claims-panic franz-go@1.22.2/sticky",
        "unrevoked-double-claims franz-go@1.15.4/cooperative-sticky",
    ],
)
def test_real_consumers_show_the_fault(cluster: BrokerGroups, name: str) -> None:
    found = confirm(case_of(name), cluster, broker="a broker", seconds=STUCK)
    assert found.confirmed, found.outcome


@pytest.mark.nightly
def test_a_history_that_cannot_be_played_is_not_confirmed(
    cluster: BrokerGroups,
) -> None:
    def play(_group: object) -> None:
        raise OutsideError("topic t is assigned otherwise")

    case = case_of("sticky-endless kafka-clients@4.4.0/sticky")
    broken = replace(case, history=replace(case.history, play=play))
    found = confirm(broken, cluster, broker="a broker", seconds=1)
    assert not found.confirmed
    assert found.outcome == "Not reached: topic t is assigned otherwise."


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ("kafka-clients/sticky", Verdict.HANG),
        ("kafka-python@2.0.6/sticky", Verdict.HANG),
        ("kafka-python@3.0.12/sticky", Verdict.ANSWERED),
    ],
)
def test_adapters_agree_with_the_history(spec: str, verdict: Verdict) -> None:
    """The claims that the history leads to are those that adapters answer."""
    program, patience = client_assignor(spec).program(), suspecting(5)
    with Adapter(program, seconds=5, patience=patience) as adapter:
        claims: dict[str, dict[str, list[int]]] = {}
        for count in range(1, len(BEFORE) + 1):
            members = dict(list(BEFORE.items())[:count])
            answer = adapter.answer(rebalance_of(members, claims, count))
            assert answer.assignment is not None
            claims = answer.assignment.members
        assert sorted(claims["A"]["t"]) == [2, 3, 4]
        last = adapter.answer(rebalance_of({**BEFORE, **JOINERS}, claims, 9))
    assert last.verdict is verdict


def rebalance_of(
    members: dict[str, str],
    claims: dict[str, dict[str, list[int]]],
    generation: int,
) -> bytes:
    document: Document = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {t: {"partitions": size} for t, size in ENDLESS_TOPICS.items()},
        "members": {m: {"subscription": list(topics)} for m, topics in members.items()},
    }
    for name, held in claims.items():
        member = document["members"][name]
        member["owned"] = {topic: list(numbers) for topic, numbers in held.items()}
        member["generation"] = generation
    return orjson.dumps(document)


def test_every_known_hang_and_crash_has_a_case() -> None:
    cases = {(case.client.client, case.client.version) for case in CASES}
    for fault in FAULTS:
        if fault.verdict in {Verdict.HANG, Verdict.CRASH} and fault.shown_by:
            client = fault.about.partition("/")[0]
            for version in fault.versions.split():
                assert (client, version) in cases, fault.name


def test_records_are_of_cases(tmp_path: Path) -> None:
    records = read_confirmations(RECORDS)
    names = {case.name for case in CASES}
    assert records
    for record in records:
        who = f"{record.client}@{record.version}/{record.assignor}"
        assert any(name.startswith(f"{record.finding} {who}") for name in names)
    write_confirmations(tmp_path / "copy", records)
    assert (tmp_path / "copy").read_bytes() == RECORDS.read_bytes()


def test_a_later_record_replaces_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "records.jsonl"
    other = KNOWN.model_copy(update={"version": "2"})
    write_confirmations(path, [other, KNOWN])
    later = KNOWN.model_copy(update={"confirmed": False})
    write_confirmations(path, [later])
    assert read_confirmations(path) == [later, other]


@pytest.mark.parametrize("line", ["[]", "{}", '{"format": "confirmation/2"}', "x"])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(line)
    with pytest.raises(OutsideError, match=r"records\.jsonl:1"):
        read_confirmations(path)


@pytest.mark.parametrize(
    ("cause", "category", "words"),
    [
        ("SIGSEGV: last words", "crash", "SIGSEGV"),
        ("exit code 70: KafkaException: x", "crash", "exit code 70"),
        ("panic: y\nexit code 2: goroutine 1", "crash", "exit code 2, panic: y"),
        ("exit code 1: Traceback", "unclear", "exit code 1"),
        ("exit code 0", "unclear", "exit code 0"),
    ],
)
def test_a_program_that_fails_on_its_own_accuses_no_client(
    cause: str, category: str, words: str
) -> None:
    outcome = f"The leader's process ends with {words}."
    assert death_of(cause) == Observation(category=category, outcome=outcome)


def test_a_state_that_is_not_reached_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a client assigns in one order or the other is not an answer."""
    missed = Observation(category=NOT_REACHED, outcome="Not reached: t is another's.")
    hangs = Observation(category="hang", outcome="The leader does not return.")
    case = case_of("sticky-endless sarama@1.61.1/sticky")
    for seen, outcome in ([missed, missed, hangs], hangs), ([missed] * 5, missed):
        left = list(seen)
        monkeypatch.setattr(
            sys.modules["studies.confirmation.confirm"],
            "_played",
            lambda *_, left=left: left.pop(0),
        )
        record = confirm(case, BrokerGroups("nowhere:1"), broker="none")
        assert record.outcome == outcome.outcome
        assert record.confirmed == (outcome is hangs)
        assert not left
