"""Kafka's own assignors, run as they are, beside ours and before the judge.

What these need is fetched and compiled when it is not there; where that cannot be
done they fail.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count, islice

import pytest

from conformance.clients import (
    LINES,
    Adapter,
    Answer,
    KafkaClients,
    Verdict,
    install,
    judged,
)
from heuristics import Assignor
from heuristics.range import RangeAssignor
from heuristics.round_robin import RoundRobinAssignor
from heuristics.server_range import ServerRangeAssignor
from heuristics.uniform import UniformAssignor
from rebalance import AssignmentDocument, document_of
from tests.heuristics.routes import instance
from tests.shapes import Document, rebalance
from tests.strategies import LARGER, SMALL, seeded_rebalance

pytestmark = pytest.mark.slow

INSTANCES = int(os.environ.get("ORACLE_INSTANCES", "2000")) * 2 // 5
NEWEST = next(iter(LINES))
RUNS = [(line.version, name) for line in LINES.values() for name in line.assignors]
STICKY = [run for run in RUNS if "sticky" in run[1]]
SERVER = [run for run in RUNS if "server" in run[1]]
PUBLISHED: dict[str, Assignor] = {
    "range": RangeAssignor(),
    "roundrobin": RoundRobinAssignor(),
    "server-range": ServerRangeAssignor(),
    "server-uniform": UniformAssignor(),  # where the adapter has all go by name
}
"""Kafka's names of the assignors that leave nothing open, and ours."""
COMPARED = [run for run in RUNS if run[1] in PUBLISHED]


@cache
def clients(version: str) -> KafkaClients:
    return install(LINES[version])


def running(version: str, assignor: str) -> Adapter:
    return Adapter(clients(version).program(assignor))


def asked(version: str, assignor: str, document: Document) -> Answer:
    """Ask once, and let the judge see the answer."""
    text = json.dumps(document).encode()
    with running(version, assignor) as kafka:
        cooperative = assignor == "cooperative-sticky"
        return judged(kafka.answer(text), text, cooperative=cooperative)


def drawn() -> Iterator[Document]:
    """Draw rebalances of at least one member: no coordinator asks without one."""
    each = (
        seeded_rebalance(seed, LARGER if seed % 10 == 0 else SMALL) for seed in count()
    )
    return islice((one for one in each if one["members"]), INSTANCES)


def with_topics_there(document: Document) -> Document:
    """Let nobody want a topic without partitions.

    Of members that differ in such topics alone, Kafka's uniform takes the path of mixed
    subscriptions and ours that of equal ones.
    """
    there = {t for t, about in document["topics"].items() if about["partitions"]}
    members = {
        m: about | {"subscription": [t for t in about["subscription"] if t in there]}
        for m, about in document["members"].items()
    }
    return document | {"members": members}


def well_behaved(document: Document) -> Document:
    """Leave out what trips Kafka's sticky assignors up (`test_known_faults` below).

    Who wants nothing is not there, and a claim is of a partition that exists, is
    wanted, and is claimed by nobody else.
    """
    claimed: set[tuple[str, int]] = set()
    members: Document = {}
    for member, about in document["members"].items():
        if about["subscription"]:
            members[member] = about
            if "owned" in about:
                owned = _own_claims(document, about, claimed)
                members[member] = about | {"owned": owned}
    return document | {"members": members}


def _has_members(document: Document) -> bool:
    return bool(document["members"])


def _own_claims(
    document: Document, about: Document, claimed: set[tuple[str, int]]
) -> Document:
    owned: Document = {}
    for topic, numbers in about["owned"].items():
        size = document["topics"].get(topic, {"partitions": 0})["partitions"]
        if topic in about["subscription"]:
            free = {n for n in numbers if n < size and (topic, n) not in claimed}
            claimed |= {(topic, n) for n in free}
            owned |= {topic: sorted(free)} if free else {}
    return owned


@pytest.mark.parametrize(("version", "assignor"), COMPARED)
def test_ours_are_kafkas(version: str, assignor: str) -> None:
    ours = PUBLISHED[assignor]
    is_uniform = assignor == "server-uniform"
    documents = map(with_topics_there, drawn()) if is_uniform else drawn()
    with running(version, assignor) as kafka:
        for document in documents:
            answer = kafka.answer(json.dumps(document).encode())
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)
            assert answer.assignment is not None
            laid_out = instance(document)
            given = document_of(laid_out, ours.assign(laid_out), assignor=assignor)
            assert in_order(answer.assignment) == in_order(given), document


def in_order(assignment: AssignmentDocument) -> dict[str, dict[str, list[int]]]:
    return {
        member: {topic: sorted(numbers) for topic, numbers in held.items()}
        for member, held in assignment.members.items()
    }


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_sticky_is_valid_where_members_behave(version: str, assignor: str) -> None:
    check_valid(version, assignor, filter(_has_members, map(well_behaved, drawn())))


@pytest.mark.parametrize(("version", "assignor"), SERVER)
def test_the_server_is_valid_whatever_is_claimed(version: str, assignor: str) -> None:
    check_valid(version, assignor, drawn())


def check_valid(version: str, assignor: str, documents: Iterable[Document]) -> None:
    """Judge a quarter of them: the judge takes longer than Kafka does."""
    cooperative = assignor == "cooperative-sticky"
    with running(version, assignor) as kafka:
        for document in islice(documents, INSTANCES // 4):
            text = json.dumps(document).encode()
            answer = judged(kafka.answer(text), text, cooperative=cooperative)
            assert answer.verdict is Verdict.ANSWERED, (document, answer.reason)


# Claims arrive as the client sends them.

TWO: dict[str, Document] = {
    "m1": {"subscription": ["t"]},
    "m2": {"subscription": ["t"]},
}


@pytest.mark.parametrize(("version", "assignor"), [*STICKY, (NEWEST, "server-uniform")])
def test_what_is_owned_stays(version: str, assignor: str) -> None:
    """Nobody who deals anew would give these out this way."""
    held = {"m1": [1, 4], "m2": [0, 2, 3]}
    members = {
        m: TWO[m] | {"owned": {"t": numbers}, "generation": 7}
        for m, numbers in held.items()
    }
    answer = asked(version, assignor, rebalance({"t": {"partitions": 5}}, members))
    assert answer.assignment is not None
    given = answer.assignment.members
    assert {m: sorted(given[m]["t"]) for m in given} == held


@pytest.mark.parametrize(("version", "assignor"), [*STICKY, (NEWEST, "server-uniform")])
@pytest.mark.parametrize("newer", ["m1", "m2"])
def test_the_newer_generation_owns(version: str, assignor: str, newer: str) -> None:
    members = {
        m: TWO[m] | {"owned": {"t": [0]}, "generation": 2 if m == newer else 1}
        for m in TWO
    }
    answer = asked(version, assignor, rebalance({"t": {"partitions": 1}}, members))
    assert answer.assignment is not None
    assert answer.assignment.members[newer] == {"t": [0]}


@pytest.mark.parametrize(("version", "assignor"), RUNS)
def test_racks_and_instance_ids_are_told(version: str, assignor: str) -> None:
    """Range and the server's range put static members first; the client's see racks."""
    members = {
        "m1": {"subscription": ["t"], "rack": "b"},
        "m2": {"subscription": ["t"], "rack": "a", "instance_id": "static"},
    }
    plain = asked(version, assignor, rebalance({"t": {"partitions": 2}}, members))
    racks = {"t": {"partitions": 2, "racks": [["b"], ["a"]]}}
    racked = asked(version, assignor, rebalance(racks, members))
    assert plain.assignment is not None
    assert racked.assignment is not None
    if assignor in {"range", "roundrobin", "server-range"}:
        assert plain.assignment.members["m2"] == {"t": [0]}
    if assignor in {"range", "sticky", "cooperative-sticky"}:
        assert racked.assignment.members["m2"] == {"t": [1]}


# What is wrong with Kafka's own: should one of these fail, Kafka has mended it.


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_who_wants_nothing_is_given_some(
    version: str, assignor: str
) -> None:
    """Members that want nothing count as subscribed like the first who wants some."""
    members: Document = {"m1": {"subscription": []}, "m2": {"subscription": ["t"]}}
    answer = asked(version, assignor, rebalance({"t": {"partitions": 2}}, members))
    assert answer.verdict is Verdict.INVALID
    assert "unsubscribed" in (answer.reason or "")


@pytest.mark.parametrize(("version", "assignor"), STICKY)
def test_known_fault_partitions_that_do_not_exist(version: str, assignor: str) -> None:
    """With mixed subscriptions a claim on a number that does not exist is believed."""
    members: Document = {
        "m1": {"subscription": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
        "m2": {"subscription": ["u"]},
    }
    topics = {"t": {"partitions": 1}, "u": {"partitions": 1}}
    answer = asked(version, assignor, rebalance(topics, members))
    assert answer.verdict is Verdict.INVALID


@pytest.mark.parametrize("version", LINES)
def test_known_fault_two_claims_of_one_generation(version: str) -> None:
    """One of the two is given what the other has not given up yet."""
    members: Document = {
        m: TWO[m] | {"owned": {"t": [0, 1]}, "generation": 1} for m in TWO
    }
    members["m3"] = {"subscription": ["u"]}
    topics = {"t": {"partitions": 2}, "u": {"partitions": 1}}
    document = rebalance(topics, members)
    answer = asked(version, "cooperative-sticky", document)
    assert answer.verdict is Verdict.INVALID
    assert "unrevoked" in (answer.reason or "")


@pytest.mark.parametrize(
    ("version", "assignor"), [run for run in RUNS if run not in SERVER]
)
def test_without_members(version: str, assignor: str) -> None:
    """No coordinator asks this; range alone has an answer, ours all do."""
    answer = asked(version, assignor, rebalance({"t": {"partitions": 1}}, {}))
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
