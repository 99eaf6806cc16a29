"""Logs of librdkafka's group leaders, which state subscriptions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.broker import Broker
from pipeline.cases import REPORTED, Case
from pipeline.sources.logged_assignment import CUT_OFF
from tests.oracle.plugins.real import Place
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import cases_of, read_path
from tests.pipeline.logged_states import (
    are_in_force,
    check_states,
    copied_segment,
    held,
    read,
    snapshots,
    with_records,
)
from tests.support.waiting import wait_until

RDKAFKA = Path(__file__).parent.parent / "data" / "leader-logs" / "rdkafka.log"
"""What a leader of librdkafka logged; another member came and went."""


def test_a_log_of_librdkafka_has_subscriptions() -> None:
    states = cases_of(read_path(RDKAFKA))
    assert [(state.group_id, state.generation) for state in states] == [
        ("rd g", generation) for generation in (1, 2, 3, 4)
    ]
    assert {state.client_assignor for state in states} == {"cooperative-sticky"}
    assert {state.subscriptions for state in states} == {REPORTED}
    loads = [
        sorted(sum(map(len, a.values())) for a in held(s).values()) for s in states
    ]
    assert loads == [[5], [2, 3], [2, 3], [5]]
    wanted = {
        tuple(member.subscription)
        for state in states
        for member in (state.members or {}).values()
    }
    assert wanted == {("rd-t", "rd-u")}
    times = [state.at or 0 for state in states]
    assert times == sorted(times)
    assert min(times) > 1_700_000_000_000


def test_lines_of_other_clients_and_layouts_in_between() -> None:
    text = RDKAFKA.read_text()
    once = cases_of(read(text))
    other = text.replace("rdkafka#consumer-1", "x#consumer-7").replace("rd g", "h")
    mixed = [
        line
        for both in zip(text.split("\n"), other.split("\n"), strict=True)
        for line in both
    ]
    both = cases_of(read("\n".join(mixed)))
    for group_id in ("rd g", "h"):
        found = [case for case in both if case.group_id == group_id]
        assert [(case.generation, held(case)) for case in found] == [
            (case.generation, held(case)) for case in once
        ]
    python = [
        "2026-11-26 DEBUG app: ASSIGN [rdkafka#consumer-1] [thrd:main]: "
        + line.rpartition("[thrd:main]: ")[2]
        for line in text.split("\n")
    ]
    again = cases_of(read("\n".join(python)))
    assert [(case.at, held(case)) for case in again] == [
        (None, held(case)) for case in once
    ]


def test_a_lost_line_costs_one_assignment() -> None:
    lines = RDKAFKA.read_text().split("\n")
    known = {case.generation: held(case) for case in cases_of(read("\n".join(lines)))}
    at = [n for n, line in enumerate(lines) if "|ASSIGN|" in line and " [" in line]
    assert len(at) > 40
    for lost in at:
        rows = read("\n".join(lines[:lost] + lines[lost + 1 :]))
        sound = [case for case in cases_of(rows) if case.doubt is None]
        found = {case.generation: held(case) for case in sound}
        assert {n: known[n] for n in found} == found
        assert len(found) >= 3


def test_an_assignment_that_counts_more_than_it_lists_is_not_judged() -> None:
    text = """\
%7|1.910|ASSIGN|s#consumer-1| [thrd:main]: Group "g" running range assignor for \
2 member(s) and 1 eligible subscribed topic(s):
%7|1.910|ASSIGN|s#consumer-1| [thrd:main]:  Member "r-1" with 1 owned partition(s) \
and 1 subscribed topic(s):
%7|1.910|ASSIGN|s#consumer-1| [thrd:main]:   t [-1]
%7|1.911|ASSIGN|s#consumer-1| [thrd:main]: Group "g" range assignment for 2 member(s) \
finished in 0.1ms:
%7|1.911|ASSIGN|s#consumer-1| [thrd:main]:  Member "r-1" assigned 2 partition(s):
%7|1.911|ASSIGN|s#consumer-1| [thrd:main]:   t [0]
"""
    (case,) = cases_of(read(text))
    assert (held(case), case.doubt) == ({"r-1": {"t": [0]}}, CUT_OFF)
    before = text[: text.index("%7|1.911|ASSIGN|s#consumer-1| [thrd:main]:  Member")]
    assert [row["reason"] for row in read(before)] == [CUT_OFF]


def test_a_log_with_subscriptions_is_judged_completely(tmp_path: Path) -> None:
    local_audit([RDKAFKA], tmp_path / "out")
    rows = snapshots(tmp_path / "out")
    assert {row["verdict"] for row in rows.values()} == {"valid"}
    assert {row["dec_min_balanced"] for row in rows.values()} == {True}
    assert {row["partition_counts"] for row in rows.values()} == {"lower-bound"}


PROGRAM = """
import sys, confluent_kafka
consumer = confluent_kafka.Consumer({
    "bootstrap.servers": sys.argv[1], "group.id": sys.argv[2],
    "partition.assignment.strategy": "roundrobin", "debug": "cgrp,assignor",
    "heartbeat.interval.ms": 200})
consumer.subscribe([sys.argv[3]])
import threading
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
while not ended.is_set():
    consumer.poll(0.1)
consumer.close()
"""


@contextmanager
def librdkafka(broker: Broker, topic: str, group: str, log: Path) -> Iterator[None]:
    """Run a consumer of librdkafka with its log in a file."""
    command = [sys.executable, "-c", PROGRAM, broker.address, group, topic]
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=file
        ) as process,
    ):
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


@pytest.mark.heavy
def test_logs_of_real_leaders_of_librdkafka_have_the_rebalances_of_the_records(
    broker: Broker, tmp_path: Path
) -> None:
    topic, group = "rd-led-topic", "rd-led-group"
    Place(broker=broker, group=group, topics={topic: 5}).make_topics()
    logs = [tmp_path / "first.log", tmp_path / "second.log"]

    def found() -> list[Case]:
        texts = [log.read_text() for log in logs if log.exists()]
        return cases_of(read(*texts))

    def is_settled(members: int) -> bool:
        last = max(found(), key=lambda case: case.generation or 0, default=None)
        if last is None or len(last.members or ()) != members:
            return False
        return are_in_force(broker, group, last.generation)

    with librdkafka(broker, topic, group, logs[1]):
        wait_until(lambda: is_settled(1))
        with librdkafka(broker, topic, group, logs[0]):
            wait_until(lambda: is_settled(2))
        before = len(found())
        wait_until(lambda: len(found()) > before and is_settled(1))
    segment = copied_segment(broker, tmp_path)
    logged = {case.generation: case for case in found()}
    states = with_records(segment, *logs)
    assert len(states) == len(logged)
    check_states(states, segment, group)
    for state in states:
        wanted = {n: m.subscription for n, m in (state.members or {}).items()}
        assert wanted == {
            n: m.subscription
            for n, m in (logged[state.generation].members or {}).items()
        }
