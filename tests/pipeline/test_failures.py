"""Failures in the middle of an audit: the rows are the same as without them.

`tests.pipeline.test_killed_stages` kills whole processes.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pipeline.audit import AuditRequest, AuditSummary, audit, steps
from pipeline.audit.judged import PART, Batches
from pipeline.audit.stages import judge_batches
from pipeline.judging.settings import Settings
from pipeline.tables import SCHEMAS
from rebalance import OutsideError
from tests.pipeline.audit_files import JUDGED_FILES, interrupt_in, judged_parts, rows_of
from tests.pipeline.groups import Log, group, member
from tests.pipeline.local_audit import local_audit

MASTER: Final = "local[2]"
QUICK: Final[dict[str, Any]] = {"master": MASTER, "assignors": ["optimum"], "tasks": 2}

OPTIMUM: Final = ["optimum"]

pytestmark = pytest.mark.heavy


def records_of(log: Log) -> pa.Table:
    columns = {name: [row[name] for row in log.records] for name in log.records[0]}
    for name in ("key", "value"):
        columns[name] = [bytes.fromhex(text) for text in columns[name]]
    return pa.table(columns)


def some_log(group_id: str, generations: int = 3) -> Log:
    people = [member(name, ["t"], {"t": [n]}) for n, name in enumerate("ab")]
    numbers = range(1, generations + 1)
    return Log().add(*[group(n, *people, group_id=group_id) for n in numbers])


def tables_of(summary: AuditSummary) -> dict[str, list[Any]]:
    return {name: rows_of(summary, name) for name in SCHEMAS}


# Work that fails, or whose worker dies.

Judge = Callable[[Batches, Settings], Batches]


def judging(disturbed: Callable[[Batches], Batches]) -> Judge:
    """Return the stage that judges, with cases that a function passes on."""

    def judge(batches: Batches, settings: Settings) -> Batches:
        return judge_batches(disturbed(batches), settings)

    return judge


def test_a_killed_worker_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies in the middle of a part, with results that Spark has received."""
    log, died = tmp_path / "in.parquet", tmp_path / "died"
    pq.write_table(records_of(some_log("orders", 400)), log)

    def die_once(batches: Batches) -> Batches:
        for batch in batches:
            yield batch.slice(0, batch.num_rows // 2 + 1)
            with suppress(FileExistsError):
                died.touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(batch.num_rows // 2 + 1)

    monkeypatch.setattr(steps, "judge_batches", judging(die_once))
    found = audit(AuditRequest(sources=[log], out=tmp_path / "out", **QUICK))
    assert died.exists()
    expected = local_audit([log], tmp_path / "expected", assignors=OPTIMUM)
    assert found.rows["rebalances"] == 400
    assert tables_of(found) == tables_of(expected)
    assert not (tmp_path / "out" / ".unfinished").exists()


def fail() -> None:
    raise ValueError("part 1")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_in_second_part(batches: Batches, out: Path, end: Callable[[], None]) -> Batches:
    """Pass part 0 on; end in part 1 when the other is finished."""
    for batch in batches:
        if batch.column(PART)[0].as_py() == 1:
            deadline = time.monotonic() + 300
            while not list(out.glob(JUDGED_FILES)) and time.monotonic() < deadline:
                time.sleep(0.05)
            end()
        yield batch


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (fail, "ValueError: part 1"),
        pytest.param(
            die,
            "a Python worker ended in each attempt of a task: it was killed, perhaps "
            "for lack of memory, or crashed",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_an_audit_that_failed_is_continued(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[], None],
    message: str,
) -> None:
    """Finished parts are neither computed nor written again."""
    log, out, lines = tmp_path / "in.parquet", tmp_path / "out", list[str]()
    pq.write_table(records_of(some_log("orders", 12)), log)
    request = AuditRequest(sources=[log], out=out, **QUICK)
    again = partial(audit, request, tell=lines.append)

    with monkeypatch.context() as patch:
        ending = partial(end_in_second_part, out=out, end=end)
        patch.setattr(steps, "judge_batches", judging(ending))
        with pytest.raises(OutsideError) as error:
            again()
    assert str(error.value) == f"Spark failed: {message}"
    assert error.value.exit_code == 3
    first = judged_parts(out)
    times = {path: path.stat().st_mtime_ns for path in first}
    assert list(first.values()) == [{0}]
    with pytest.raises(KeyboardInterrupt):
        again(progress=interrupt_in("write"))
    second = judged_parts(out)
    assert {path: path.stat().st_mtime_ns for path in first} == times
    assert sorted(second.values(), key=sorted) == [{0}, {1}]
    found = again()
    expected = local_audit([log], tmp_path / "expected", assignors=OPTIMUM)
    assert tables_of(found) == tables_of(expected)
    kept, continued, kept_again, continued_again = lines
    assert kept.startswith(f"finished work is kept in {out}/.unfinished (")
    assert continued == "continuing: 1 of 2 parts were finished"
    assert kept_again.startswith("finished work is kept in ")
    assert continued_again == "continuing: 2 of 2 parts were finished"
    assert not (out / ".unfinished").exists()


def test_a_damaged_unfinished_audit_is_begun_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As after a loss of power, when files are shorter than they should be."""
    log, lines = tmp_path / "in.parquet", list[str]()
    pq.write_table(records_of(some_log("orders", 5)), log)
    with pytest.raises(KeyboardInterrupt):
        audit(
            AuditRequest(sources=[log], out=tmp_path / "out", **QUICK),
            progress=interrupt_in("write"),
        )
    for path in (tmp_path / "out").glob(JUDGED_FILES):
        path.write_bytes(path.read_bytes()[:-20])
    found = audit(
        AuditRequest(sources=[log], out=tmp_path / "out", **QUICK), tell=lines.append
    )
    assert lines == ["the unfinished audit cannot be read: beginning anew"]
    assert found.rows["rebalances"] == 5
    assert not (tmp_path / "out" / ".unfinished").exists()
