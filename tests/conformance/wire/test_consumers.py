"""Real consumers as leaders; their verdicts equal those of their adapters."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import orjson
import pytest

from conformance.clients import (
    Adapter,
    Answer,
    ClientAssignor,
    UnknownClientError,
    Verdict,
    client_assignor,
    judged,
    suspecting,
)
from conformance.wire import (
    Wire,
    aiokafka,
    kafka_python,
    librdkafka,
    newest_generation,
    wire_consumer,
)
from rebalance import OutsideError, parse_rebalance
from tests.conformance.corpus.scenes import SCENARIOS
from tests.conformance.wire.scripts import TINY, WHOLE, held, script
from tests.support.amount import INSTANCES, seeds
from tests.support.shapes import rebalance
from tests.support.strategies import seeded_rebalance


def readable_steps() -> Iterator[bytes]:
    for scenario in SCENARIOS.values():
        for step in scenario.steps:
            if step.unreadable is None:
                yield orjson.dumps(step.rebalance)


def drawn(among: range) -> list[bytes]:
    return [orjson.dumps(seeded_rebalance(seed)) for seed in among]


@pytest.mark.heavy
@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
def test_librdkafka_answers_the_corpus(assignor: str) -> None:
    with Wire(librdkafka(assignor)) as wire:
        for document in [*readable_steps(), *drawn(range(40))]:
            answer = judged(wire.answer(document), document)
            assert answer.verdict is Verdict.ANSWERED, (answer.reason, document)


@pytest.mark.heavy
def test_a_crash_costs_one_instance() -> None:
    """librdkafka's cooperative leader divides by the members that subscribe."""
    nobody = orjson.dumps(
        rebalance({"t": {"partitions": 1}}, {"a": {"subscription": []}})
    )
    with Wire(librdkafka("cooperative-sticky")) as wire:
        for _ in range(2):
            answer = wire.answer(nobody)
            assert answer.verdict is Verdict.CRASH
            assert (answer.reason or "").startswith("SIG")
            assert held(wire.answer(TINY)) is not None


@pytest.mark.heavy
def test_a_consumer_that_does_not_join() -> None:
    with (
        Wire(script("raise SystemExit('no such option')")) as wire,
        pytest.raises(OutsideError, match="script does not join: no such option"),
    ):
        wire.answer(TINY)
    with (
        Wire(script("import time; time.sleep(60)"), start_seconds=0.3) as wire,
        pytest.raises(OutsideError, match=r"no consumer joined in 0\.3 s"),
    ):
        wire.answer(TINY)
    consumer = replace(librdkafka("range"), assignor="sticky")
    with (
        Wire(consumer, start_seconds=3) as wire,
        pytest.raises(OutsideError, match="it offers range, not sticky"),
    ):
        wire.answer(TINY)


def test_an_outside_consumer() -> None:
    consumer = librdkafka("roundrobin")
    with Wire(start_seconds=20) as wire:
        assert wire.name == "wire"
        command = consumer.command(wire.address, wire.group, wire.topic)
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            assert wire.wait_for_consumer() == "roundrobin"
            assert held(wire.answer(TINY)) == {"a": {"t": [0, 2]}, "b": {"t": [1]}}
            process.kill()
            process.wait()


def test_instances_that_no_leader_receives() -> None:
    with Wire(start_seconds=0.1) as wire:
        nobody = wire.answer(orjson.dumps(rebalance({"t": {"partitions": 1}}, {})))
        assert held(nobody) == {}
        assert wire.answer(b"{}").verdict is Verdict.ERROR


@pytest.mark.heavy
def test_the_server_stops_by_itself() -> None:
    before = set(threading.enumerate())
    wire = Wire(librdkafka("range"), idle_seconds=0.5)
    assert held(wire.answer(TINY)) == WHOLE
    deadline = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(threading.enumerate()) - before
    assert held(wire.answer(TINY)) == WHOLE  # and starts again
    wire.close()


@pytest.mark.heavy
def test_kafka_python_leads() -> None:
    with Wire(kafka_python("range")) as wire:
        assert held(wire.answer(TINY)) == WHOLE


def test_aiokafka_leads() -> None:
    with Wire(aiokafka("range")) as wire:
        assert held(wire.answer(TINY)) == WHOLE


def led(count: int) -> list[bytes]:
    """Return documents with members, those without a known generation first.

    kafka-clients' leader remembers the newest generation that it has seen, and then
    ignores claims of an unknown one; its adapter has a new leader for each document.
    """
    documents = [*islice(readable_steps(), 0, None, STRIDE), *drawn(seeds(count))]
    led = [document for document in documents if orjson.loads(document)["members"]]
    return sorted(
        led, key=lambda document: newest_generation(parse_rebalance(document)) >= 0
    )


ALL = ("range", "roundrobin", "sticky", "cooperative-sticky")
DRAWN = {
    "kafka-clients": (300, ALL),
    "franz-go": (300, ALL),
    "sarama": (300, ALL),
    "kafka-go": (300, ("range", "roundrobin", "rack-affinity")),
    "aiokafka": (100, ALL[:3]),
    "kafka-python": (20, ALL),  # ten instances per second
    "kafkajs": (20, ("roundrobin",)),  # two instances per second
    "platformatic-kafka": (20, ("roundrobin", "cooperative-sticky")),
}
"""Random rebalances per assignor in a nightly run, and the assignors."""
ATTEMPTS = 100
"""An outcome of one answer in eight is missing after so many once in 600,000 runs."""
STRIDE = 1 if INSTANCES >= 50_000 else 6
"""Every so many steps of the corpus are compared; at night, all of them."""
LARGE = 20_000
"""Bytes. Sticky assignors of Python need seconds for 2,100 members, 140,000 bytes."""
LIMITS = {False: 5.0, True: 120.0}
"""Seconds until an answer counts as a hang, by whether the document is large.

Some sticky assignors never end: each such rebalance costs twice the limit."""


@pytest.mark.heavy(minutes=1.5)
@pytest.mark.parametrize(
    ("client_name", "assignor"),
    [
        (client, assignor)
        for client, (_, assignors) in DRAWN.items()
        for assignor in assignors
    ],
)
def test_verdicts_equal_those_of_the_adapter(client_name: str, assignor: str) -> None:
    check_verdicts(f"{client_name}/{assignor}", DRAWN[client_name][0])


@pytest.mark.nightly(minutes=3)
@pytest.mark.parametrize(
    "spec",
    [
        *(f"sarama@1.43.3/{assignor}" for assignor in ALL[:3]),
        *(f"kafka-go@0.4.42/{assignor}" for assignor in DRAWN["kafka-go"][1]),
        "platformatic-kafka@1.31.0/roundrobin",
    ],
)
def test_verdicts_of_earlier_releases(spec: str) -> None:
    check_verdicts(spec, 20)


def sort_alike(names: Iterable[str]) -> bool:
    """Return whether names have one order, by code points and in Java and JavaScript.

    Names on the wire sort as the originals by code points; an adapter passes the
    originals. Names that Kafka accepts are ASCII.
    """
    listed = sorted(names)
    return listed == sorted(listed, key=lambda name: name.encode("utf-16-be"))


def test_bug_names_beyond_the_basic_plane_have_two_orders() -> None:
    assert sort_alike(["a", "b", "\u00e9", "\ufffd"])
    assert not sort_alike(["\ufffd", "\U0001f600"])


def ask(program: Wire | Adapter, client: ClientAssignor, document: bytes) -> Answer:
    answer = program.answer(document)
    return judged(answer, document, cooperative=client.cooperative)


def gives(
    program: Wire | Adapter, client: ClientAssignor, document: bytes, verdict: Verdict
) -> bool:
    """Return whether a program whose ties are random can get a verdict."""
    answers = (ask(program, client, document) for _ in range(ATTEMPTS))
    return any(answer.verdict is verdict for answer in answers)


@pytest.mark.heavy
def test_bug_random_ties_give_both_verdicts() -> None:
    """Sarama: to two claims of a generation, one answer in eight is invalid."""
    client = client_assignor("sarama/cooperative-sticky")
    owned = {"c1": {"t": [0, 1]}, "c2": {"t": [0, 2]}, "c3": {}}
    members = {
        name: {"subscription": ["t"], "owned": held, "generation": 1}
        for name, held in owned.items()
    }
    document = orjson.dumps(rebalance({"t": {"partitions": 3}}, members))
    with Adapter(client.program()) as adapter:
        for verdict in (Verdict.ANSWERED, Verdict.INVALID):
            assert gives(adapter, client, document, verdict)


def check_verdicts(spec: str, most: int) -> None:
    """Compare a consumer with its adapter on at most so many random rebalances.

    If the assignor is deterministic, their answers are equal, too; otherwise, both can
    get the verdict of the other.
    """
    client = client_assignor(spec)
    documents = led(max(3, most * INSTANCES // 50_000))
    for is_large, seconds in LIMITS.items():
        with (
            Wire(wire_consumer(client), seconds=seconds) as wire,
            Adapter(client.program(), seconds=seconds) as adapter,
        ):
            wire.patience = adapter.patience = suspecting(seconds)
            for document in documents:
                if (len(document) > LARGE) is not is_large:
                    continue
                ours = ask(wire, client, document)
                theirs = ask(adapter, client, document)
                if ours.verdict is not theirs.verdict:
                    assert not client.deterministic, (ours, theirs, document)
                    assert gives(wire, client, document, theirs.verdict), theirs
                    assert gives(adapter, client, document, ours.verdict), ours
                topics = orjson.loads(document)["topics"]
                if client.deterministic and sort_alike(topics):
                    assert held(ours) == held(theirs), document


@pytest.mark.heavy
@pytest.mark.parametrize("spec", ["librdkafka/range", "kafka-go/range", "sarama/range"])
@pytest.mark.parametrize("settles", [True, False])
def test_consumers_after_a_rehearsal(spec: str, settles: bool) -> None:
    """kafka-go joins again over a new connection, which is no lost one."""
    consumer = wire_consumer(client_assignor(spec))
    with Wire(replace(consumer, rehearses=True, settles=settles)) as wire:
        answers = [held(wire.answer(TINY)) for _ in range(3)]
    first = {"a": {"t": [0]}, "b": {"t": [1, 2]}} if "kafka-go" in spec else WHOLE
    assert answers == [first] * 3


ORDERED = rebalance(
    {
        "a": {"partitions": 3},
        "b": {"partitions": 4},
        "c": {"partitions": 2},
        "d": {"partitions": 1},
    },
    {
        "m0": {"subscription": ["d", "b", "a", "c"]},
        "m1": {"subscription": ["a", "b", "c", "d"]},
    },
)


@pytest.mark.heavy
def test_bug_platformatic_sorts_the_topics_of_its_leader() -> None:
    """It does so as it requests their metadata; its adapter did not."""
    client = client_assignor("platformatic-kafka/roundrobin")
    document = orjson.dumps(ORDERED)
    expected = {
        "m0": {"a": [0, 2], "b": [1, 3], "c": [1]},
        "m1": {"a": [1], "b": [0, 2], "c": [0], "d": [0]},
    }
    with Wire(wire_consumer(client)) as wire, Adapter(client.program()) as adapter:
        assert held(wire.answer(document)) == expected
        assert held(adapter.answer(document)) == expected


def test_clients_without_a_consumer() -> None:
    """The assignors of the group coordinator are those of the broker."""
    with pytest.raises(UnknownClientError, match=r"coordinator.* has no consumer"):
        wire_consumer(client_assignor("group-coordinator/range"))
    assert wire_consumer(client_assignor("librdkafka")).name.startswith("librdkafka@")
