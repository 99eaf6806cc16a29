"""Kafka's own assignors, unmodified, compared with ours and judged.

Missing jars are fetched and compiled; if this is impossible, the tests fail.
"""

from __future__ import annotations

import json
from itertools import islice

import pytest

from conformance.clients import Adapter, Verdict
from heuristics import ASSIGNORS, Assignor
from rebalance import document_of
from tests.conformance.jars import (
    INSTANCES,
    NEWEST,
    RUNS,
    SERVER,
    STICKY,
    answer_of,
    clients,
    drawn,
    in_order,
    judged_answer,
    running,
    with_topics_there,
)
from tests.heuristics.routes import instance
from tests.support import last_drawn
from tests.support.shapes import Document, rebalance

pytestmark = pytest.mark.heavy

PUBLISHED: dict[str, Assignor] = {
    "range": ASSIGNORS["range"],
    "roundrobin": ASSIGNORS["round-robin"],
    "server-range": ASSIGNORS["server-range"],
    "server-uniform": ASSIGNORS["uniform"],  # where the adapter has all go by name
}
"""Kafka's names of the assignors that leave nothing open, and ours."""
COMPARED = [run for run in RUNS if run[1] in PUBLISHED]


@pytest.mark.parametrize(("version", "assignor"), COMPARED)
def test_ours_are_kafkas(version: str, assignor: str) -> None:
    """Use a quarter of the examples for versions before the newest."""
    ours = PUBLISHED[assignor]
    is_uniform = assignor == "server-uniform"
    count = INSTANCES if version == NEWEST else INSTANCES // 4
    documents = map(with_topics_there, drawn()) if is_uniform else drawn()
    with running(version, assignor) as kafka:
        for document in islice(documents, count):
            last_drawn.note_changed(document)
            answer = kafka.answer(json.dumps(document).encode())
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)
            assert answer.assignment is not None
            laid_out = instance(document)
            given = document_of(laid_out, ours.assign(laid_out), assignor=assignor)
            assert in_order(answer.assignment) == in_order(given), document


@pytest.mark.parametrize(("version", "assignor"), SERVER)
def test_the_server_is_valid_whatever_is_claimed(version: str, assignor: str) -> None:
    """Use a quarter of the examples, because the judge is slower than Kafka."""
    with running(version, assignor) as kafka:
        for document in islice(drawn(), INSTANCES // 4):
            answer = judged_answer(kafka, assignor, document)
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)


# Claims arrive as the client sends them.

TWO: dict[str, Document] = {
    "m1": {"subscription": ["t"]},
    "m2": {"subscription": ["t"]},
}


@pytest.mark.parametrize(("version", "assignor"), [*STICKY, (NEWEST, "server-uniform")])
@pytest.mark.parametrize("newer", ["m1", "m2"])
def test_the_newer_generation_owns(version: str, assignor: str, newer: str) -> None:
    members = {
        m: TWO[m] | {"owned": {"t": [0]}, "generation": 2 if m == newer else 1}
        for m in TWO
    }
    answer = answer_of(version, assignor, rebalance({"t": {"partitions": 1}}, members))
    assert answer.assignment is not None
    assert answer.assignment.members[newer] == {"t": [0]}


@pytest.mark.parametrize(("version", "assignor"), RUNS)
def test_racks_and_instance_ids_are_sent(version: str, assignor: str) -> None:
    """Range and the server's range put static members first; the client's see racks."""
    members = {
        "m1": {"subscription": ["t"], "rack": "b"},
        "m2": {"subscription": ["t"], "rack": "a", "instance_id": "static"},
    }
    plain = answer_of(version, assignor, rebalance({"t": {"partitions": 2}}, members))
    racks = {"t": {"partitions": 2, "racks": [["b"], ["a"]]}}
    racked = answer_of(version, assignor, rebalance(racks, members))
    assert plain.assignment is not None
    assert racked.assignment is not None
    if assignor in {"range", "roundrobin", "server-range"}:
        assert plain.assignment.members["m2"] == {"t": [0]}
    if assignor in {"range", "sticky", "cooperative-sticky"}:
        assert racked.assignment.members["m2"] == {"t": [1]}


@pytest.mark.parametrize(
    ("version", "assignor"), [run for run in RUNS if run not in SERVER]
)
def test_without_members(version: str, assignor: str) -> None:
    """No coordinator asks this; range alone has an answer, ours all do."""
    answer = answer_of(version, assignor, rebalance({"t": {"partitions": 1}}, {}))
    answers = assignor == "range"
    assert answer.verdict is (Verdict.ANSWERED if answers else Verdict.ERROR)


def test_too_little_memory_is_a_crash() -> None:
    topics = {"t": {"partitions": 400_000}}
    text = json.dumps(rebalance(topics, {"m": {"subscription": ["t"]}})).encode()
    program = clients(NEWEST).program("range", megabytes=16)
    with Adapter(program, seconds=60) as kafka:
        died = kafka.answer(text)
        assert (died.verdict, died.assignment) == (Verdict.CRASH, None)
        assert "OutOfMemoryError" in (died.reason or "")
        small = json.dumps(rebalance({"t": {"partitions": 1}}, TWO)).encode()
        assert kafka.answer(small).verdict is Verdict.ANSWERED
