"""Stored hangs and crashes, as groups on a real broker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.broker import running_broker
from conformance.findings import definitions_of
from conformance.runs import Finding, family_of
from rebalance import Rebalance, parse_rebalance, rebalance_of
from studies.confirmation import (
    BrokerGroups,
    FaultCase,
    all_cases,
    confirm,
    digest_of,
    fatal_records,
    read_confirmations,
    record_cases,
)
from studies.confirmation.confirm import ATTEMPTS, NOT_REACHED
from studies.confirmation.observation import Observation
from studies.confirmation.replay_plan import (
    ReplayPlan,
    Way,
    broker_names,
    claims_of,
    plan_of,
)

RECORDS = Path(__file__).parents[2] / "docs" / "findings" / "confirmations.jsonl"
TOPICS = {"t": {"partitions": 2}, "u": {"partitions": 1}}
OWNER = {
    "a": {
        "subscription": ["t", "u"],
        "owned": {"t": [0, 1], "u": [0]},
        "generation": 3,
    },
    "b": {"subscription": ["t"]},
}


def rebalance_with(members: dict[str, Any]) -> Rebalance:
    document = {
        "format": "rebalance/1",
        "group": "g",
        "topics": TOPICS,
        "members": members,
    }
    return parse_rebalance(orjson.dumps(document))


def first_of(definition: str, records: tuple[Finding, ...]) -> Finding:
    return next(
        record
        for record in records
        if [found.id for found in definitions_of(record)] == [definition]
    )


def replay_cases() -> list[FaultCase]:
    return [case for case in all_cases() if case.way is not None]


@pytest.mark.heavy
def test_every_hang_and_crash_on_record_has_a_line() -> None:
    """A survey that stores a new one needs a run of ``make confirm``."""
    lines = {
        (
            f"{confirmation.client}@{confirmation.version}/{confirmation.assignor}",
            confirmation.record.digest,
        )
        for confirmation in read_confirmations(RECORDS)
        if confirmation.record is not None
    }
    records = {
        (record.subject.name, digest_of(record.instance)) for record in fatal_records()
    }
    assert records
    assert lines == records


@pytest.mark.heavy
def test_every_hang_and_crash_on_record_has_a_case() -> None:
    cases = {
        (case.client.spec, case.record.digest)
        for case in all_cases()
        if case.record is not None
    }
    for record in fatal_records():
        assert (record.subject.name, digest_of(record.instance)) in cases, (
            record.command
        )


def test_a_record_counts_for_the_finding_of_what_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was shrunk to a group without subscriptions, but is played whole."""
    records = fatal_records()
    drawn = first_of("joiners-crash", records)
    shrunk = first_of("no-subscription", records).shrunk
    record = drawn.model_copy(update={"shrunk": shrunk})
    assert [definition.id for definition in definitions_of(record)] == [
        "no-subscription"
    ]
    monkeypatch.setattr(record_cases, "fatal_records", lambda: (record,))
    played = [case for case in all_cases() if case.record]
    assert [case.finding for case in played] == ["joiners-crash"]


@pytest.mark.parametrize(
    ("change", "way", "real"),
    [
        ({}, Way.OWNER, ("a", "b")),
        ({"b": {"subscription": ["t", "none"]}}, Way.CRAFTED, ("a",)),
        ({"b": {"subscription": []}}, Way.CRAFTED, ("a",)),
        ({"b": {"subscription": ["t"], "rack": "r"}}, Way.CRAFTED, ("a",)),
        (
            {"b": {"subscription": ["t"], "owned": {"t": [0]}, "generation": 3}},
            Way.HANDED_OUT,
            ("a", "b"),
        ),
        (
            {"b": {"subscription": ["t"], "owned": {"t": [0]}, "generation": 2}},
            Way.CRAFTED,
            ("a",),
        ),
        (
            {"b": {"subscription": ["t"], "owned": {"t": [2]}, "generation": 3}},
            Way.CRAFTED,
            ("a",),
        ),
        (
            {"b": {"subscription": ["t"], "owned": {"u": [0]}, "generation": 3}},
            Way.CRAFTED,
            ("a",),
        ),
        (
            {"a": {"subscription": ["t", "u"], "owned": {"t": [0]}, "generation": 3}},
            Way.HANDED_OUT,
            ("a", "b"),
        ),
        (
            {
                "a": {"subscription": ["t"], "owned": {"t": [5]}, "generation": 3},
                "b": {"subscription": ["t"]},
            },
            Way.CRAFTED,
            ("b",),
        ),
        (
            {"a": {"subscription": []}, "b": {"subscription": ["none"]}},
            Way.NO_TOPIC,
            (),
        ),
    ],
)
def test_as_many_members_are_real_as_can_be(
    change: dict[str, Any], way: Way, real: tuple[str, ...]
) -> None:
    instance = rebalance_with(OWNER | change)
    assert plan_of(instance, "librdkafka") == ReplayPlan(way=way, real=real)


def test_only_some_programs_have_static_members() -> None:
    instance = rebalance_with(
        {
            "a": {"subscription": ["t"], "instance_id": "i"},
            "b": {"subscription": ["t"]},
        }
    )
    assert plan_of(instance, "librdkafka") == ReplayPlan(
        way=Way.HANDED_OUT, real=("a", "b")
    )
    assert plan_of(instance, "sarama") == ReplayPlan(way=Way.CRAFTED, real=("b",))


def test_no_member_can_be_real() -> None:
    stale = {"subscription": ["t"], "owned": {"t": [7]}, "generation": 1}
    assert plan_of(rebalance_with({"a": stale}), "librdkafka") is None


def test_claims_have_the_names_of_the_broker() -> None:
    member = rebalance_with(OWNER).members["a"]
    claims = claims_of(member, {"t": "x-0", "u": "x-1"})
    assert claims == (("x-0", (0, 1)), ("x-1", (0,)))


def test_topics_on_the_broker_sort_as_those_of_the_record() -> None:
    members = OWNER | {"b": {"subscription": ["missing"], "owned": {"s": [0]}}}
    names = broker_names(rebalance_with(members), "x")
    assert sorted(names) == ["missing", "s", "t", "u"]
    assert [names[topic] for topic in sorted(names)] == sorted(names.values())


@pytest.mark.parametrize("seen", [1, 3, ATTEMPTS + 1])
def test_a_record_is_played_until_it_is_seen(
    monkeypatch: pytest.MonkeyPatch, seen: int
) -> None:
    """Ties are decided by the order of members, which the broker chooses."""
    calm = Observation(category="no fault", outcome="No member fails.")
    missed = Observation(category=NOT_REACHED, outcome="Not reached: too late.")
    dies = Observation(category="crash", outcome="The leader's process ends.")
    before = [calm, missed, calm, missed, calm, missed]
    outcomes = [*before[: seen - 1], dies]
    module = sys.modules["studies.confirmation.confirm"]
    monkeypatch.setattr(module, "_played", lambda *_: outcomes.pop(0))
    case = next(case for case in replay_cases() if case.expected == "crash")
    found = confirm(case, BrokerGroups("nowhere:1"), broker="none")
    assert found.groups == min(seen, ATTEMPTS)
    assert found.confirmed == (seen <= ATTEMPTS)
    assert found.record == case.record
    assert found.way == case.way


@pytest.fixture(scope="module")
def cluster() -> Iterator[BrokerGroups]:
    with running_broker() as broker:
        yield BrokerGroups(broker.address)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("family", "index", "way", "is_confirmed"),
    [
        ("joiners", 13, Way.OWNER, True),
        ("static", 29, Way.HANDED_OUT, True),
        ("left", 8, Way.CRAFTED, True),
        ("empty", 43, Way.NO_TOPIC, False),
    ],
)
def test_a_record_is_played_in_its_way(
    monkeypatch: pytest.MonkeyPatch,
    cluster: BrokerGroups,
    family: str,
    index: int,
    way: Way,
    is_confirmed: bool,
) -> None:
    """One draw per way, of those that the first group has shown in every run."""
    instance = rebalance_of(family_of(family).first(1, index))
    record = first_of("joiners-crash", fatal_records()).model_copy(
        update={"family": family, "index": index, "step": 0, "instance": instance}
    )
    monkeypatch.setattr(record_cases, "fatal_records", lambda: (record,))
    (case,) = replay_cases()
    assert case.way == way.value
    found = confirm(case, cluster, broker="a broker", seconds=15)
    assert not found.outcome.startswith("Not reached"), found.outcome
    assert found.confirmed is is_confirmed, found.outcome
