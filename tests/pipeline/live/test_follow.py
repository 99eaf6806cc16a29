"""Follow a real cluster: killed at several moments, and while its broker restarts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession

import pipeline.live
from conformance.broker import Broker, running_broker
from pipeline.audit import AuditRequest, following
from pipeline.files import LocalStore
from pipeline.live import ClientSettings, LiveSource, OffsetsLog, find_live_source
from pipeline.nights.history_store import opened_store
from pipeline.tables import SCHEMAS, read_table
from tests.oracle.cli.commands import Cli
from tests.oracle.plugins.real import Member, Place

TOPICS = {"orders": 4, "payments": 3}
PATIENCE = 240.0  # seconds; a busy machine takes long to start Spark

pytestmark = pytest.mark.heavy(minutes=2)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker() as broker:
        place = Place(broker=broker, group="first", topics=TOPICS)
        place.make_topics()
        churn(place, 2)
        yield broker


def churn(place: Place, joins: int) -> None:
    """Let members join one after another, then leave: a rebalance each."""
    members: list[Member] = []
    for _ in range(joins):
        members.append(place.kafka_python("range", "roundrobin"))
        place.settled(*members)
    for member in members:
        member.leave()
    place.wait_until_empty()


class Follower:
    """The command as a process; ``lines`` are those of its standard error."""

    def __init__(self, broker: Broker, out: Path) -> None:
        command = [sys.executable, "-m", "oracle", "audit", "--follow"]
        command += ["--bootstrap-server", broker.address, "--every", "1"]
        command += ["--assignors", "range", "--master", "local[1]", "--out", str(out)]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.lines: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, self.lines
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.002)

    def wait_for_line(self, text: str, after: int = 0) -> int:
        """Wait for a line with the text; return the number of lines up to it."""
        self.wait_for(lambda: any(text in line for line in self.lines[after:]))
        return next(
            n for n, line in enumerate(self.lines[after:], after + 1) if text in line
        )

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._listener.join(PATIENCE)  # Java has ended as well
        assert all(line.startswith("assignor-oracle: ") for line in self.lines)
        return code

    def kill_all(self) -> None:
        """Kill Python and Java at the same moment."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        self._listener.join(PATIENCE)


@contextmanager
def follower(broker: Broker, out: Path) -> Iterator[Follower]:
    started = Follower(broker, out)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.kill_all()


def java_of(broker: Broker) -> psutil.Process:
    """Return the broker's process, a descendant of this one."""
    settings = str(broker.log.with_name("settings"))
    (found,) = [
        child
        for child in psutil.Process().children(recursive=True)
        if child.name() == "java" and settings in child.cmdline()
    ]
    return found


@contextmanager
def started_again(command: list[str], broker: Broker) -> Iterator[None]:
    """Run a broker that was killed again, with its data and ports."""
    before = broker.log.stat().st_size
    with broker.log.open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE
        while b"Kafka Server started" not in broker.log.read_bytes()[before:]:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def rows_of(out: Path) -> dict[str, Counter[str]]:
    """Count the rows of each table, as text."""
    return {
        name: Counter(map(repr, read_table(out, name).to_pylist())) for name in SCHEMAS
    }


def next_offsets(out: Path) -> dict[str, int]:
    """Return the marks of the store in ``out``; empty if it has none."""
    store = out / "history" / "store.json"
    state = json.loads(store.read_bytes()) if store.exists() else {"marks": {}}
    return {number: mark["next"] for number, mark in state["marks"].items()}


def ends_of(broker: Broker) -> dict[str, int]:
    log = OffsetsLog(server=broker.address, settings=ClientSettings())
    return {str(bound.partition): bound.end for bound in log.bounds()}


def batch_audit(broker: Broker, out: Path) -> None:
    command = [sys.executable, "-m", "oracle", "audit", "--out", str(out)]
    command += ["--bootstrap-server", broker.address]
    command += ["--assignors", "range", "--master", "local[1]"]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)


def test_a_broker_that_disappears_leaves_the_audit_before(
    broker: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Between the look at the log's end and the read, it stops to answer."""
    out, java, cli = tmp_path / "out", java_of(broker), Cli(capsysbinary)
    arguments = ("audit", "--bootstrap-server", broker.address, "--out", out)
    assert cli(*arguments, "--assignors", "range", "--master", "local[1]").code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def find(server: str, settings: ClientSettings) -> LiveSource:
        found = find_live_source(server, settings)
        java.suspend()
        return replace(found, log=replace(found.log, silence_seconds=3))

    monkeypatch.setattr(pipeline.live, "find_live_source", find)
    try:
        ended = cli(*arguments, "--master", "local[1]")
    finally:
        java.resume()
    assert ended.code == 3
    assert ended.complaints[-1] == (
        f"{broker.address}: nothing more of partition 0 for 3 s"
    )
    after = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert after == before


def test_the_store_can_be_in_any_file_system(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    """``viewfs:`` mounts folders under names that are no paths of this machine."""
    real, there = tmp_path / "real", "viewfs://followed/data/out"
    real.mkdir()
    log = OffsetsLog(server=broker.address, settings=ClientSettings())
    place = Place(broker=broker, group="first", topics=TOPICS)
    conf: Any = spark._jsc.hadoopConfiguration()
    conf.set("fs.viewfs.mounttable.followed.link./data", real.as_uri())
    store = f"{there}/history"
    request = AuditRequest(sources=(), out=there, history=store, assignors=["range"])
    left = real / "out" / "history" / "carry" / "night-00009" / "records.parquet"
    for _ in range(2):
        with following(there, store, log, master="local[1]") as found:
            assert not left.exists()
            assert found.look().is_due
            assert found.audit(request, live=found.source()).rows["rebalances"]
            assert found.records
            assert not found.look().is_due
            assert next_offsets(real / "out") == ends_of(broker)
            churn(place, 1)
            assert found.look().is_due
        left.parent.mkdir()
        left.touch()


def test_a_second_process_does_not_follow(broker: Broker, tmp_path: Path) -> None:
    arguments = ["--bootstrap-server", broker.address, "--follow", "--out", "other"]
    store = str(tmp_path / "store")
    with opened_store(store, LocalStore()):
        ended = subprocess.run(
            [sys.executable, "-m", "oracle", "audit", *arguments, "--history", store],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert ended.returncode == 3
    reason = "another audit is writing to this store"
    assert ended.stderr == f"assignor-oracle: {store}: {reason}\n"


@pytest.mark.nightly(minutes=4)
def test_a_follower_loses_nothing_and_repeats_nothing(
    broker: Broker, tmp_path: Path
) -> None:
    """The tables are at last those of one audit of the cluster."""
    out = tmp_path / "out"
    place = Place(broker=broker, group="second", topics=TOPICS)
    store = out / "history"
    with follower(broker, out) as reading:
        reading.wait_for((out / ".unfinished").exists)
        reading.kill_all()
    assert not (store / "store.json").exists()
    with follower(broker, out) as writing:
        writing.wait_for((store / "tables").exists)
        assert writing.end(signal.SIGKILL) == -signal.SIGKILL
    churn(place, 1)
    with follower(broker, out) as committing:
        committing.wait_for((store / "store.json").exists)
        committing.kill_all()
    assert not (out / "audit.json").exists() or next_offsets(out)
    with follower(broker, out) as last:
        seen = last.wait_for_line("rebalances: ")
        broken = java_of(broker)
        command = broken.cmdline()
        broken.kill()
        seen = last.wait_for_line(broker.address, seen)
        with started_again(command, broker):
            churn(place, 2)
            last.wait_for(lambda: next_offsets(out) == ends_of(broker))
            last.wait_for_line("more than before", seen)
            last.wait_for_line("records read: 0; no audit", len(last.lines))
            assert last.end(signal.SIGTERM) == 128 + signal.SIGTERM
            batch_audit(broker, tmp_path / "batch")
    followed, batch = rows_of(out), rows_of(tmp_path / "batch")
    judged = read_table(tmp_path / "batch", "rebalances")["group_id"].to_pylist()
    assert {*judged} == {"first", "second"}
    assert followed == batch
