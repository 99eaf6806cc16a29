"""Audits on Spark: the rows of `local_audit`, atomic replacement, and failures."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from oracle.report import write_page
from pipeline import table_files
from pipeline.audit import AuditRequest, AuditSummary, audit, run, table_rows
from pipeline.audit.sorting import in_order
from pipeline.evaluation import COLUMNS, DEFAULT, JUDGE, DisagreementError
from pipeline.side_files.lag_metrics import NO_COMMIT
from pipeline.tables import PAGE, RUN_TABLE, SCHEMAS, TABLES, read_table
from rebalance import OutputError, SourceError
from tests.pipeline.audit_files import (
    CLUSTER,
    FIRST_LOOK,
    HOSTILE,
    files_of,
    interrupt_in,
    log_of,
    manifest_of,
    mixed_sources,
    page_into,
    rows_of,
    tables_of,
)
from tests.pipeline.local_audit import local_audit
from tests.support.wire import RECORDINGS

MASTER = "local[2]"
ANSWERS = len(DEFAULT)

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of source, and with damage."""
    return mixed_sources(tmp_path_factory.mktemp("sources") / "mixed")


@pytest.fixture(scope="module")
def local(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> AuditSummary:
    """The audit of that folder without Spark, as one task."""
    out = tmp_path_factory.mktemp("audits") / "local"
    return local_audit([sources], out, cluster=CLUSTER)


@pytest.fixture(scope="module")
def divided(
    spark: SparkSession, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    """The audit of that folder by Spark, as five tasks, and several files per table."""
    out = tmp_path_factory.mktemp("audits") / "divided"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "MOST_ROWS", 50)
        return audit(
            AuditRequest(
                sources=[sources], out=out, cluster=CLUSTER, master=MASTER, tasks=5
            )
        )


# The same tables, with and without Spark, however the work is divided.


def assert_same_rows(found: AuditSummary, expected: AuditSummary) -> None:
    assert (found.rows, found.quarantine) == (expected.rows, expected.quarantine)
    for name in ("rows_read", "rows_repeated"):
        assert manifest_of(found)[name] == manifest_of(expected)[name]
    for name, schema in SCHEMAS.items():
        table = read_table(Path(found.out), name)
        assert table.schema.types == schema.types
        assert table.equals(read_table(Path(expected.out), name)), name


def test_the_rows_of_divided_work_are_those_of_one_task(
    divided: AuditSummary, local: AuditSummary
) -> None:
    assert divided.tables == {name: f"{divided.out}/{name}" for name in TABLES}
    assert_same_rows(divided, local)
    # The second file of records begins with twenty lines of the first.
    assert manifest_of(divided)["rows_repeated"] == 20
    assert len(files_of(Path(divided.out))) > len(files_of(Path(local.out)))
    table = read_table(Path(divided.out), "rebalances")
    assert set(table.column("cluster").to_pylist()) == {CLUSTER}
    kinds = Counter(table.column("source_kind").to_pylist())
    assert kinds.keys() == {"consumer-offsets", "rebalance"}
    assert kinds["rebalance"] == 2


def test_a_choice_has_the_rows_of_one_task(
    spark: SparkSession, sources: Path, tmp_path: Path
) -> None:
    """Names of groups that do not occur, and cases without a time, are reported."""
    choice: dict[str, Any] = {
        "since": datetime(2026, 1, 1, tzinfo=UTC),
        "groups": ("g-*", "absent", HOSTILE),
    }
    expected = local_audit([sources], tmp_path / "local", cluster=CLUSTER, **choice)
    lines: list[str] = []
    request = AuditRequest(
        sources=[sources], out=tmp_path / "out", cluster=CLUSTER, tasks=5, **choice
    )
    found = audit(request, tell=lines.append)
    assert_same_rows(found, expected)
    assert found.left_out == expected.left_out == manifest_of(found)["left_out"]
    parameters = manifest_of(found)["parameters"]
    assert parameters["since"] == "2026-01-01T00:00:00Z"
    assert parameters["groups"] == [*choice["groups"]]
    absent, untimed = lines
    assert absent == "--group absent: no rebalance or snapshot of such a group"
    count = f"{found.left_out['no-time']} rebalances and snapshots"
    assert untimed == f"left out, because their times are not known: {count}"


@pytest.mark.nightly(minutes=1.6)
def test_the_rows_of_the_recording_are_those_without_spark(
    spark: SparkSession, churn_audit: AuditSummary, tmp_path: Path
) -> None:
    source, out = RECORDINGS / "churn", tmp_path / "out"
    assert_same_rows(
        audit(AuditRequest(sources=[source], out=out, cluster="churn", master=MASTER)),
        churn_audit,
    )


def test_the_row_of_the_run_agrees_with_the_manifest(divided: AuditSummary) -> None:
    table = read_table(Path(divided.out), RUN_TABLE)
    assert table.schema.types == TABLES[RUN_TABLE].types
    (row,), manifest = table.to_pylist(), manifest_of(divided)
    for name in ("rows_read", "rows_repeated"):
        assert row[name] == manifest[name]
    for name in ("rows", "seconds", "versions"):
        assert dict(row[name]) == manifest[name]
    assert dict(row["quarantined"]) == manifest["quarantine"]
    assert (row["tasks"], row["cores"]) == tuple(
        manifest["spark"][name] for name in ("tasks", "cores")
    )
    for name in ("cluster", "master"):
        assert row[name] == manifest["parameters"][name]
    for name in ("started", "finished"):
        assert row[name].isoformat() == manifest[name]
    assert row["date"] == manifest["started"][:10]


def test_the_manifest_lists_sources_and_parameters(
    divided: AuditSummary, sources: Path
) -> None:
    manifest = manifest_of(divided)
    assert manifest["format"] == "audit/1"
    assert manifest["rows"] == divided.rows
    assert manifest["quarantine"] == divided.quarantine
    hashes = {source["name"]: source["sha256"] for source in manifest["sources"]}
    for name in ("records-1.jsonl", "documents.jsonl"):
        data = (sources / name).read_bytes()
        assert hashes[f"mixed/{name}"] == hashlib.sha256(data).hexdigest()
    assert manifest["parameters"]["topics"] == "topics.json"
    assert manifest["parameters"]["offsets"] == "offsets.json"
    assert manifest["versions"]["java"] == divided.java
    assert set(manifest["seconds"]) == {"find", "start", "read", "judge", "write"}


def test_a_large_audit_judges_what_its_page_shows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that no sample judged is false, and stops the audit on its page."""
    monkeypatch.setattr(run, "JUDGED_WHOLE", 0)
    out = tmp_path / "out"

    def false(tables: Any, schema: pa.Schema, *others: Any) -> Iterator[pa.Table]:
        for table in in_order(tables, schema, *others):
            yield table if schema != SCHEMAS["answers"] else with_more_kept(table)

    def page(folder: Path) -> None:
        write_page(folder, folder / PAGE)

    def run_audit() -> AuditSummary:
        source = RECORDINGS / "first-look"
        return audit(
            AuditRequest(
                sources=[source], out=out, master=MASTER, assignors=["optimum"]
            ),
            page=page,
        )

    summary = run_audit()
    assert manifest_of(summary)["parameters"]["judged_whole"] == 0
    answers = read_table(out, "answers")
    assert set(answers["judged_by"].to_pylist()) == {COLUMNS, JUDGE}
    html = (out / PAGE).read_bytes()
    monkeypatch.setattr(table_rows, "in_order", false)
    words = "rebalance .*: actual: the judge and the tables differ: kept:"
    with pytest.raises(DisagreementError, match=words):
        run_audit()
    assert read_table(out, "answers").equals(answers)  # the audit before
    assert (out / PAGE).read_bytes() == html


def with_more_kept(answers: pa.Table) -> pa.Table:
    """Add a partition that was kept to all rows that the judge has not checked."""
    place = answers.schema.get_field_index("kept")
    is_unchecked = pc.cast(pc.equal(answers["judged_by"], COLUMNS), pa.int64())
    more = pc.add(answers["kept"], is_unchecked)
    return answers.set_column(place, answers.schema.field(place), more)


def test_what_a_file_of_lag_lacks_is_reported_and_in_the_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    lag = tmp_path / "lag.prom"
    group = 'kafka_consumergroup_lag{consumergroup="g-coop",topic="orders"'
    lags = [f'{group},partition="{at}"}} {7 - 4 * at}\n' for at in range(3)]
    lag.write_text("".join(lags))
    lines: list[str] = []
    out, master = tmp_path / "out", MASTER
    found = audit(
        AuditRequest(sources=[FIRST_LOOK], out=out, lag=[lag], master=master),
        tell=lines.append,
    )
    assert lines == [f"{lag}: no lag of group g-coop, orders 2: {NO_COMMIT}"]
    assert found.quarantine[f"missing: lag: {NO_COMMIT}"] == 1
    (row,) = [
        row
        for row in rows_of(found, "quarantine")
        if row["reason"] == f"lag: {NO_COMMIT}"
    ]
    assert (row["source"], row["group_id"]) == (str(lag), "g-coop")
    missing = {
        (row["group_id"] == "g-coop", row["lag_missing"], row["lag_known"])
        for row in rows_of(found, "rebalances")
    }
    assert missing == {
        (True, "orders 2, 3, 4, 5; payments 0, 1, 2", False),
        (False, None, False),
    }


# Putting tables in place.


def fail_after_page(folder: Path) -> None:
    page_into(folder)
    raise OSError("no page")


def test_an_audit_is_replaced_as_a_whole_with_its_page(
    spark: SparkSession, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    (out / "deep" / "mine.txt").write_text("keep me")
    left_by_a_killed_run = out / ".unfinished" / "answers" / "half"
    left_by_a_killed_run.mkdir(parents=True)
    lines: list[tuple[str, int, int]] = []
    options: dict[str, Any] = {"master": MASTER, "tasks": 2}
    log, shorter = log_of(tmp_path, 3), log_of(tmp_path, 2)
    first = audit(
        AuditRequest(sources=[log], out=out, cluster="one", **options),
        progress=lambda *line: lines.append(line),
        page=page_into,
    )
    assert first.rows["rebalances"] == 3
    phases = list(dict.fromkeys(phase for phase, _, _ in lines))
    assert phases == ["read", "judge", "write", "page"]
    assert all(0 <= done <= total for _, done, total in lines)
    assert [row["rows_read"] for row in rows_of(first, RUN_TABLE)] == [3]
    assert (out / "index.html").read_text() == f"one {3 * ANSWERS}"
    before = files_of(out), (out / "audit.json").read_bytes()
    other = AuditRequest(sources=[shorter], out=out, cluster="two", **options)
    with pytest.raises(OutputError, match="no page"):
        audit(other, page=fail_after_page)
    assert (files_of(out), (out / "audit.json").read_bytes()) == before
    second = audit(other, page=page_into)
    assert [row["cluster"] for row in rows_of(second, RUN_TABLE)] == ["two"]
    assert second.rows["rebalances"] == 2
    assert {r["cluster"] for r in rows_of(second, "answers")} == {"two"}
    assert (out / "index.html").read_text() == f"two {2 * ANSWERS}"
    assert (out / "deep" / "mine.txt").read_text() == "keep me"
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*TABLES, "audit.json", "deep", "index.html"]
    )
    assert read_table(out, "quarantine").num_rows == 0


def test_an_audit_of_another_file_system(spark: SparkSession, tmp_path: Path) -> None:
    """``viewfs:`` mounts folders under names that are no paths of this machine."""
    (tmp_path / "real" / "in").mkdir(parents=True)
    (tmp_path / "real" / "in" / "topics.json").write_text('{"t": 2}')
    for generations in (1, 2):
        log_of(tmp_path / "real" / "in", generations)
    conf = spark._jsc.hadoopConfiguration()
    conf.set("fs.viewfs.mounttable.other.link./data", f"file://{tmp_path}/real")
    there, here = "viewfs://other/data/out", tmp_path / "out"
    with pytest.raises(SourceError, match="no such file"):
        audit(
            AuditRequest(
                sources=["viewfs://other/data/absent"], out=there, master=MASTER
            )
        )
    lines: list[str] = []
    options: dict[str, Any] = {"cluster": "x", "master": MASTER, "tasks": 2}
    hooks: dict[str, Any] = {"page": page_into, "tell": lines.append}
    request = AuditRequest(sources=[tmp_path / "real/in"], out=here, **options)
    local = audit(request, **hooks)
    request = AuditRequest(sources=["viewfs://other/data/in"], out=there, **options)
    again = partial(audit, request, **hooks)
    with pytest.raises(KeyboardInterrupt):
        again(progress=interrupt_in("read"))
    assert not (tmp_path / "real" / "out").exists()
    with pytest.raises(KeyboardInterrupt):
        again(progress=interrupt_in("write"))
    for _ in range(2):  # the second run replaces the first
        remote = again()
        assert (remote.rows, remote.out) == (local.rows, there)
        real = tmp_path / "real" / "out"
        written = {k: v for k, v in files_of(real).items() if not k.endswith(".crc")}
        assert written == files_of(here)
        assert (real / "audit.json").is_file()
        assert not any(path.is_dir() and path.name[0] == "." for path in real.iterdir())
    assert lines[0].startswith(f"finished work is kept in {there}/.unfinished (0.")
    (line,) = lines[1:]
    assert re.fullmatch(r"continuing: (\d) of \1 parts were finished", line), line


@pytest.mark.parametrize(
    "full",
    [
        pytest.param("read", marks=pytest.mark.nightly),
        "judge",
        pytest.param("write", marks=pytest.mark.nightly),
    ],
)
def test_a_full_disk_leaves_the_audit_before(
    spark: SparkSession, tmp_path: Path, full: str
) -> None:
    """The processes that write may write no file past 4 KB from this phase on.

    Tables are written by this one, other files by Java and Python's workers.
    """
    out = tmp_path / "out"
    local_audit([log_of(tmp_path, 2)], out, cluster="before")
    before = files_of(out), (out / "audit.json").read_bytes()
    java = psutil.Process(spark.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size: int) -> None:
        is_here = full == "write"
        writers = [psutil.Process()] if is_here else [java, *java.children(True)]
        for writer in writers:
            with suppress(ProcessLookupError):  # a worker that has just ended
                resource.prlimit(writer.pid, resource.RLIMIT_FSIZE, (size, hard))

    def fill(phase: str, done: int, total: int) -> None:
        if phase == full:
            limit(4096)

    try:
        with pytest.raises(OutputError) as error:
            audit(
                AuditRequest(sources=[FIRST_LOOK], out=out, assignors=["optimum"]),
                progress=fill,
            )
    finally:
        limit(soft)
    assert str(error.value).casefold() == f"{out}: file too large".casefold()
    assert (files_of(out), (out / "audit.json").read_bytes()) == before
    hidden = [path.name for path in out.iterdir() if path.name.startswith(".")]
    assert hidden == ([] if full == "read" else [".unfinished"])


def test_a_first_audit_that_fails_at_once_leaves_no_folder(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, interrupt = log_of(tmp_path, 2), interrupt_in("read")
    with pytest.raises(KeyboardInterrupt):
        audit(
            AuditRequest(sources=[log], out=tmp_path / "out", master=MASTER),
            progress=interrupt,
        )
    assert not (tmp_path / "out").exists()


# Spark of its own.


@pytest.mark.nightly(minutes=2)
def test_a_relative_path_on_a_cluster_is_that_of_the_driver(tmp_path: Path) -> None:
    """Workers of ``local-cluster`` run in folders of their own."""
    (tmp_path / "in").mkdir()
    log_of(tmp_path / "in", 3)
    found = []
    for master in ("local-cluster[2,1,1024]", "local[1]", "local[2]"):
        ran = subprocess.run(
            [sys.executable, "-c", RELATIVE, master],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert ran.returncode == 0, ran.stderr
        found.append(tables_of(tmp_path / master))
    assert read_table(tmp_path / "local[1]", "answers").num_rows == 3 * ANSWERS
    assert found[0] == found[1] == found[2]


RELATIVE = """
import sys
from pathlib import Path
from pipeline.audit import AuditRequest, audit
request = AuditRequest(sources=["in"], out=Path(sys.argv[1]), master=sys.argv[1])
audit(request)
"""

SCRIPT = """
import sys
from pathlib import Path
from pipeline.audit import AuditRequest, audit
sources, out = [Path(sys.argv[1])], Path(sys.argv[2])
summary = audit(AuditRequest(sources=sources, out=out, master="local[1]"))
print(summary.rows["rebalances"], summary.java.startswith("Java "))
"""


@pytest.mark.nightly(minutes=1.6)
def test_an_audit_by_itself_is_quiet_and_stops_spark(tmp_path: Path) -> None:
    log = log_of(tmp_path, 2)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "2 True\n"
