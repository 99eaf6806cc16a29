"""``audit --follow``: updates, messages, and exit codes, with a pretended follower."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import pipeline.following
from oracle.cli.runs import audit as auditing
from oracle.cli.runs import audit_updates as following
from pipeline.audit import AuditRequest, AuditSummary
from pipeline.following import Update
from pipeline.live import ClientSettings, LiveSource, OffsetsLog
from rebalance import OracleError, OutputError, OutsideError
from tests.oracle.cli.commands import Cli
from tests.oracle.report.scenes import small_audit

SERVER = ("audit", "--bootstrap-server", "b:9092", "--follow")
AWAY = OutsideError("b:9092: no broker answers within 15 s")


class Pretended:
    """A follower and an audit: each update is what it reads, or an error.

    After the last update the process is interrupted.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.updates: list[Update | OracleError] = []
        self.audits: list[tuple[AuditRequest, LiveSource]] = []
        self.waited: list[float] = []
        self.noted = 0
        self.is_alive = True
        self.notes: tuple[str, ...] = ()
        patch.setattr(pipeline.following, "following", self.following)
        patch.setattr(auditing, "audit", self.audit)
        patch.setattr(following, "pause", self.pause)

    @contextmanager
    def following(
        self, out: str, log: OffsetsLog, *, master: str
    ) -> Iterator[Pretended]:
        self.arguments = (out, log.server, log.settings.protocol, master)
        yield self

    def read(self) -> Update:
        found = self.updates.pop(0)
        if isinstance(found, OracleError):
            raise found
        return found

    def source(self) -> LiveSource:
        log = OffsetsLog(server="b:9092", settings=ClientSettings())
        return LiveSource(
            log=log, ranges=(), counts={}, names={}, ends={}, notes=self.notes
        )

    def note_audit(self) -> None:
        self.noted += 1

    def audit(
        self,
        request: AuditRequest,
        *,
        live: LiveSource,
        page: Callable[[Path], object],
        **_hooks: Any,
    ) -> AuditSummary:
        self.audits.append((request, live))
        out = str(request.out)
        shutil.rmtree(out, ignore_errors=True)
        small_audit().write(Path(out))
        page(Path(out))
        now = datetime(2026, 3, 1, tzinfo=UTC)
        return AuditSummary(
            out=out,
            tables={},
            rows={"rebalances": 8 + len(self.audits), "snapshots": 0},
            quarantine={},
            java="Java 21",
            started=now,
            finished=now,
            seconds={},
        )

    def pause(self, seconds: float) -> None:
        self.waited.append(seconds)
        if not self.updates:
            raise KeyboardInterrupt


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    return Pretended(monkeypatch)


def said(lines: list[str]) -> list[str]:
    """Return the messages without their times."""
    return [line.split("Z: ", 1)[-1] for line in lines]


@pytest.mark.heavy
def test_an_update_audits_what_can_change_a_table(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [
        Update(records=1200, is_due=True),
        Update(records=0, is_due=False),
        Update(records=7, is_due=False),
        Update(records=3, is_due=True),
    ]
    out = tmp_path / "out"
    ended = cli(*SERVER, "--out", out, "--every", "2m", "--master", "local[1]")
    assert ended.code == 130
    assert pretended.arguments == (str(out), "b:9092", "PLAINTEXT", "local[1]")
    assert said(ended.complaints) == [
        "records read: 1,200; rebalances: 9",
        "records read: 0; no audit",
        "records read: 7; only offset commits",
        "records read: 3; rebalances: 10 (1 more than before)",
    ]
    assert len(pretended.audits) == pretended.noted == 2
    assert all(0 < seconds <= 120 for seconds in pretended.waited)
    assert "--follow --every 120" in (out / "index.html").read_text()
    assert ended.out == b""


@pytest.mark.heavy
def test_other_sources_are_audited_besides(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [Update(records=1, is_due=True)]
    cli(*SERVER, "texts", "--out", tmp_path / "out", "--assignors", "range")
    ((request, live),) = pretended.audits
    assert request.sources == ["texts"]
    assert live.log.server == "b:9092"
    assert request.assignors == ("range",)
    assert 290 < pretended.waited[0] <= 300


@pytest.mark.heavy
def test_as_json_each_audit_is_a_line(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [Update(records=1, is_due=True)] * 2
    ended = cli(*SERVER, "--out", tmp_path / "out", "--json")
    assert [document["rows"]["rebalances"] for document in ended.documents] == [9, 10]
    assert {document["format"] for document in ended.documents} == {"audit-summary/2"}


@pytest.mark.heavy
def test_log_ends_that_are_missing_are_named_once(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [Update(records=1, is_due=True)] * 2
    pretended.notes = ("log ends of topic orders",)
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert ended.complaints[0] == "no lag without log ends of topic orders"
    assert len(ended.complaints) == 3


@pytest.mark.heavy
def test_a_cluster_that_is_away_is_tried_again(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [
        Update(records=1, is_due=True),
        AWAY,
        Update(records=2, is_due=True),
    ]
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert said(ended.complaints)[1:] == [
        str(AWAY),
        "records read: 2; rebalances: 10 (1 more than before)",
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("updates", "is_alive", "code"),
    [
        ([AWAY], True, 3),
        ([Update(records=1, is_due=True), AWAY], False, 3),
        (
            [
                Update(records=1, is_due=True),
                OutputError("follows cluster A", target="out"),
            ],
            True,
            2,
        ),
    ],
    ids=["in the first update", "Spark has ended", "another cluster"],
)
def test_other_failures_end_it(
    cli: Cli,
    pretended: Pretended,
    tmp_path: Path,
    updates: list[Update | OracleError],
    is_alive: bool,
    code: int,
) -> None:
    pretended.updates, pretended.is_alive = list(updates), is_alive
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert ended.code == code
    assert ended.complaints[-1] == str(updates[-1])
