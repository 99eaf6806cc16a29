"""Logs of Java's group leaders, as a source of states without subscriptions."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.broker import Broker, console_command
from pipeline.cases import ALL_LISTED, NOT_REPORTED, SNAPSHOT
from pipeline.describe.snapshots import BY_LEADER
from pipeline.groups import read_group
from pipeline.groups.local_files import LocalFiles
from pipeline.rows import CASE, REPEATED, SET_ASIDE, UNREADABLE
from pipeline.sources.find import find_sources
from pipeline.sources.leader_logs import NO_GROUP, OF_STREAMS
from pipeline.sources.logged_assignment import CUT_OFF
from pipeline.sources.source_kind import SourceKind
from rebalance import SourceError
from tests.oracle.plugins.real import Place
from tests.pipeline.local_audit import local_audit
from tests.pipeline.local_reading import cases_of, read_path
from tests.pipeline.logged_states import (
    are_in_force,
    check_states,
    copied_segment,
    held,
    message,
    read,
    snapshots,
    with_records,
)
from tests.pipeline.test_sources import LOG, jsonl
from tests.support.waiting import wait_until


def joined(generation: int, protocol: str, group: str = "g") -> str:
    return (
        f"[Consumer clientId=a, groupId={group}] Successfully joined group with "
        f"generation Generation{{generationId={generation}, memberId='a-1', "
        f"protocol='{protocol}'}}"
    )


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
    (case,) = cases_of(read(f"noise\n{line}\nnoise"))
    assert (case.group_id, case.generation, case.at) == ("g", 3, at)
    assert held(case) == {"a-1": {"t": [0, 2], "u-v.w": [1]}, "b-1": {}}
    assert (case.owned_from, case.subscriptions) == (SNAPSHOT, NOT_REPORTED)
    assert (case.members_listed, case.at_rest) == (ALL_LISTED, BY_LEADER)
    assert (case.source, case.source_offset) == ("0.log", 2)


def test_members_with_odd_ids() -> None:
    odd = 'c=1, {x}: "y"-1'
    text = PLAIN.replace("b-1=", f"{odd}=")
    for line in (text, json.dumps({"message": text})):
        (case,) = cases_of(read(line))
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
    assert [case.generation for case in cases_of(rows)] == [4]


def test_several_groups_files_and_leaders() -> None:
    first = f"{message(1, a={'t': [0]})}\n{message(1, group='h', c={})}"
    second = f"{joined(2, 'range')}\n{message(2, a={}, b={'t': [0]})}"
    rows = read(first, f"{second}\n{first}")
    found = cases_of(rows)
    assert [(case.group_id, case.generation, case.source) for case in found] == [
        ("g", 1, "0.log"),
        ("h", 1, "0.log"),
        ("g", 2, "1.log"),
    ]
    assert [case.client_assignor for case in found] == [None, None, "range"]
    assert [row["records"] for row in rows if row["what"] == REPEATED] == [2]


def test_a_streams_group_is_quarantined() -> None:
    rows = read(f"{message(1, a={'t': [0]})}\n{joined(1, 'stream')}")
    assert [(row["what"], row["reason"]) for row in rows] == [(SET_ASIDE, OF_STREAMS)]


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
    assert len(cases_of(read_path(path))) == 1
    other = tmp_path / "other.log"
    other.write_text(noise)
    with pytest.raises(SourceError, match="unknown format"):
        find_sources([other])


def test_states_older_than_the_records_are_judged_and_not_doubted(
    tmp_path: Path,
) -> None:
    (tmp_path / "r.jsonl").write_text(jsonl(LOG.records))
    (group,) = LocalFiles(path=tmp_path / "r.jsonl").groups()
    (tmp_path / "app.log").write_text(message(1000, group=group, x={"t": [0]}))
    (state,) = with_records(tmp_path / "r.jsonl", tmp_path / "app.log")
    assert (state.state_of, state.doubt, state.at_rest) == (None, None, BY_LEADER)


def test_a_log_that_breaks_off_is_used_up_to_there(tmp_path: Path) -> None:
    text = f"{PLAIN}\n" + "noise\n" * 2_000_000
    packed = gzip.compress(text.encode(), compresslevel=0)
    (tmp_path / "a.log.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.log").write_text(message(4, a={"t": [0]}))
    first, second, broken = read_path(tmp_path)
    assert [row["what"] for row in (first, second)] == [CASE, CASE]
    assert broken["source"].endswith("a.log.gz")
    assert broken["reason"].startswith("breaks off here: ")
    assert 990_000 < broken["source_offset"] < 1_010_000


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
        return {case.generation for case in cases_of(read(*text))}

    def has_settled(least: int) -> bool:
        return len(found()) >= least and are_in_force(broker, group, *found())

    with console(broker, topic, group, logs[1]):
        wait_until(lambda: has_settled(1))
        with console(broker, topic, group, logs[0]):
            wait_until(lambda: has_settled(2))
        wait_until(lambda: has_settled(3))
    segment = copied_segment(broker, tmp_path)
    states = with_records(segment, *logs)
    check_states(states, segment, group)
    assert {state.client_assignor for state in states} == {"range"}
    numbers = [sum(map(len, held(state).values())) for state in states]
    assert min(numbers) >= 1
