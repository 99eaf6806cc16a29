"""``audit``: messages and files; only the heavy tests run Spark."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

import pipeline.live as pipeline_live
from oracle.alerting import AuditSummaryDocument
from oracle.cli.runs import audit as auditing
from oracle.report.facts import GROUPS_SHOWN
from pipeline.audit import AuditRequest, AuditSummary
from pipeline.live import ClientSettings, LiveSource, OffsetsLog
from rebalance import (
    ClaimRule,
    OffsetReset,
    OutputError,
    OutsideError,
    SourceError,
    parse_record,
)
from tests.oracle.cli.commands import Cli, failing
from tests.oracle.report.html_reading import read_html
from tests.oracle.report.scenes import small_audit

ROOT = Path(__file__).resolve().parents[3]
FIRST_LOOK = ROOT / "recordings" / "first-look"


class Pretended:
    """Substitute for the pipeline that writes the tables of a known audit."""

    def __init__(self) -> None:
        self.requests: list[AuditRequest] = []
        self.live: Any = None
        self.rebalances = 8
        self.quarantine = {"set-aside: new\x1b protocol": 1200}
        self.lag_missing: str | None = None
        self.more_kept = 0
        self.left_out: dict[str, int] = {}
        self.history: dict[str, Any] | None = None

    def __call__(
        self,
        request: AuditRequest,
        *,
        live: Any,
        progress: Callable[[str, int, int], None],
        page: Callable[[Path], None],
        tell: Callable[[str], None],
        meanwhile: Callable[[], None],
    ) -> AuditSummary:
        self.requests.append(request)
        self.live, out = live, str(request.out)
        meanwhile()
        for phase in ("read", "judge", "judge", "write"):
            progress(phase, 0, 1)
            if phase == "read":
                tell("continuing: 7 of 16 parts were finished")
        tables = small_audit()
        tables.rows["rebalances"][0]["lag_missing"] = self.lag_missing
        tables.rows["answers"][0]["kept"] += self.more_kept
        for row in tables.rows["answers"]:
            if row["assignor"] == "actual" and row["verdict"] == "invalid":
                row["shared_partition_ms"] = 4000
        tables.history = self.history
        tables.write(Path(out))
        progress("page", 0, 1)
        page(Path(out))
        return AuditSummary(
            out=out,
            tables={"answers": f"{out}/answers"},
            rows={"answers": 12, "rebalances": self.rebalances, "snapshots": 0},
            quarantine=self.quarantine,
            left_out=self.left_out,
            java="Java 21 from somewhere",
            started=datetime(2026, 3, 1, tzinfo=UTC),
            finished=datetime(2026, 3, 1, tzinfo=UTC),
            seconds={},
        )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    pretended = Pretended()
    monkeypatch.setattr(auditing, "audit", pretended)
    return pretended


@pytest.mark.heavy
def test_the_summary_states_paths_and_counts(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = cli("audit", "history", "more", "--out", out)
    text = ended.out.decode()
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert ended.code == 0
    assert f"page {out}/index.html" in lines
    assert f"tables {out}" in lines
    assert "java Java 21 from somewhere" in lines
    assert "with partition counts from topics.json" in lines
    assert lines[0].startswith("orders let several members read the same partitions")
    assert lines[0].endswith(" for 4.0 partition-seconds in 1 rebalance.")
    assert lines[1].startswith("How to help orders: its last assignment is invalid")
    assert "orders\tsticky\t5\t4.0\t6\t1\t1\t1" in text.splitlines()
    assert "1200\tset-aside: new\\x1b protocol" in text.splitlines()
    assert ended.complaints == [
        "reading",
        "continuing: 7 of 16 parts were finished",
        "judging",
        "writing",
        "writing the page",
    ]


def test_a_row_with_which_the_judge_disagrees_ends_with_70(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    pipeline.more_kept = 1
    ended = cli("audit", "history", "--out", tmp_path / "out")
    assert ended.code == 70
    assert ended.complaints[-1] == (
        "rebalance orders#1: optimum: the judge and the tables differ: kept: "
        "a defect; please report it"
    )
    assert not (tmp_path / "out" / "index.html").exists()


@pytest.mark.heavy
def test_the_page_is_written_with_its_command(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    out = tmp_path / "a folder"
    tables = ("--cluster", "prod", "--topics", "t.json")
    chosen = ("--since", "2026-11-24T08:30+01:00", "--group", "a*", "--group", "b")
    cli("audit", "it's", "--out", out, *tables, *chosen)
    root = read_html((out / "index.html").read_text())
    assert root.one("h1").text.endswith("for 4.0 partition-seconds in 1 rebalance.")
    words = shlex.split(root.one("footer").one("pre").text)
    window = ("--since", "2026-11-24T07:30:00Z", "--group", "a*", "--group", "b")
    start = ("assignor-oracle", "audit", "it's", "--out", str(out))
    assert words == [*start, *tables, *window]


OPTIONS = {
    "--cluster": "prod",
    "--topics": "t.json",
    "--offsets": "o.json",
    "--subscriptions": "s.json",
    "--lag": "lag.prom",
    "--auto-offset-reset": "latest",
    "--format": "describe",
    "--columns": "value=payload",
    "--encoding": "base64",
    "--group-name": "orders",
    "--since": "2026-11-24",
    "--until": "2026-11-25T01:30+01:00",
    "--group": "orders-*",
    "--claim-rule": "current-generation",
    "--max-partitions": "7",
    "--assignors": "range, kip54-sticky",
    "--master": "local[1]",
}
REQUEST = AuditRequest(
    sources=["a", "b"],
    out="",
    cluster="prod",
    topics="t.json",
    offsets="o.json",
    subscriptions="s.json",
    lag=["lag.prom"],
    offset_reset=OffsetReset.LATEST,
    source_format="describe",
    columns="value=payload",
    encoding="base64",
    group_name="orders",
    since=datetime(2026, 11, 24, tzinfo=UTC),
    until=datetime(2026, 11, 25, 0, 30, tzinfo=UTC),
    groups=["orders-*"],
    claim_rule=ClaimRule.CURRENT_GENERATION,
    max_partitions=7,
    assignors=("range", "kip54-sticky"),
    master="local[1]",
)
"""What the options ask for, but for the folder."""


@pytest.mark.heavy
def test_options_reach_the_pipeline(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    given = [word for pair in OPTIONS.items() for word in pair]
    assert cli("audit", "a", "b", "--out", tmp_path, *given).code == 0
    cli("audit", "a", "--out", tmp_path)
    first = replace(REQUEST, out=str(tmp_path))
    second = AuditRequest(sources=["a"], out=str(tmp_path))
    assert pipeline.requests == [first, second]
    assert pipeline.live is None


@pytest.mark.heavy
def test_a_cluster_is_a_source(
    cli: Cli,
    pipeline: Pretended,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is looked at once, with its settings; log ends that are missing are named."""
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SSL\n")
    looked = []

    def find(server: str, settings: ClientSettings) -> LiveSource:
        looked.append((server, settings.protocol))
        return LiveSource(
            log=OffsetsLog(server=server, settings=settings),
            ranges=(),
            counts={"orders": 3},
            names={},
            ends={},
            notes=("the log ends of topic orders",),
        )

    monkeypatch.setattr(pipeline_live, "find_live_source", find)
    ended = cli(
        *("audit", "--bootstrap-server", "b:9092", "--command-config", config),
        *("--out", tmp_path / "out"),
    )
    assert ended.code == 0
    assert looked == [("b:9092", "SSL")]
    assert pipeline.requests[0].sources == ()
    assert pipeline.live.counts == {"orders": 3}
    assert ended.complaints[0] == "no lag without the log ends of topic orders"
    root = read_html((tmp_path / "out" / "index.html").read_text())
    words = shlex.split(root.one("footer").one("pre").text)
    assert words[2:6] == [
        "--bootstrap-server",
        "b:9092",
        "--command-config",
        str(config),
    ]


@pytest.mark.heavy
def test_as_json(cli: Cli, pipeline: Pretended, tmp_path: Path) -> None:
    ended = cli("audit", "history", "--out", tmp_path, "--json")
    (document,) = ended.documents
    assert document["format"] == "audit-summary/2"
    assert document["page"] == str(tmp_path / "index.html")
    assert document["java"] == "Java 21 from somewhere"
    assert document["quarantine"] == {"set-aside: new\x1b protocol": 1200}
    first = document["groups"][0]
    assert first.pop("advice").startswith("its last assignment is invalid")
    assert first == {
        "cluster": "prod",
        "group": "orders",
        "assignor": "sticky",
        "judged": 5,
        "at_optimum": 1,
        "moved_needlessly": 2,
        "needless_moves": 6,
        "unbalanced": 1,
        "invalid": 1,
        "open": 0,
        "shared_partition_ms": 4000,
        "invalid_unknown": 0,
        "lasts_to_end": False,
    }
    assert document["snapshots"] == []


def nights(*newest: str) -> dict[str, Any]:
    """Return the history of a store, with the newest record of each night."""
    times = [f"2026-03-01T12:00:{second}.000+00:00" for second in newest]
    audits = [{"newest_record": at} for at in times]
    return {"store": "store", "first_day": None, "audits": audits}


@pytest.mark.parametrize(
    ("newest", "words", "code"),
    [
        (["03", "41"], "invalid>9,worse", 1),
        (["03", "41"], "worse>1", 0),
        (["41"], "worse", 0),
    ],
)
def test_groups_that_are_worse_end_with_1(
    newest: list[str],
    words: str,
    code: int,
    cli: Cli,
    pipeline: Pretended,
    tmp_path: Path,
) -> None:
    """The assignment that reads a partition twice is of the second night."""
    pipeline.history = nights(*newest)
    out = tmp_path / "out"
    store = ("--history", str(tmp_path / "store"))
    ended = cli("audit", "history", "--out", out, *store, "--fail-on", words)
    assert ended.code == code
    worse = "--fail-on: 1 group worse than in the audit before, or new with harm; "
    worse += "first orders: 0 → "
    assert any(line.startswith(worse) for line in ended.complaints) is bool(code)
    page = (out / "index.html").read_text()
    assert ('<h2 id="news">' in page) is (len(newest) > 1)


def test_the_summary_is_a_file(cli: Cli, pipeline: Pretended, tmp_path: Path) -> None:
    """It has the rows of the page, and is the document of ``--json``."""
    file = tmp_path / "summary.json"
    out = ("--out", str(tmp_path / "out"))
    ended = cli("audit", "history", *out, "--summary", file, "--json")
    document = json.loads(file.read_bytes())
    assert [document] == ended.documents
    schema = json.loads((ROOT / "docs/data/audit-summary-2.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    parse_record(AuditSummaryDocument, file.read_bytes())
    assert document["headline"].startswith("orders let several members read")
    assert document["newest_record"] == "2026-03-01T12:00:41.000+00:00"
    assert [row["group"] for row in document["groups"]] == ["orders", "feed", "chain"]
    assert document["groups"][0]["shared_partition_ms"] == 4000


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SourceError("no such file or folder", source="history"), 2),
        (OutputError("no space left on device", target="out"), 3),
        (OutputError("permission denied", target="out"), 2),
        (OutsideError("Spark does not start"), 3),
    ],
)
def test_what_the_pipeline_cannot_do_is_one_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    monkeypatch.setattr(auditing, "audit", failing(error))
    ended = cli("audit", "history", "--out", "out")
    assert ended.code == code
    assert ended.complaints == [str(error)]
    assert ended.out == b""


def test_rebalances_without_lag_although_there_is_a_file_of_it(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    pipeline.lag_missing = "orders 3"
    ended = cli("audit", "history", "--out", tmp_path, "--lag", "lag.prom")
    said = (
        "no lag of 1 rebalance or snapshot: --lag lacks partitions of the group; "
        "lag_missing in the tables names them"
    )
    assert (ended.code, ended.complaints[-1]) == (0, said)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("rebalances", "reason", "code"),
    [
        (0, "unreadable: $.format: 'x'", 2),
        (1, "unreadable: $.format: 'x'", 4),
        (1, "failed: instance", 0),
        (1, "missing: generations", 0),
        (0, "set-aside: new protocol", 0),
    ],
)
def test_input_that_was_lost_is_code_4_and_nothing_but_that_is_code_2(
    cli: Cli,
    pipeline: Pretended,
    tmp_path: Path,
    rebalances: int,
    reason: str,
    code: int,
) -> None:
    pipeline.rebalances, pipeline.quarantine = rebalances, {reason: 3}
    ended = cli("audit", "history", "--out", tmp_path / "out")
    assert ended.code == code
    assert reason in ended.out.decode()
    assert (tmp_path / "out" / "index.html").is_file()
    complaint = "history: no record could be judged; see the table quarantine"
    assert (complaint in ended.complaints) == (code == 2)
    lost = "3 parts of the input could not be read: see the table quarantine"
    assert any(complaint.startswith(lost) for complaint in ended.complaints) == (
        code == 4
    )
    again = cli("audit", "history", "--out", tmp_path / "again", "--accept-losses")
    assert again.code == (0 if code == 4 else code)


def test_a_window_without_rebalances_is_not_unreadable_input(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    pipeline.rebalances, pipeline.quarantine = 0, {"unreadable: a line": 1}
    pipeline.left_out = {"other-time": 7}
    assert cli("audit", "history", "--out", tmp_path / "out", "--since", "1h").code == 4
    assert pipeline.requests[0].since is not None
    ago = datetime.now(UTC) - pipeline.requests[0].since
    assert timedelta(hours=1) <= ago < timedelta(hours=2)


@pytest.mark.parametrize(
    ("fail_on", "stated"),
    [
        ("invalid", "1 invalid assignment; worst group orders: 1"),
        ("invalid>1", None),
        ("unbalanced", "2 unbalanced assignments; worst group chain: 1"),
        ("needless>8.5", "9 needless moves (above 8.5); worst group orders: 6"),
        ("needless>9", None),
        ("harm>4000", None),
        (
            "unbalanced>2, needless, harm>3.5,invalid",
            (
                "9 needless moves; worst group orders: 6; "
                "4.0 partition-seconds unread or read by two (above 3.5); "
                "worst group orders: 4.0; "
                "1 invalid assignment; worst group orders: 1"
            ),
        ),
    ],
)
def test_conditions_of_the_exit_code(
    cli: Cli, pipeline: Pretended, tmp_path: Path, fail_on: str, stated: str | None
) -> None:
    ended = cli("audit", "history", "--out", tmp_path / "out", "--fail-on", fail_on)
    said = [line for line in ended.complaints if line.startswith("--fail-on")]
    assert said == ([] if stated is None else [f"--fail-on: {stated}"])
    assert ended.code == (0 if stated is None else 1)
    assert (tmp_path / "out" / "index.html").is_file()
    assert b"orders" in ended.out


@pytest.mark.parametrize(("fail_on", "code"), [("invalid", 1), ("invalid>1", 4)])
def test_a_condition_counts_before_a_loss(
    cli: Cli, pipeline: Pretended, tmp_path: Path, fail_on: str, code: int
) -> None:
    pipeline.quarantine = {"unreadable: a line": 1}
    ended = cli("audit", "history", "--out", tmp_path / "out", "--fail-on", fail_on)
    assert ended.code == code
    assert any(line.startswith("1 part of the input") for line in ended.complaints)


def test_metrics_are_written_once_the_audit_is_complete(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    inside, file = tmp_path / "out" / "audit.prom", tmp_path / "audit.prom"
    given = ("audit", "history", "--out")
    # The audit creates its folder.
    assert cli(*given, tmp_path / "out", "--metrics", inside).code == 0
    text = inside.read_text()
    orders = '{cluster="prod",group="orders"}'
    assert f"assignor_oracle_group_needless_moves{orders} 6.0\n" in text
    assert f"assignor_oracle_group_shared_partition_seconds{orders} 4.0\n" in text
    assert [path.name for path in tmp_path.glob("out/*.prom*")] == ["audit.prom"]
    file.write_text("of the audit before")
    pipeline.more_kept = 1
    assert cli(*given, tmp_path / "failed", "--metrics", file).code == 70
    assert file.read_text() == "of the audit before"
    pipeline.more_kept = 0
    assert cli(*given, tmp_path / "again", "--metrics", file).code == 0
    assert file.read_text() == text
    file.unlink()
    file.mkdir()
    ended = cli(*given, tmp_path / "last", "--metrics", file)
    refused = f"{file}: cannot write: is a folder"
    assert (ended.code, ended.complaints[-1]) == (2, refused)


@pytest.mark.heavy
def test_a_page_that_cannot_be_written_is_code_2(
    cli: Cli, pipeline: Pretended, tmp_path: Path
) -> None:
    (tmp_path / "index.html").mkdir()
    ended = cli("audit", "history", "--out", tmp_path)
    assert ended.code == 2
    assert "index.html: cannot write: is a folder" in ended.err


@pytest.mark.heavy(minutes=1)
def test_a_recording_is_audited_end_to_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "oracle", "audit", str(FIRST_LOOK)]
    metrics = tmp_path / "audit.prom"
    alerts = ["--fail-on", "invalid>1000000,needless", "--metrics", str(metrics)]
    ended = subprocess.run(
        [*command, "--out", str(out), "--cluster", "first", "--json", *alerts],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    document = json.loads(ended.stdout)
    needless = {row["group"]: row["needless_moves"] for row in document["groups"]}
    families = text_string_to_metric_families(metrics.read_text())
    values = {family.name: family.samples for family in families}
    moves = values["assignor_oracle_group_needless_moves"]
    assert {sample.labels["group"]: sample.value for sample in moves} == needless
    (newest,) = values["assignor_oracle_newest_record_timestamp_seconds"]
    lines = (FIRST_LOOK / "consumer_offsets.jsonl").read_text().splitlines()
    last = datetime.fromisoformat(max(json.loads(line)["timestamp"] for line in lines))
    assert newest.value == last.replace(tzinfo=UTC).timestamp()
    best = {row["group"]: row["at_optimum"] for row in document["groups"]}
    root = read_html((out / "index.html").read_text())
    rows = root.one("table", id="group-table").all("tbody")[0].all("tr")
    names = [row.all("bdi")[0] for row in rows]
    whole = [name.attributes.get("title", name.text) for name in names]
    counts = [int(row.all("td")[7].text.split(" ")[0]) for row in rows]
    shown = dict(zip(whole, counts, strict=True))
    alone = {name: count for name, count in shown.items() if "*" not in name}
    assert alone.items() <= best.items()
    assert len(alone) < len(shown) <= GROUPS_SHOWN  # groups of one pattern are one row
    lines = ended.stderr.decode().splitlines()
    assert all(line.startswith("assignor-oracle: ") for line in lines), lines
    assert sum(needless.values()) == 0
    assert not any("--fail-on" in line for line in lines)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("number", "code", "phase", "is_alone"),
    [
        (signal.SIGTERM, 143, "judging", False),
        (signal.SIGHUP, 129, "reading", True),
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in (
                (signal.SIGINT, 130, "reading", False),
                (signal.SIGINT, 130, "judging", True),
                (signal.SIGHUP, 129, "judging", False),
                (signal.SIGTERM, 143, "reading", False),
                (signal.SIGTERM, 143, "writing", True),
                (signal.SIGHUP, 129, "writing", False),
            )
        ),
    ],
)
@pytest.mark.usefixtures("hangups")
def test_an_interrupted_audit_says_what_it_leaves(
    tmp_path: Path, number: signal.Signals, code: int, phase: str, is_alone: bool
) -> None:
    """Nothing, or what the same command continues; and no process.

    Ctrl-C and a closed terminal reach Java as well; ``kill`` only the command.
    """
    out = tmp_path / "out"
    command = [sys.executable, "-m", "oracle", "audit", str(FIRST_LOOK)]
    with subprocess.Popen(
        [*command, "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert f"assignor-oracle: {phase}\n" in iter(process.stderr.readline, "")
        (os.kill if is_alone else os.killpg)(process.pid, number)
        lines = process.stderr.read().splitlines()  # until Java has closed it, too
        assert process.wait(timeout=300) == code
    if phase == "reading":
        assert lines == []
        assert not out.exists()
        return
    if phase == "writing":
        lines = [line for line in lines if line != "assignor-oracle: writing the page"]
    kept = f"assignor-oracle: finished work is kept in {out}/.unfinished ("
    (line,) = lines
    assert line.startswith(kept)
    assert [path.name for path in out.iterdir()] == [".unfinished"]
