"""``audit --follow``: updates, messages, and exit codes, with a pretended follower."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from oracle.cli.runs import audit_updates
from pipeline.audit import AuditRequest, AuditSummary, NewRecords
from pipeline.live import ClientSettings, LiveSource, OffsetsLog
from rebalance import OracleError, OutsideError, SourceError
from tests.oracle.cli.commands import Cli
from tests.oracle.report.scenes import small_audit

SERVER = ("audit", "--bootstrap-server", "b:9092", "--follow")
DUE = NewRecords(records=0, is_due=True)
AWAY = OutsideError("b:9092: no broker answers within 15 s")


class Pretended:
    """A follower with its audits: each update is what it sees, or an error.

    After the last update the process is interrupted.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.updates: list[NewRecords | OracleError] = []
        self.audits: list[tuple[AuditRequest, LiveSource]] = []
        self.judged = (9, 10, 7)
        self.waited: list[float] = []
        self.records = 0
        self.is_alive = True
        self.notes: tuple[str, ...] = ()
        patch.setattr(audit_updates, "following", self.following)
        patch.setattr(audit_updates, "pause", self.pause)

    @contextmanager
    def following(
        self, out: str, history: str, log: OffsetsLog, *, master: str
    ) -> Iterator[Pretended]:
        self.arguments = (out, history, log.server, log.settings.protocol, master)
        yield self

    def look(self) -> NewRecords:
        found = self.updates.pop(0)
        if isinstance(found, OracleError):
            raise found
        return found

    def source(self) -> LiveSource:
        log = OffsetsLog(server="b:9092", settings=ClientSettings())
        return LiveSource(
            log=log, ranges=(), counts={}, names={}, ends={}, notes=self.notes
        )

    def audit(
        self,
        request: AuditRequest,
        *,
        live: LiveSource,
        page: Callable[[Path], object],
        **_hooks: Any,
    ) -> AuditSummary:
        self.audits.append((request, live))
        self.records = 1200 // len(self.audits) ** 2
        out = str(request.out)
        shutil.rmtree(out, ignore_errors=True)
        small_audit().write(Path(out))
        page(Path(out))
        now = datetime(2026, 3, 1, tzinfo=UTC)
        return AuditSummary(
            out=out,
            tables={},
            rows={"rebalances": self.judged[len(self.audits) - 1], "snapshots": 0},
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
        DUE,
        NewRecords(records=0, is_due=False),
        NewRecords(records=7, is_due=False),
        DUE,
        DUE,
    ]
    out = tmp_path / "out"
    ended = cli(*SERVER, "--out", out, "--every", "2m", "--master", "local[1]")
    assert ended.code == 130
    store = f"{out}/history"
    assert pretended.arguments == (str(out), store, "b:9092", "PLAINTEXT", "local[1]")
    assert said(ended.complaints) == [
        "records read: 1,200; rebalances: 9",
        "records read: 0; no audit",
        "records read: 7; only offset commits",
        "records read: 300; rebalances: 10 (1 more than before)",
        "records read: 133; rebalances: 7 (3 fewer than before)",
    ]
    assert [request.history for request, _ in pretended.audits] == [store] * 3
    assert all(0 < seconds <= 120 for seconds in pretended.waited)
    assert "--follow --every 120" in (out / "index.html").read_text()
    assert ended.out == b""


@pytest.mark.heavy
def test_a_store_can_be_given(cli: Cli, pretended: Pretended, tmp_path: Path) -> None:
    pretended.updates = [DUE]
    store = str(tmp_path / "store")
    options = ("--history", store, "--keep-days", "3", "--out", tmp_path / "out")
    assert cli(*SERVER, *options).code == 130
    ((request, _),) = pretended.audits
    assert (request.history, request.keep_days) == (store, 3)
    assert pretended.arguments[1] == store


@pytest.mark.heavy
def test_other_sources_are_audited_besides(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [DUE]
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
    pretended.updates = [DUE] * 2
    ended = cli(*SERVER, "--out", tmp_path / "out", "--json")
    assert [document["rows"]["rebalances"] for document in ended.documents] == [9, 10]
    assert {document["format"] for document in ended.documents} == {"audit-summary/2"}


@pytest.mark.heavy
def test_log_ends_that_are_missing_are_named_once(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [DUE] * 2
    pretended.notes = ("log ends of topic orders",)
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert ended.complaints[0] == "no lag without log ends of topic orders"
    assert len(ended.complaints) == 3


@pytest.mark.heavy
def test_a_cluster_that_is_away_is_tried_again(
    cli: Cli, pretended: Pretended, tmp_path: Path
) -> None:
    pretended.updates = [
        DUE,
        AWAY,
        DUE,
    ]
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert said(ended.complaints)[1:] == [
        str(AWAY),
        "records read: 300; rebalances: 10 (1 more than before)",
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("updates", "is_alive", "code"),
    [
        ([AWAY], True, 3),
        ([DUE, AWAY], False, 3),
        (
            [
                DUE,
                SourceError("is of cluster A, not B", source="store"),
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
    updates: list[NewRecords | OracleError],
    is_alive: bool,
    code: int,
) -> None:
    pretended.updates, pretended.is_alive = list(updates), is_alive
    ended = cli(*SERVER, "--out", tmp_path / "out")
    assert ended.code == code
    assert ended.complaints[-1] == str(updates[-1])
