"""Failures in the middle of an audit: the rows are the same as without them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from oracle.report import write_page
from pipeline.audit import AuditSummary, audit
from pipeline.reading import read_table
from pipeline.session import spark_session
from pipeline.tables import RUN_TABLE, SCHEMAS
from rebalance import MAX_PARTITIONS, OutsideError
from tests.pipeline.groups import Log, group, member
from tests.pipeline.test_audit import (
    FIRST_LOOK,
    files_of,
    interrupt_in,
    rows_of,
    tables_of,
)
from tests.report.scenes import small_audit
from tests.wire import RECORDINGS

MASTER: Final = "local[2]"
CHURN: Final = RECORDINGS / "churn"
ROOT: Final = RECORDINGS.parent
QUICK: Final[dict[str, Any]] = {"master": MASTER, "assignors": ["optimum"], "tasks": 2}
JUDGED: Final = ".unfinished/*/judged-*/*.parquet"

pytestmark = pytest.mark.slow(minutes=3)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = spark_session(MASTER)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def records_of(log: Log) -> pa.Table:
    columns = {name: [row[name] for row in log.records] for name in log.records[0]}
    for name in ("key", "value"):
        columns[name] = [bytes.fromhex(text) for text in columns[name]]
    return pa.table(columns)


def some_log(group_id: str, generations: int = 3) -> Log:
    people = [member(name, ["t"], {"t": [n]}) for n, name in enumerate("ab")]
    numbers = range(1, generations + 1)
    return Log().add(*[group(n, *people, group_id=group_id) for n in numbers])


def tables_but(summary: AuditSummary, *left_out: str) -> dict[str, list[Any]]:
    return {name: rows_of(summary, name) for name in SCHEMAS if name not in left_out}


# Damaged and repeated input.


def test_torn_parquet_costs_nothing_but_itself(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A writer that was killed, or a copy that broke off: the footer is lost."""
    whole, torn = tmp_path / "whole" / "in", tmp_path / "torn" / "in"
    for folder in (whole, torn):
        folder.mkdir(parents=True)
        pq.write_table(records_of(some_log("good")), folder / "good.parquet")
    pq.write_table(records_of(some_log("lost", 400)), tmp_path / "lost.parquet")
    data = (tmp_path / "lost.parquet").read_bytes()
    cuts = {"a": 4, "b": len(data) // 2, "c": len(data) - 8, "d": len(data) - 1}
    for name, length in cuts.items():
        (torn / f"{name}.parquet").write_bytes(data[:length])
    found = audit([torn], tmp_path / "out", **QUICK)
    expected = audit([whole], tmp_path / "expected", **QUICK)
    assert tables_but(found, "quarantine") == tables_but(expected, "quarantine")
    aside = rows_of(found, "quarantine")
    assert [(row["kind"], row["source"]) for row in aside] == [
        ("unreadable", f"in/{name}.parquet") for name in cuts
    ]
    for row in aside:
        assert "Parquet" in row["reason"], row["reason"]


def test_records_that_are_delivered_twice_count_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """In one file, in two, and in another format; in any order."""
    once, twice = tmp_path / "once" / "in", tmp_path / "twice" / "in"
    log = some_log("orders", 5)
    lines = [json.dumps(row) for row in log.records]
    for folder, written in ((once, lines), (twice, [*lines, *lines[::-1], lines[2]])):
        folder.mkdir(parents=True)
        (folder / "a.jsonl").write_text("\n".join(written) + "\n")
    (twice / "b.jsonl").write_text("\n".join(lines[1:4]) + "\n")
    pq.write_table(records_of(log), twice / "c.parquet")
    found = audit([twice], tmp_path / "out", **QUICK)
    expected = audit([once], tmp_path / "expected", **QUICK)
    assert found.rows["rebalances"] == 5
    assert tables_but(found) == tables_but(expected)
    assert files_of(Path(found.out)) == files_of(Path(expected.out))
    counted = [rows_of(one, RUN_TABLE)[0] for one in (found, expected)]
    sizes = [len([*lines, *lines, lines[2], *lines[1:4], *log.records]), len(lines)]
    assert [row["rows_read"] for row in counted] == sizes
    assert [row["rows_repeated"] for row in counted] == [sizes[0] - sizes[1], 0]


# Killed workers.


@pytest.fixture(scope="module")
def undisturbed(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    return audited(tmp_path_factory.mktemp("audits") / "undisturbed")


def audited(out: Path, **more: Any) -> AuditSummary:
    """Audit the recording.

    Workers know what they have evaluated before, and are then too quick to be killed;
    another limit, which rejects nothing, is another question.
    """
    return audit([CHURN], out, assignors=["optimum"], master=MASTER, **more)


def command_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):  # it can have ended
        return " ".join(process.cmdline())
    return ""


def children_of(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return process.children()
    return []


class Killer:
    """Kills the Python workers that judge, at most ``times`` times."""

    def __init__(self, spark: SparkSession, times: int) -> None:
        self._java = psutil.Process(spark.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]
        self._tracker = spark.sparkContext.statusTracker()
        self._left = times
        self.failed = 0

    def __call__(self, phase: str, _done: int, total: int) -> None:
        if phase != "judge" or total == 1:
            return
        for stage in self._tracker.getActiveStageIds():
            info = self._tracker.getStageInfo(stage)
            self.failed = max(self.failed, info.numFailedTasks if info else 0)
        if self._left > 0:
            self._left -= self._kill() > 0

    def _kill(self) -> int:
        workers = [
            worker
            for daemon in self._java.children()
            if "pyspark.daemon" in command_of(daemon)
            for worker in children_of(daemon)
        ]
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        return len(workers)


def judged_parts(out: Path) -> dict[Path, set[int]]:
    """Return the parts in each judged file of an unfinished audit."""
    found = sorted(out.glob(JUDGED))
    return {
        path: set(pq.read_table(path, columns=["part"])["part"].to_pylist())
        for path in found
    }


def test_a_killed_worker_changes_nothing(
    spark: SparkSession, undisturbed: AuditSummary, tmp_path: Path
) -> None:
    killer = Killer(spark, times=1)
    most = MAX_PARTITIONS - 1
    found = audited(tmp_path / "out", progress=killer, max_partitions=most)
    assert killer.failed > 0
    assert files_of(Path(found.out)) == files_of(Path(undisturbed.out))
    assert not (tmp_path / "out" / ".unfinished").exists()


def test_an_audit_that_failed_is_continued(
    spark: SparkSession, undisturbed: AuditSummary, tmp_path: Path
) -> None:
    """Finished parts are neither computed nor written again."""
    out, told = tmp_path / "out", list[str]()
    again = partial(audited, out, tell=told.append, max_partitions=MAX_PARTITIONS - 2)

    def kill_after_two(phase: str, done: int, total: int) -> None:
        if phase == "judge" and done >= 2 and total > 1:
            killer(phase, done, total)

    killer = Killer(spark, times=1000)
    with pytest.raises(OutsideError) as error:
        again(progress=kill_after_two)
    assert (error.value.exit_code, len(str(error.value).splitlines())) == (3, 1)
    first = judged_parts(out)
    times = {path: path.stat().st_mtime_ns for path in first}
    finished = set[int]().union(*first.values())
    assert len(finished) == len(first) >= 2
    with pytest.raises(KeyboardInterrupt):
        again(progress=interrupt_in("write"))
    second = judged_parts(out)
    assert {path: path.stat().st_mtime_ns for path in first} == times
    parts = [part for found in second.values() for part in found]
    assert sorted(parts) == list(range(8))
    found = again()
    assert files_of(Path(found.out)) == files_of(Path(undisturbed.out))
    kept, continued, kept_again, continued_again = told
    assert kept.startswith(f"finished work is kept in {out}/.unfinished (")
    assert continued == f"continuing: {len(finished)} of 8 parts were finished"
    assert kept_again.startswith("finished work is kept in ")
    assert continued_again == "continuing: 8 of 8 parts were finished"
    assert not (out / ".unfinished").exists()


def test_a_damaged_unfinished_audit_is_begun_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As after a loss of power, when files are shorter than they should be."""
    log, told = tmp_path / "in.parquet", list[str]()
    pq.write_table(records_of(some_log("orders", 5)), log)
    with pytest.raises(KeyboardInterrupt):
        audit([log], tmp_path / "out", **QUICK, progress=interrupt_in("write"))
    for path in (tmp_path / "out").glob(JUDGED):
        path.write_bytes(path.read_bytes()[:-20])
        path.with_name(f".{path.name}.crc").unlink()
    found = audit([log], tmp_path / "out", **QUICK, tell=told.append)
    assert told == ["the unfinished audit cannot be read: beginning anew"]
    assert found.rows["rebalances"] == 5
    assert not (tmp_path / "out" / ".unfinished").exists()


# A killed driver, a killed executor.


@pytest.fixture(scope="module")
def first_look(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    out = tmp_path_factory.mktemp("audits") / "first-look"
    return audit([FIRST_LOOK], out, assignors=["optimum"], master=MASTER)


class Run:
    """An audit by the command line, in a process group of its own."""

    def __init__(self, out: Path, errors: Path, master: str = MASTER) -> None:
        command = [sys.executable, "-m", "oracle", "audit", str(FIRST_LOOK)]
        command += ["--out", str(out), "--assignors", "optimum"]
        self._errors = errors
        with errors.open("wb") as file:
            self.process = subprocess.Popen(
                [*command, "--master", master],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            )

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def said(self) -> str:
        return self._errors.read_text()


def assert_whole(out: Path, old: dict[str, bytes], new: AuditSummary) -> None:
    """Assert that a folder contains one of two audits, with its own page.

    A run that is killed while it replaces the one by the other leaves the old one
    aside; the next run puts it back.
    """
    if not (out / "audit.json").exists():
        assert (out / ".replaced" / "audit.json").exists()
        return
    found = {name: data for name, data in files_of(out).items() if name[0] != "."}
    if found == old:
        return
    assert tables_of(out) == tables_of(Path(new.out))
    page = found.pop("index.html")
    again = out.parent / "again.html"
    options = f"--out {out} --cluster local --assignors optimum"
    command = f"assignor-oracle audit {FIRST_LOOK} {options}"
    write_page(out, again, command=command)
    assert page == again.read_bytes()


def test_a_killed_driver_is_continued(first_look: AuditSummary, tmp_path: Path) -> None:
    """Ten times at random, and once when a part is finished."""
    out, errors = tmp_path / "out", tmp_path / "errors"
    small_audit().write(out)
    write_page(out, out / "index.html", command="an old audit")
    old = files_of(out)
    chance = random.Random(6)  # noqa: S311
    whole = 5 + sum(first_look.seconds.values())
    kills = 0
    while kills < 10:
        run = Run(out, errors)
        try:
            run.process.wait(timeout=chance.uniform(0, whole))
        except subprocess.TimeoutExpired:
            run.kill()
            kills += 1
        else:
            assert run.process.returncode == 0, run.said
        assert_whole(out, old, first_look)
    run = Run(out, errors)
    while not list(out.glob(JUDGED)) and run.process.poll() is None:
        time.sleep(0.05)
    run.kill()
    assert_whole(out, old, first_look)
    finished = set[int]().union(*judged_parts(out).values())
    last = Run(out, errors)
    assert last.process.wait(timeout=300) == 0, last.said
    lines = last.said.splitlines()
    line = f"assignor-oracle: continuing: {len(finished)} of 8 parts were finished"
    assert any(one.startswith(line) for one in lines), lines
    assert_whole(out, old, first_look)
    assert read_table(out, "answers").num_rows == first_look.rows["answers"]
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_killed_executor_changes_nothing(
    first_look: AuditSummary, tmp_path: Path
) -> None:
    """Its tasks, while they judge, are repeated by the other and by its successor."""
    out = tmp_path / "out"
    run = Run(out, tmp_path / "errors", "local-cluster[2,1,1024]")
    while not list(out.glob(".unfinished/*/judged-*")) and run.process.poll() is None:
        time.sleep(0.05)
    started = psutil.Process(run.process.pid).children(recursive=True)
    executors = [one for one in started if "ExecutorBackend" in command_of(one)]
    executors[0].kill()
    assert run.process.wait(timeout=300) == 0, run.said
    assert len(executors) == 2
    assert tables_of(out) == tables_of(Path(first_look.out))
