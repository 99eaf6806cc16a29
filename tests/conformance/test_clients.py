"""Every client that ``make clients`` installs, on the corpus and next to ours.

A client that is not installed fails its tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice

import pytest

from conformance import play
from conformance.clients import (
    Adapter,
    Answer,
    ClientAssignor,
    MissingClientError,
    Patience,
    Verdict,
    all_client_assignors,
    client_assignor,
    judged,
    suspecting,
)
from heuristics import ASSIGNORS
from rebalance import AssignmentDocument, Rebalance, document_of, to_json
from tests.conformance.client_faults import FAULTS
from tests.conformance.corpus.scenes import SCENARIOS
from tests.conformance.fault import Fault
from tests.conformance.jars import INSTANCES, drawn, in_order
from tests.heuristics.routes import instance
from tests.support import last_drawn
from tests.support.shapes import Document, member, rebalance

EVERY = [assignor for assignor in all_client_assignors() if assignor.kind == "adapter"]
SPECS = [assignor.spec for assignor in EVERY]
DEFAULTS = sorted({client_assignor(f"{s.client}@{s.version}").spec for s in EVERY})
SECONDS = 30.0  # a busy machine starts a JVM slowly
ENDLESS_SECONDS = 2.0  # for what is known to hang, once the program runs
TRIES = 20  # of an assignor that differs from run to run
HANGS = [fault for fault in FAULTS if fault.verdict is Verdict.HANG]
SHOWN = [fault for fault in FAULTS if fault.shown_by is not None]

PUBLISHED = {"range": "range", "roundrobin": "round-robin"}
"""Names of published algorithms that leave nothing open, and ours."""

OTHERWISE = {
    "kafka-go/range": "rounds the bounds of ranges, instead of giving the first more",
    "kafka-go/roundrobin": "starts anew with the first member in each topic",
    "sarama/roundrobin": "orders partitions of topics by the text of their names",
}
"""Assignors of these names that do something else."""


@cache
def adapter(spec: str) -> Adapter:
    return Adapter(client_assignor(spec).program(), seconds=SECONDS)


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    for spec in SPECS:
        try:
            adapter(spec).close()
        except MissingClientError:
            continue


def answer_of(assignor: ClientAssignor, document: Document) -> Answer:
    """Send one rebalance and judge the answer."""
    text = json.dumps(document).encode()
    answer = adapter(assignor.spec).answer(text)
    return judged(answer, text, cooperative=assignor.cooperative)


TWO = rebalance({"t": 4}, {"a": member(["t"]), "b": member(["t"])})


@pytest.mark.heavy
@pytest.mark.parametrize("spec", DEFAULTS)
def test_an_installed_client_answers(spec: str) -> None:
    answer = answer_of(client_assignor(spec), TWO)
    assert answer.verdict is Verdict.ANSWERED, answer.reason
    assert answer.assignment is not None
    held = answer.assignment.members
    assert sorted(len(held[name]["t"]) for name in held) == [2, 2]


@pytest.mark.heavy
@pytest.mark.parametrize("spec", SPECS)
def test_the_corpus_is_answered_validly_but_for_known_faults(spec: str) -> None:
    """Play each scenario: claims are the client's own last answers."""
    one = client_assignor(spec)
    unexplained = []
    for scenario in SCENARIOS.values():

        def answer(
            step: Rebalance, name: str = scenario.name
        ) -> AssignmentDocument | None:
            document = json.loads(to_json(step))
            if any(fault.applies_to(one, document) for fault in HANGS):
                return None  # would only take time
            found = answer_of(one, document)
            if found.verdict is Verdict.ANSWERED:
                return found.assignment
            if not any(fault.explains(one, document, found) for fault in FAULTS):
                unexplained.append((name, found.verdict, found.reason))
            return None

        for _ in play(scenario, answer):
            pass
    assert unexplained == []


@pytest.mark.heavy
@pytest.mark.parametrize("fault", SHOWN, ids=lambda fault: fault.name)
def test_a_known_fault_is_shown_by_its_rebalance(fault: Fault) -> None:
    """And only by the versions that are said to have it."""
    assert fault.shown_by is not None
    expected = fault.specs(EVERY)
    shown = set()
    for assignor in EVERY:
        if fault.is_about(assignor):
            hangs = fault in HANGS and assignor.spec in expected
            if hangs:
                assert answer_of(assignor, TWO).verdict is Verdict.ANSWERED
                adapter(assignor.spec).seconds = ENDLESS_SECONDS
                adapter(assignor.spec).patience = suspecting(ENDLESS_SECONDS)
            tries = 1 if assignor.deterministic else TRIES
            answers = (answer_of(assignor, fault.shown_by) for _ in range(tries))
            if any(map(fault.is_seen_in, answers)):
                shown.add(assignor.spec)
            adapter(assignor.spec).seconds = SECONDS
            adapter(assignor.spec).patience = Patience()
    assert shown == expected


def comparable() -> Iterator[ClientAssignor]:
    for assignor in EVERY:
        if (
            assignor.assignor in PUBLISHED
            and f"{assignor.client}/{assignor.assignor}" not in OTHERWISE
        ):
            yield assignor


@pytest.mark.heavy
@pytest.mark.parametrize("spec", [assignor.spec for assignor in comparable()])
def test_range_and_round_robin_are_ours(spec: str) -> None:
    """Without racks and static names, which not every leader passes."""
    one = client_assignor(spec)
    ours = ASSIGNORS[PUBLISHED[one.assignor]]
    compared = 0
    for document in islice(map(plain, drawn()), INSTANCES // 8):
        last_drawn.note_changed(document)
        if any(fault.applies_to(one, document) for fault in FAULTS):
            continue
        answer = adapter(spec).answer(json.dumps(document).encode())
        assert answer.assignment is not None, (document, answer.reason)
        laid_out = instance(document)
        given = document_of(laid_out, ours.assign(laid_out), assignor=one.assignor)
        assert in_order(answer.assignment) == in_order(given), document
        compared += 1
    assert compared > INSTANCES // 50


def plain(document: Document) -> Document:
    """Leave out racks, claims, and static names; give all plain names.

    Java orders names by UTF-16 units, Go and Python by code points.
    """
    wanted = {t for m in document["members"].values() for t in m["subscription"]}
    topics = {
        t: f"t{i:03}" for i, t in enumerate(sorted({*document["topics"], *wanted}))
    }
    return document | {
        "topics": {
            topics[t]: {"partitions": about["partitions"]}
            for t, about in document["topics"].items()
        },
        "members": {
            f"m{i:03}": {"subscription": sorted(topics[t] for t in m["subscription"])}
            for i, m in enumerate(document["members"].values())
        },
    }


STICKY = [assignor.spec for assignor in EVERY if "sticky" in assignor.assignor]
OWNED = {"m1": [1, 4], "m2": [0, 2, 3]}


@pytest.mark.heavy
@pytest.mark.parametrize("spec", [*STICKY, "group-coordinator@4.4.0/uniform"])
def test_what_is_owned_stays(spec: str) -> None:
    """Claims arrive: an assignor without them would not return this assignment."""
    members = {m: member(["t"], {"t": numbers}, 7) for m, numbers in OWNED.items()}
    answer = answer_of(client_assignor(spec), rebalance({"t": 5}, members))
    assert answer.assignment is not None, answer.reason
    given = answer.assignment.members
    assert {m: sorted(given[m]["t"]) for m in given} == OWNED


@pytest.mark.heavy
@pytest.mark.parametrize("spec", SPECS)
def test_without_members_nobody_leads(spec: str) -> None:
    one = client_assignor(spec)
    if one.language != "Java":
        answer = answer_of(one, rebalance({"t": 1}, {}))
        assert answer.verdict is Verdict.ERROR
        assert "without members" in (answer.reason or "")
