"""Killed workers, drivers, and executors: the rows are the same as without."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from pyspark.sql import SparkSession

from oracle.report import write_page
from pipeline.audit import AuditRequest, AuditSummary, audit
from pipeline.reading import read_table
from rebalance import MAX_PARTITIONS, OutsideError
from tests.oracle.report.scenes import small_audit
from tests.pipeline.audit_files import (
    FIRST_LOOK,
    JUDGED_FILES,
    files_of,
    interrupt_in,
    judged_parts,
    parts_to_judge,
    tables_of,
)
from tests.support.wire import RECORDINGS

MASTER: Final = "local[2]"
CHURN: Final = RECORDINGS / "churn"
ROOT: Final = RECORDINGS.parent

pytestmark = pytest.mark.nightly(minutes=5)


# Killed workers.


@pytest.fixture(scope="module")
def undisturbed(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    return audited(tmp_path_factory.mktemp("audits") / "undisturbed")


def audited(
    out: Path, *, max_partitions: int = MAX_PARTITIONS, **hooks: Any
) -> AuditSummary:
    """Audit the recording, with all default assignors.

    Workers know what they have evaluated before, and are then too quick to be killed;
    another limit, which rejects nothing, is another question.
    """
    request = AuditRequest(
        sources=[CHURN], out=out, master=MASTER, max_partitions=max_partitions
    )
    return audit(request, **hooks)


def command_of(process: psutil.Process) -> str:
    with suppress(psutil.Error):  # it can have ended
        return " ".join(process.cmdline())
    return ""


def children_of(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return process.children()
    return []


def is_busy(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.status() == psutil.STATUS_RUNNING
    return False


class Killer:
    """Kills a Python worker that judges, again and again if it ``goes_on``.

    Workers that wait for a task are spared: Spark would give one that is dead to the
    task's second attempt, which is the last.
    """

    def __init__(self, spark: SparkSession, *, goes_on: bool) -> None:
        self._java = psutil.Process(spark.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]
        self._tracker = spark.sparkContext.statusTracker()
        self._goes_on = goes_on
        self._killed = 0
        self.failed = 0

    def __call__(self, phase: str, _done: int, total: int) -> None:
        if phase != "judge" or total == 1:
            return
        for stage in self._tracker.getActiveStageIds():
            info = self._tracker.getStageInfo(stage)
            self.failed = max(self.failed, info.numFailedTasks if info else 0)
        if self._goes_on or not self._killed:
            self._killed += self._kill()

    def _kill(self) -> int:
        busy = [
            worker
            for daemon in self._java.children()
            if "worker_daemon" in command_of(daemon)
            for worker in children_of(daemon)
            if is_busy(worker)
        ]
        for worker in busy if self._goes_on else busy[:1]:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        return len(busy)


def test_workers_that_are_killed_change_nothing(
    spark: SparkSession, undisturbed: AuditSummary, tmp_path: Path
) -> None:
    killer = Killer(spark, goes_on=False)
    most = MAX_PARTITIONS - 1
    found = audited(tmp_path / "out", progress=killer, max_partitions=most)
    assert killer.failed > 0
    assert files_of(Path(found.out)) == files_of(Path(undisturbed.out))
    assert not (tmp_path / "out" / ".unfinished").exists()


def test_an_audit_whose_workers_were_killed_is_continued(
    spark: SparkSession, undisturbed: AuditSummary, tmp_path: Path
) -> None:
    """Finished parts are neither computed nor written again."""
    out, lines = tmp_path / "out", list[str]()
    again = partial(audited, out, tell=lines.append, max_partitions=MAX_PARTITIONS - 2)

    def kill_after_two(phase: str, done: int, total: int) -> None:
        if phase == "judge" and done >= 2 and total > 1:
            killer(phase, done, total)

    killer = Killer(spark, goes_on=True)
    with pytest.raises(OutsideError) as error:
        again(progress=kill_after_two)
    assert error.value.exit_code == 3
    assert str(error.value).startswith("Spark failed: a Python worker ended in each")
    assert len(str(error.value).splitlines()) == 1
    first = judged_parts(out)
    times = {path: path.stat().st_mtime_ns for path in first}
    finished = set[int]().union(*first.values())
    assert len(finished) == len(first) >= 2
    with pytest.raises(KeyboardInterrupt):
        again(progress=interrupt_in("write"))
    second = judged_parts(out)
    assert {path: path.stat().st_mtime_ns for path in first} == times
    parts = parts_to_judge(out)
    assert sorted(part for found in second.values() for part in found) == parts
    of_parts = f"of {len(parts)} parts were finished"
    found = again()
    assert files_of(Path(found.out)) == files_of(Path(undisturbed.out))
    kept, continued, kept_again, continued_again = lines
    assert kept.startswith(f"finished work is kept in {out}/.unfinished (")
    assert continued == f"continuing: {len(finished)} {of_parts}"
    assert kept_again.startswith("finished work is kept in ")
    assert continued_again == f"continuing: {len(parts)} {of_parts}"
    assert not (out / ".unfinished").exists()


# A killed driver, a killed executor.


@pytest.fixture(scope="module")
def first_look(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    out = tmp_path_factory.mktemp("audits") / "first-look"
    return audit(
        AuditRequest(
            sources=[FIRST_LOOK], out=out, assignors=["optimum"], master=MASTER
        )
    )


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
    while not list(out.glob(JUDGED_FILES)) and run.process.poll() is None:
        time.sleep(0.05)
    run.kill()
    assert_whole(out, old, first_look)
    finished = set[int]().union(*judged_parts(out).values())
    of_parts = f"of {len(parts_to_judge(out))} parts were finished"
    last = Run(out, errors)
    assert last.process.wait(timeout=300) == 0, last.said
    lines = last.said.splitlines()
    line = f"assignor-oracle: continuing: {len(finished)} {of_parts}"
    assert any(text.startswith(line) for text in lines), lines
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
    executors = [
        process for process in started if "ExecutorBackend" in command_of(process)
    ]
    executors[0].kill()
    assert run.process.wait(timeout=300) == 0, run.said
    assert len(executors) == 2
    assert tables_of(out) == tables_of(Path(first_look.out))
