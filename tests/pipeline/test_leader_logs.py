"""Logs of Java's group leaders, as a source of states without subscriptions."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from conformance.broker import Broker, console_command
from pipeline.cases import ALL_LISTED, NOT_REPORTED, REPORTED, SNAPSHOT, Case, unpack
from pipeline.describe.record_states import with_record_states
from pipeline.describe.snapshots import BY_LEADER
from pipeline.groups import read_group
from pipeline.groups.local_files import LocalFiles
from pipeline.history.stream import ORDER, histories
from pipeline.sources.find import find_sources
from pipeline.sources.leader_logs import NO_GROUP, OF_STREAMS, rows_of_leader_logs
from pipeline.sources.lines import Line
from pipeline.sources.logged_assignment import CUT_OFF
from pipeline.sources.rows import CASE, REPEATED, SET_ASIDE, UNREADABLE, Row
from pipeline.sources.source_kind import SourceKind
from rebalance import SourceError
from tests.pipeline.dumped_groups import BROKER, segment_of
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import read_path, read_paths
from tests.pipeline.test_log_segments import NAME
from tests.pipeline.test_sources import LOG, jsonl
from tests.pipeline.test_spark_rows import by_spark, comparable
from tests.plugins.real import Place
from tests.waiting import wait_until

Held = dict[str, list[int]]


def message(generation: int, group: str = "g", **held: Held) -> str:
    """What a leader logs, in the form of kafka-clients 4.3."""
    members = (
        f"{name}-1=Assignment(partitions=[{', '.join(_names(one))}])"
        for name, one in held.items()
    )
    return (
        f"[Consumer clientId=a, groupId={group}] Finished assignment for group at "
        f"generation {generation}: {{{', '.join(members)}}}"
    )


def _names(held: Held) -> Iterator[str]:
    return (f"{topic}-{number}" for topic in held for number in held[topic])


def joined(generation: int, protocol: str, group: str = "g") -> str:
    return (
        f"[Consumer clientId=a, groupId={group}] Successfully joined group with "
        f"generation Generation{{generationId={generation}, memberId='a-1', "
        f"protocol='{protocol}'}}"
    )


def read(*logs: str) -> list[Row]:
    texts = (
        (
            f"{n}.log",
            (Line(number=k, text=one.encode()) for k, one in enumerate(text, start=1)),
        )
        for n, text in enumerate(log.split("\n") for log in logs)
    )
    return list(rows_of_leader_logs(texts))


def cases(rows: list[Row]) -> list[Case]:
    return [unpack(row["value"]) for row in rows if row["what"] == CASE]


def held(case: Case) -> dict[str, Any]:
    return {name: one.assigned for name, one in (case.members or {}).items()}


PLAIN = message(3, a={"t": [0, 2], "u-v.w": [1]}, b={})


@pytest.mark.parametrize(
    ("line", "at"),
    [
        (PLAIN, None),
        (f"2025-12-14 13:27:26.666 [x-C-1] INFO o.a.k.c.C - [] {PLAIN} ", None),
        (f"[2020-11-04 10:29:21,555] INFO {PLAIN} (org.apache.ConsumerC:585)", None),
        (f"2024-09-07T11:50:54.394-04:00  INFO --- : {PLAIN}", 1725724254394),
        (f"pod/app-0 2024-09-07T15:50:54.394000000Z {PLAIN}", 1725724254394),
        (
            PLAIN.replace("[Consumer ", "[Consumer instanceId=i, "),
            None,
        ),
        (f"[Consumer clientId=b, groupId=other] Joined. {PLAIN}", None),
        (json.dumps({"level": "INFO", "message": PLAIN, "ts": 5.25}), 5250),
        (
            json.dumps({"@timestamp": "2024-09-07T15:50:54Z", "log": {"msg": PLAIN}}),
            1725724254000,
        ),
        (json.dumps({"log": PLAIN + "\n", "time": 1725724254394}), 1725724254394),
        (PLAIN.replace("1])", "1], userDataSize=7)"), None),
    ],
)
def test_any_layout_before_and_behind(line: str, at: int | None) -> None:
    (case,) = cases(read(f"noise\n{line}\nnoise"))
    assert (case.group_id, case.generation, case.at) == ("g", 3, at)
    assert held(case) == {"a-1": {"t": [0, 2], "u-v.w": [1]}, "b-1": {}}
    assert (case.owned_from, case.subscriptions) == (SNAPSHOT, NOT_REPORTED)
    assert (case.members_listed, case.at_rest) == (ALL_LISTED, BY_LEADER)
    assert (case.source, case.source_offset) == ("0.log", 2)


def test_members_with_odd_ids() -> None:
    odd = 'c=1, {x}: "y"-1'
    text = PLAIN.replace("b-1=", f"{odd}=")
    for line in (text, json.dumps({"message": text})):
        (case,) = cases(read(line))
        assert set(held(case)) == {"a-1", odd}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (PLAIN[:-2], CUT_OFF),
        (PLAIN[:-20], CUT_OFF),
        (PLAIN.replace("t-0", "t-x"), CUT_OFF),
        (PLAIN.replace("t-0", "t-99999999999"), CUT_OFF),
        (PLAIN.replace("b-1", "a-1"), CUT_OFF),
        (message(99999999999, a={}), CUT_OFF),
        (PLAIN.replace("[Consumer clientId=a, groupId=g] ", ""), NO_GROUP),
    ],
)
def test_a_damaged_line_costs_one_line(line: str, reason: str) -> None:
    rows = read(f"{line}\n{message(4, a={'t': [0]})}")
    assert [row["reason"] for row in rows if row["what"] == UNREADABLE] == [reason]
    assert [one.generation for one in cases(rows)] == [4]


def test_several_groups_files_and_leaders() -> None:
    first = f"{message(1, a={'t': [0]})}\n{message(1, group='h', c={})}"
    second = f"{joined(2, 'range')}\n{message(2, a={}, b={'t': [0]})}"
    rows = read(first, f"{second}\n{first}")
    assert [(one.group_id, one.generation, one.source) for one in cases(rows)] == [
        ("g", 1, "0.log"),
        ("h", 1, "0.log"),
        ("g", 2, "1.log"),
    ]
    assert [one.client_assignor for one in cases(rows)] == [None, None, "range"]
    assert [row["records"] for row in rows if row["what"] == REPEATED] == [2]


def test_a_streams_group_is_set_aside() -> None:
    rows = read(f"{message(1, a={'t': [0]})}\n{joined(1, 'stream')}")
    assert [(row["what"], row["reason"]) for row in rows] == [(SET_ASIDE, OF_STREAMS)]


def snapshots(folder: Path) -> dict[int, dict[str, Any]]:
    rows = ds.dataset(folder / "snapshots", partitioning="hive").to_table().to_pylist()
    return {int(row["snapshot_id"].split()[1]): row for row in rows}


def test_what_follows_from_assignments_alone_is_judged(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text(
        "\n".join(
            (
                "started\n" * 300,
                message(1, a={"t": [0, 1]}, b={"t": [2]}),
                message(2, a={"t": [0, 1, 2]}, b={"u": [0]}),
                message(3, a={"t": [0, 1, 2]}, b={}),
                message(4, a={"t": [0, 1, 2, 3]}, b={"t": [4]}),
                joined(5, "range"),
                message(5, a={"t": [0]}, b={"t": [2]}),
                joined(6, "cooperative-sticky"),
                message(6, a={"t": [0]}, b={"t": [2]}),
                message(7, a={"t": [0, 1]}, b={"t": [1, 2]}),
            )
        )
    )
    local_audit([log], tmp_path / "out")
    rows = snapshots(tmp_path / "out")
    assert {n: row["verdict"] for n, row in rows.items()} == {
        **dict.fromkeys((1, 2, 3, 4, 6), "unknown"),
        5: "invalid",
        7: "invalid",
    }
    balanced = {n: row["dec_min_balanced"] for n, row in rows.items()}
    assert balanced == {n: False if n == 4 else None for n in rows}
    if_equal = {n: row["balanced_if_equal"] for n, row in rows.items()}
    assert if_equal == {1: True, 2: False, 3: False, 4: None, 5: None, 6: None, 7: None}
    assert {row["at_rest"] for row in rows.values()} == {BY_LEADER}
    rebalances = tmp_path / "out" / "rebalances"
    assert not rebalances.exists() or not list(rebalances.rglob("*.parquet"))


def test_partition_counts_of_the_end_complete_no_older_generation(
    tmp_path: Path,
) -> None:
    """A topic that had two partitions, and has three now, was not given too few."""
    (tmp_path / "app.log").write_text(
        f"{message(1, a={'t': [0, 1]})}\n{message(2, a={'t': [0, 1, 2]})}"
    )
    (tmp_path / "topics.json").write_text('{"t": 3}')
    local_audit([tmp_path], tmp_path / "out")
    rows = snapshots(tmp_path / "out")
    assert {n: row["partitions"] for n, row in rows.items()} == {1: 2, 2: 3}
    counts = {n: row["partition_counts"] for n, row in rows.items()}
    assert counts == {1: "lower-bound", 2: "given"}
    assert {row["verdict"] for row in rows.values()} == {"unknown"}


def test_one_generation_of_a_log_by_number(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"x\n\n{message(9, a={'t': [0]}, b={'t': [1]})}")
    (tmp_path / "b.log").write_text(f"{message(10, a={'t': [1]}, b={'t': [0]})}")
    last = read_group(str(tmp_path), "g")
    assert last.assignment is not None
    assert last.assignment.members == {"a-1": {"t": [1]}, "b-1": {"t": [0]}}
    named = read_group(str(tmp_path), "g", 9)
    assert named.assignment is not None
    assert named.assignment.members == {"a-1": {"t": [0]}, "b-1": {"t": [1]}}
    with pytest.raises(SourceError, match="no generation 11; it has 9 to 10"):
        read_group(str(tmp_path), "g", 11)


def test_a_log_is_recognized_wherever_the_line_is(tmp_path: Path) -> None:
    path = tmp_path / "app.log.gz"
    noise = '{"level": "info"}\nstarted\n' * 60_000
    path.write_bytes(gzip.compress(f"{noise}{PLAIN}\n".encode()))
    assert find_sources([path]).files[0].kind is SourceKind.LEADER_LOG
    assert len(cases(read_path(path))) == 1
    other = tmp_path / "other.log"
    other.write_text(noise)
    with pytest.raises(SourceError, match="unknown format"):
        find_sources([other])


def with_records(*paths: Path) -> list[Case]:
    """Return the states, completed from records, by generation."""
    rows = list(histories(_ordered(read_paths(paths))))
    return [
        one
        for one in cases(list(with_record_states(_ordered(rows), {})))
        if one.owned_from == SNAPSHOT
    ]


def _ordered(rows: list[Row]) -> list[Row]:
    def place(row: Row) -> tuple[Any, ...]:
        values = (row.get(name) for name in ORDER)
        return tuple((value is not None, value) for value in values)

    return sorted(rows, key=place)


def test_states_older_than_the_records_are_judged_and_not_doubted(
    tmp_path: Path,
) -> None:
    (tmp_path / "r.jsonl").write_text(jsonl(LOG.records))
    (group,) = LocalFiles(path=tmp_path / "r.jsonl").groups()
    (tmp_path / "app.log").write_text(message(1000, group=group, x={"t": [0]}))
    (state,) = with_records(tmp_path / "r.jsonl", tmp_path / "app.log")
    assert (state.state_of, state.doubt, state.at_rest) == (None, None, BY_LEADER)


@pytest.mark.heavy
def test_spark_reads_the_same_states(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"{joined(4, 'range')}\n{PLAIN}\n{PLAIN[:-1]}")
    (tmp_path / "b.log").write_text(f"{PLAIN}\n{message(4, a={'t': [0]})}")
    ours = comparable(read_path(tmp_path))
    assert comparable(by_spark(spark, tmp_path)) == ours


@contextmanager
def console(broker: Broker, topic: str, group: str, log: Path) -> Iterator[None]:
    """Run a console consumer in a group, with its log in a file."""
    options = ["--topic", topic, "--group", group, "--command-property"]
    command = console_command(broker, [*options, "heartbeat.interval.ms=200"])
    with (
        log.open("wb") as file,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.heavy
def test_logs_of_real_leaders_have_the_states_of_the_records(
    broker: Broker, tmp_path: Path
) -> None:
    """Two consumers come and go; the second one leads in the end."""
    topic, group = "led-topic", "led-group"
    Place(broker=broker, group=group, topics={topic: 5}).make_topics()
    logs = [tmp_path / "first.log", tmp_path / "second.log"]

    def found() -> set[int | None]:
        text = [log.read_text() for log in logs if log.exists()]
        return {one.generation for one in cases(read(*text))}

    with console(broker, topic, group, logs[1]):
        with console(broker, topic, group, logs[0]):
            wait_until(lambda: len(found()) >= 2)
        wait_until(lambda: len(found()) >= 3)
    (tmp_path / BROKER).mkdir()
    segment = tmp_path / BROKER / NAME
    segment.write_bytes(segment_of(broker).read_bytes())
    states = with_records(segment, *logs)
    assert len(states) >= 3
    assert {one.subscriptions for one in states} == {REPORTED}
    assert all(one.state_of is not None for one in states)
    assert {one.client_assignor for one in states} == {"range"}
    numbers = [sum(map(len, held(one).values())) for one in states]
    assert min(numbers) >= 1


# librdkafka.

RDKAFKA = Path(__file__).parent.parent / "data" / "leader-logs" / "rdkafka.log"
"""What a leader of librdkafka logged; another member came and went."""


def test_a_log_of_librdkafka_has_subscriptions() -> None:
    states = cases(read_path(RDKAFKA))
    assert [(one.group_id, one.generation) for one in states] == [
        ("rd g", generation) for generation in (1, 2, 3, 4)
    ]
    assert {one.client_assignor for one in states} == {"cooperative-sticky"}
    assert {one.subscriptions for one in states} == {REPORTED}
    loads = [
        sorted(sum(map(len, a.values())) for a in held(s).values()) for s in states
    ]
    assert loads == [[5], [2, 3], [2, 3], [5]]
    wanted = {
        tuple(member.subscription)
        for one in states
        for member in (one.members or {}).values()
    }
    assert wanted == {("rd-t", "rd-u")}
    times = [one.at or 0 for one in states]
    assert times == sorted(times)
    assert min(times) > 1_700_000_000_000


def test_lines_of_other_clients_and_layouts_in_between() -> None:
    text = RDKAFKA.read_text()
    once = cases(read(text))
    other = text.replace("rdkafka#consumer-1", "x#consumer-7").replace("rd g", "h")
    mixed = [
        line
        for both in zip(text.split("\n"), other.split("\n"), strict=True)
        for line in both
    ]
    both = cases(read("\n".join(mixed)))
    for group_id in ("rd g", "h"):
        found = [one for one in both if one.group_id == group_id]
        assert [(one.generation, held(one)) for one in found] == [
            (one.generation, held(one)) for one in once
        ]
    python = [
        "2026-11-26 DEBUG app: ASSIGN [rdkafka#consumer-1] [thrd:main]: "
        + line.rpartition("[thrd:main]: ")[2]
        for line in text.split("\n")
    ]
    again = cases(read("\n".join(python)))
    assert [(one.at, held(one)) for one in again] == [(None, held(one)) for one in once]


def test_a_lost_line_costs_one_assignment() -> None:
    lines = RDKAFKA.read_text().split("\n")
    known = {one.generation: held(one) for one in cases(read("\n".join(lines)))}
    at = [n for n, line in enumerate(lines) if "|ASSIGN|" in line and " [" in line]
    assert len(at) > 40
    for lost in at:
        rows = read("\n".join(lines[:lost] + lines[lost + 1 :]))
        sound = [one for one in cases(rows) if one.doubt is None]
        found = {one.generation: held(one) for one in sound}
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
    (case,) = cases(read(text))
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
        return cases(read(*texts))

    with librdkafka(broker, topic, group, logs[1]):
        with librdkafka(broker, topic, group, logs[0]):
            wait_until(lambda: any(len(one.members or ()) == 2 for one in found()))
        before = len(found())
        wait_until(lambda: len(found()) > before)
    (tmp_path / BROKER).mkdir()
    segment = tmp_path / BROKER / NAME
    segment.write_bytes(segment_of(broker).read_bytes())
    logged = {one.generation: one for one in found()}
    states = with_records(segment, *logs)
    assert len(states) == len(logged) >= 3
    assert all(one.state_of is not None for one in states)
    for one in states:
        wanted = {n: m.subscription for n, m in (one.members or {}).items()}
        assert wanted == {
            n: m.subscription for n, m in (logged[one.generation].members or {}).items()
        }
