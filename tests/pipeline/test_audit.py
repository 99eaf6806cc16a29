"""Complete audits on Spark: tables, atomic replacement, and failures."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pipeline.audit import AuditSummary, audit, run
from pipeline.audit.progress import Progress
from pipeline.evaluation import DEFAULT
from pipeline.reading import read_table
from pipeline.session import spark_session
from pipeline.tables import ORDER, RUN_TABLE, SCHEMAS, TABLES
from pipeline.writing import staging
from rebalance import DocumentError, OracleError, OutputError, SourceError
from tests.pipeline.groups import Log, group, member
from tests.shapes import CHAIN
from tests.wire import RECORDINGS, TESTS

MASTER = "local[2]"
ANSWERS = len(DEFAULT)
FIRST_LOOK = RECORDINGS / "first-look"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = spark_session(MASTER)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def churn(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    """The audit of the recording that ships: it takes long, and its tests are slow."""
    out = tmp_path_factory.mktemp("audits") / "churn"
    return audit([RECORDINGS / "churn"], out, cluster="churn", master=MASTER)


@pytest.fixture(
    scope="module", params=["mixed", pytest.param("churn", marks=pytest.mark.slow)]
)
def audited(request: pytest.FixtureRequest) -> AuditSummary:
    """The audit of that folder and, among the slow tests, of the recording."""
    summary: AuditSummary = request.getfixturevalue(request.param)
    return summary


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of source, and with damage."""
    folder = tmp_path_factory.mktemp("sources") / "mixed"
    folder.mkdir()
    recorded = (FIRST_LOOK / "consumer_offsets.jsonl").read_text().splitlines()
    half = len(recorded) // 2
    recorded[7] = recorded[7][:40]
    (folder / "records-1.jsonl").write_text("\n".join(recorded[: half + 20]) + "\n")
    (folder / "records-2.jsonl").write_text("\n".join(recorded[half:]) + "\n")
    describe = (TESTS / "data/describe-4.3.1/all-groups.describe.txt").read_text()
    (folder / "all.describe.txt").write_text(describe)
    (folder / "cut.describe.txt").write_text(describe[: len(describe) // 2])
    hostile = CHAIN | {"group": "<script>alert('é😀')</script>"}
    documents = [orjson.dumps(CHAIN), b"{}", orjson.dumps(hostile)]
    (folder / "documents.jsonl").write_bytes(b"\n".join(documents))
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 4)
    return folder


@pytest.fixture(scope="module")
def mixed(
    spark: SparkSession, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> AuditSummary:
    """The audit of that folder, as one task."""
    out = tmp_path_factory.mktemp("audits") / "mixed"
    return audit([sources], out, cluster="a/b c=é", master=MASTER, tasks=1)


def rows_of(summary: AuditSummary, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(Path(summary.out), name).to_pylist()
    return found


# What holds in every audit.


def test_tables_are_as_their_schemas_say(audited: AuditSummary) -> None:
    assert audited.tables == {name: f"{audited.out}/{name}" for name in TABLES}
    for name, schema in SCHEMAS.items():
        table = read_table(Path(audited.out), name)
        assert table.schema.names == schema.names
        assert table.schema.types == schema.types
        assert table.num_rows == audited.rows[name]
        assert table.num_rows > 0 or name in {"snapshots", "quarantine"}


def manifest_of(summary: AuditSummary) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(summary.out) / "audit.json").read_bytes())
    return found


def test_the_row_of_the_run_agrees_with_the_manifest(audited: AuditSummary) -> None:
    table = read_table(Path(audited.out), RUN_TABLE)
    assert table.schema.types == TABLES[RUN_TABLE].types
    (row,), manifest = table.to_pylist(), manifest_of(audited)
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


def test_the_row_of_the_run_agrees_with_the_tables(audited: AuditSummary) -> None:
    (row,) = rows_of(audited, RUN_TABLE)
    assert dict(row["rows"]) == {name: len(rows_of(audited, name)) for name in SCHEMAS}
    counts = Counter[str]()
    for one in rows_of(audited, "quarantine"):
        counts[f"{one['kind']}: {one['reason']}"] += one["records"]
    assert dict(row["quarantined"]) == counts
    assert row["rows_quarantined"] == counts.total()
    judged = [
        r for r in rows_of(audited, "answers") if r["verdict"] or not r["applies"]
    ]
    assert row["rows_judged"] == len(judged) + len(rows_of(audited, "snapshots"))


def test_every_optimum_is_proved_by_the_judge(audited: AuditSummary) -> None:
    answers = rows_of(audited, "answers")
    optima = [row for row in answers if row["assignor"] == "optimum"]
    assert len(optima) == audited.rows["rebalances"] > 0
    for row in optima:
        assert (row["status"], row["verdict"]) == ("optimal", "valid")
        assert row["proved_dec_min"]
        assert row["proved_stickiness"]
        assert row["at_optimum"]


def test_no_answer_is_better_than_the_optimum(audited: AuditSummary) -> None:
    for row in rows_of(audited, "answers"):
        if row["applies"] and row["verdict"] == "valid" and not row["withheld"]:
            assert row["kip54_score"] >= row["kip54_score_least"]
            assert not row["dec_min_balanced"] or row["moves"] >= row["moves_least"]
            assert (row["peak_lag"] is None) == (row["peak_lag_bound"] is None)
            assert row["peak_lag"] is None or row["peak_lag"] >= row["peak_lag_bound"]


def test_chain_sticky_is_always_as_even_as_can_be(audited: AuditSummary) -> None:
    ours = [r for r in rows_of(audited, "answers") if r["assignor"] == "chain-sticky"]
    assert len(ours) == audited.rows["rebalances"] > 0
    assert all(row["verdict"] == "valid" and row["dec_min_balanced"] for row in ours)


def test_tables_join(audited: AuditSummary) -> None:
    rebalances = {row["rebalance_id"]: row for row in rows_of(audited, "rebalances")}
    assert len(rebalances) == audited.rows["rebalances"]
    snapshots = {row["snapshot_id"]: row for row in rows_of(audited, "snapshots")}
    assert len(snapshots) == audited.rows["snapshots"]
    answered = {row["rebalance_id"] for row in rows_of(audited, "answers")}
    assert answered == rebalances.keys()
    states = {row["state_of"] for row in snapshots.values()} - {None}
    assert states <= rebalances.keys()
    episodes = {row["episode_id"]: row for row in rows_of(audited, "episodes")}
    parts = [row["episode_id"] for row in rebalances.values() if row["episode_id"]]
    rounds = Counter(parts)
    assert rounds == {key: row["rounds"] for key, row in episodes.items()}
    per_member = Counter(row["rebalance_id"] for row in rows_of(audited, "members"))
    whole = rebalances | snapshots
    assert per_member == {key: row["members"] for key, row in whole.items()}


def test_rows_are_in_order(audited: AuditSummary) -> None:
    for name, order in ORDER.items():
        rows = rows_of(audited, name)
        by_day: dict[str, list[Any]] = {}
        for row in rows:
            key = [(row[column] is not None, row[column]) for column in order]
            by_day.setdefault(row["date"], []).append(key)
        for keys in by_day.values():
            assert keys == sorted(keys)


# The recording that ships.


@pytest.mark.slow
def test_the_recording_is_judged_whole(churn: AuditSummary) -> None:
    assert churn.rows == {
        "rebalances": 657,
        "answers": 657 * 14,  # actual, optimum and twelve heuristics
        "episodes": 514,
        "members": 3550,
        "snapshots": 0,
        "quarantine": 18,  # gaps in the generations, of 19 that were never completed
    }
    protocols = Counter(row["protocol"] for row in rows_of(churn, "rebalances"))
    assert protocols == {"classic": 529, "consumer": 128}


@pytest.mark.slow
def test_every_record_of_the_recording_is_counted(churn: AuditSummary) -> None:
    records = pq.read_metadata(RECORDINGS / "churn" / "consumer_offsets.parquet")
    (row,) = rows_of(churn, RUN_TABLE)
    assert row["rows_read"] == records.num_rows > 8_000


@pytest.mark.slow
def test_what_java_sticky_did(churn: AuditSummary) -> None:
    """Of 47 rebalances 31 are off: 5 unbalanced, 22 move needlessly, 4 are invalid."""
    found = Counter(
        "invalid"
        if row["verdict"] != "valid"
        else "unbalanced"
        if not row["dec_min_balanced"]
        else "needless"
        if row["moves"] > row["moves_least"]
        else "optimal"
        for row in rows_of(churn, "answers")
        if (row["group_id"], row["assignor"]) == ("ads-java-sticky", "actual")
    )
    assert found == {"invalid": 4, "unbalanced": 5, "needless": 22, "optimal": 16}


@pytest.mark.slow
def test_real_answers_break_these_rules_and_no_others(churn: AuditSummary) -> None:
    broken = Counter(
        (row["group_id"], violation["rule"])
        for row in rows_of(churn, "answers")
        if row["assignor"] == "actual"
        for violation in row["violations"][:1]
    )
    assert broken == {
        ("ads-java-sticky", "unsubscribed"): 4,
        ("search-sticky", "unassigned"): 10,
        ("ads-java-coop", "unassigned"): 1,
    }


@pytest.mark.slow
def test_lag_is_of_the_end_of_the_recording(churn: AuditSummary) -> None:
    rebalances = rows_of(churn, "rebalances")
    assert {row["lag_basis"] for row in rebalances} == {"end-of-recording"}
    assert None not in {row["episode_id"] for row in rebalances}
    assert {row["partition_counts"] for row in rebalances} == {"given"}


@pytest.mark.slow
def test_the_manifest_lists_sources_and_parameters(churn: AuditSummary) -> None:
    manifest = json.loads((Path(churn.out) / "audit.json").read_bytes())
    assert manifest["format"] == "audit/1"
    assert manifest["rows"] == churn.rows
    assert manifest["quarantine"] == churn.quarantine
    (source,) = manifest["sources"]
    assert source["name"] == "churn/consumer_offsets.parquet"
    assert source["sha256"].startswith("0aca8bb21034f949")
    assert manifest["parameters"]["topics"] == "topics.json"
    assert manifest["parameters"]["offsets"] == "offsets.json"
    assert manifest["versions"]["java"] == churn.java
    assert set(manifest["seconds"]) == {"find", "start", "read", "judge", "write"}


# The same tables, however the work is divided.


def files_of(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
        and not {"audit.json", RUN_TABLE, ".unfinished"}
        & {*path.relative_to(out).parts}
    }


def tables_of(out: Path) -> dict[str, pa.Table]:
    """Return the rows of each file, in order, but of the table that describes the run.

    Files of two Java processes can differ in their footers, which list the encodings
    of a column in the order of a hash.
    """
    found = sorted(out.glob("[!.]*/**/*.parquet"))
    paths = [path for path in found if not path.is_relative_to(out / RUN_TABLE)]
    return {str(path.relative_to(out)): pq.ParquetFile(path).read() for path in paths}


def test_the_tables_do_not_depend_on_the_division_of_work(
    mixed: AuditSummary,
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "ROWS_PER_PART", 5)
    out = tmp_path / "divided"
    divided = audit([sources], out, cluster="a/b c=é", master=MASTER, tasks=5)
    assert (divided.rows, divided.quarantine) == (mixed.rows, mixed.quarantine)
    for name in ("rows_read", "rows_repeated"):
        assert manifest_of(divided)[name] == manifest_of(mixed)[name]
    # The second file of records begins with twenty lines of the first.
    assert manifest_of(mixed)["rows_repeated"] == 20
    for name in SCHEMAS:
        whole = read_table(Path(mixed.out), name)
        assert read_table(out, name).equals(whole)
    assert len(files_of(out)) > len(files_of(Path(mixed.out)))
    table = read_table(Path(mixed.out), "rebalances")
    assert set(table.column("cluster").to_pylist()) == {"a/b c=é"}
    kinds = Counter(table.column("source_kind").to_pylist())
    assert kinds.keys() == {"consumer-offsets", "rebalance"}
    assert kinds["rebalance"] == 2


def test_bad_input_is_quarantined_and_the_rest_judged(mixed: AuditSummary) -> None:
    rows = rows_of(mixed, "quarantine")
    reasons = {row["source"]: row["reason"] for row in rows}
    assert reasons["mixed/records-1.jsonl"] != ""
    assert reasons["mixed/noise.bin"].startswith("unknown format")
    assert reasons["mixed/documents.jsonl"].startswith("$.format")
    assert "g-java-sticky" in {row["group_id"] for row in rows_of(mixed, "rebalances")}
    cut = [r for r in rows if r["source"] == "mixed/cut.describe.txt"]
    assert cut[-1]["kind"] == "unreadable"
    assert cut[-1]["value"]
    line = next(r for r in rows if r["source_offset"] == 8 and r["kind"] != "set-aside")
    assert line["reason"].startswith("not JSON")
    answered = rows_of(mixed, "answers")
    assert {"<script>alert('é😀')</script>"} <= {row["group_id"] for row in answered}


# Putting tables in place.


def log_of(tmp_path: Path, generations: int) -> Path:
    path = tmp_path / f"log-{generations}.jsonl"
    people = [member(name, ["t"], {"t": [n]}) for n, name in enumerate("ab")]
    log = Log().add(*[group(n, *people) for n in range(1, generations + 1)])
    path.write_text("".join(json.dumps(row) + "\n" for row in log.records))
    return path


def test_an_audit_is_replaced_as_a_whole(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "deep").mkdir(parents=True)
    (out / "deep" / "mine.txt").write_text("keep me")
    left_by_a_killed_run = out / ".unfinished" / "answers" / "half"
    left_by_a_killed_run.mkdir(parents=True)
    told: list[tuple[str, int, int]] = []

    def tell(phase: str, done: int, total: int) -> None:
        told.append((phase, done, total))

    log = log_of(tmp_path, 3)
    first = audit([log], out, cluster="one", master=MASTER, progress=tell)
    assert first.rows["rebalances"] == 3
    phases = list(dict.fromkeys(phase for phase, _, _ in told))
    assert phases == ["read", "judge", "write"]
    assert all(0 <= done <= total for _, done, total in told)
    assert [row["rows_read"] for row in rows_of(first, RUN_TABLE)] == [3]
    second = audit([log_of(tmp_path, 2)], out, cluster="two", master=MASTER)
    assert [row["cluster"] for row in rows_of(second, RUN_TABLE)] == ["two"]
    assert second.rows["rebalances"] == 2
    assert {r["cluster"] for r in rows_of(second, "answers")} == {"two"}
    assert (out / "deep" / "mine.txt").read_text() == "keep me"
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*TABLES, "audit.json", "deep"]
    )
    assert read_table(out, "quarantine").num_rows == 0


def page_into(folder: Path) -> None:
    """Write a page that shows from which tables it was made."""
    clusters = read_table(folder, "answers").column("cluster").to_pylist()
    manifest = json.loads((folder / "audit.json").read_bytes())
    text = f"{clusters[0]} {manifest['rows']['answers']}"
    (folder / "index.html").write_text(text)


def test_the_page_is_replaced_with_the_tables(
    spark: SparkSession, tmp_path: Path
) -> None:
    out, log = tmp_path / "out", log_of(tmp_path, 1)
    audit([log], out, cluster="one", master=MASTER, page=page_into)
    assert (out / "index.html").read_text() == f"one {ANSWERS}"
    before = files_of(out), (out / "audit.json").read_bytes()

    def fail(folder: Path) -> None:
        page_into(folder)
        raise OSError("no page")

    with pytest.raises(OutputError, match="no page"):
        audit([log], out, cluster="two", master=MASTER, page=fail)
    assert (files_of(out), (out / "audit.json").read_bytes()) == before
    # A run that was killed while it put its tables in place.
    (out / ".replaced").mkdir()
    for name in ("audit.json", "index.html", "answers"):
        (out / name).rename(out / ".replaced" / name)
    (out / "answers").mkdir()
    with staging(out):
        pass
    assert (files_of(out), (out / "audit.json").read_bytes()) == before


@pytest.mark.slow
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
        audit(["viewfs://other/data/absent"], there, master=MASTER)
    options: dict[str, Any] = {"cluster": "x", "master": MASTER, "page": page_into}
    local = audit([tmp_path / "real/in"], here, **options)
    for _ in range(2):  # the second run replaces the first
        remote = audit(["viewfs://other/data/in"], there, **options)
        assert (remote.rows, remote.out) == (local.rows, there)
    real = tmp_path / "real" / "out"
    written = {k: v for k, v in files_of(real).items() if not k.endswith(".crc")}
    assert written == files_of(here)
    assert (real / "audit.json").is_file()
    assert not any(path.is_dir() and path.name[0] == "." for path in real.iterdir())
    again, told = "viewfs://other/data/again", list[str]()
    options |= {"tell": told.append}
    stop = interrupt_in("read")
    with pytest.raises(KeyboardInterrupt):
        audit(["viewfs://other/data/in"], again, **options, progress=stop)
    assert not (tmp_path / "real" / "again").exists()
    stop = interrupt_in("write")
    with pytest.raises(KeyboardInterrupt):
        audit(["viewfs://other/data/in"], again, **options, progress=stop)
    remote = audit(["viewfs://other/data/in"], again, **options)
    assert told[0].startswith(f"finished work is kept in {again}/.unfinished (0.")
    assert told[1:] == ["continuing: 2 of 2 parts were finished"]
    real = tmp_path / "real" / "again"
    written = {k: v for k, v in files_of(real).items() if not k.endswith(".crc")}
    assert written == files_of(here)
    assert not (real / ".unfinished").exists()


def interrupt_in(name: str) -> Progress:
    """Return what interrupts an audit in a phase."""

    def interrupt(phase: str, _done: int, _total: int) -> None:
        if phase == name:
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.slow
@pytest.mark.parametrize("full", ["read", "judge", "write"])
def test_a_full_disk_leaves_the_audit_before(
    spark: SparkSession, tmp_path: Path, full: str
) -> None:
    """Java may write no file past 4 KB from this phase on."""
    out = tmp_path / "out"
    audit([log_of(tmp_path, 2)], out, cluster="before", master=MASTER)
    before = files_of(out), (out / "audit.json").read_bytes()
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    soft, hard = resource.prlimit(java, resource.RLIMIT_FSIZE)

    def fill(phase: str, done: int, total: int) -> None:
        if phase == full:
            resource.prlimit(java, resource.RLIMIT_FSIZE, (4096, hard))

    try:
        with pytest.raises(OutputError) as error:
            audit([FIRST_LOOK], out, cluster="after", master=MASTER, progress=fill)
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value) == f"{out}: file too large"
    assert (files_of(out), (out / "audit.json").read_bytes()) == before
    hidden = [path.name for path in out.iterdir() if path.name.startswith(".")]
    assert hidden == ([] if full == "read" else [".unfinished"])


def test_a_first_audit_that_fails_at_once_leaves_no_folder(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, interrupt = log_of(tmp_path, 2), interrupt_in("read")
    with pytest.raises(KeyboardInterrupt):
        audit([log], tmp_path / "out", master=MASTER, progress=interrupt)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["file/out", "file"])
def test_a_folder_that_cannot_be_made(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError) as error:
        audit([log_of(tmp_path, 1)], tmp_path / name, master=MASTER)
    assert str(tmp_path / name) in str(error.value)
    assert error.value.exit_code == 2
    assert (tmp_path / "file").read_text() == "in the way"


def test_two_audits_do_not_share_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="another audit"):
            audit([log_of(tmp_path, 1)], out, master=MASTER)


# What is asked for wrongly is said before anything starts.


def test_wrong_input_needs_no_spark(tmp_path: Path) -> None:
    log = log_of(tmp_path, 1)
    out = tmp_path / "out"
    wrong = tmp_path / "topics.json"
    wrong.write_text('{"t": "many"}')
    with pytest.raises(SourceError, match="no such file"):
        audit([tmp_path / "absent"], out)
    with pytest.raises(SourceError, match="no such format"):
        audit([log], out, source_format="avro")
    with pytest.raises(DocumentError, match=r"\$.t"):
        audit([log], out, topics=wrong)
    with pytest.raises(SourceError, match="needs a name"):
        audit([log], out, cluster="")
    assert not out.exists()


@pytest.mark.slow(minutes=2)
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
from pipeline.audit import audit
audit(["in"], Path(sys.argv[1]), master=sys.argv[1])
"""

SCRIPT = """
import sys
from pathlib import Path
from pipeline.audit import audit
summary = audit([Path(sys.argv[1])], Path(sys.argv[2]), master="local[1]")
print(summary.rows["rebalances"], summary.java.startswith("Java "))
"""


@pytest.mark.slow
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


def test_errors_carry_exit_codes() -> None:
    assert issubclass(OutputError, OracleError)
    assert OutputError("full", target="x").exit_code == 2
