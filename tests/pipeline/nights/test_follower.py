"""When a follower audits, with a stand-in for the log and for the audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest

from pipeline import live
from pipeline.audit import AuditRequest, Follower, NewRecords, follower, following
from pipeline.files import LocalStore
from pipeline.live import ClusterIdentity, LogRange, OffsetsLog
from pipeline.live.offsets_log import LogRecord
from pipeline.nights.history_store import HistoryStore, opened_store
from pipeline.nights.marks import ReadMark
from rebalance import OutsideError, SourceError
from tests.pipeline.nights.local_nights import local_night
from tests.pipeline.nights.test_night_tables import check_tables
from tests.pipeline.nights.test_store import entry
from tests.support.wire import RECORDINGS

COMMIT, GROUP, EPOCH = b"\0\1key", b"\0\2key", b"\0\3key"
NOTHING = NewRecords(records=0, is_due=False)
DUE = NewRecords(records=0, is_due=True)
CHURN = RECORDINGS / "churn"


@dataclass
class PretendedLog:
    """Keys of the records of each partition; None: a control record."""

    keys: list[list[bytes | None]]
    server: str = "b:9092"
    read: list[tuple[int, int, int]] = field(default_factory=list)

    def bounds(self) -> list[LogRange]:
        return [
            LogRange(partition=number, start=0, end=len(keys))
            for number, keys in enumerate(self.keys)
        ]

    def records(self, within: LogRange) -> Iterator[LogRecord]:
        self.read.append((within.partition, within.start, within.end))
        for offset in range(within.start, within.end):
            if (key := self.keys[within.partition][offset]) is not None:
                yield LogRecord(within.partition, offset, None, key, None)


class PretendedAudit:
    """An audit, which moves the marks to the ends of the log."""

    def __init__(self, patch: pytest.MonkeyPatch, log: PretendedLog) -> None:
        self.log = log
        self.error: Exception | None = None
        self.is_new = True
        patch.setattr(follower, "audit", self)

    def __call__(self, _request: AuditRequest, *, store: HistoryStore) -> None:
        if self.error is not None:
            raise self.error
        if self.is_new:
            marks = {b.partition: ReadMark(next=b.end) for b in self.log.bounds()}
            night = store.state.night + 1
            read = replace(entry(night), records=night)
            store.commit(store.state.after(read, marks=marks))


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ClusterIdentity(cluster="c", topic="t")
    monkeypatch.setattr(live, "read_identity", lambda _log: found)


@pytest.fixture
def log() -> PretendedLog:
    return PretendedLog([[GROUP, COMMIT], [COMMIT]])


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch, log: PretendedLog) -> PretendedAudit:
    return PretendedAudit(monkeypatch, log)


@pytest.fixture
def found(log: PretendedLog, tmp_path: Path) -> Iterator[Follower]:
    with opened_store(tmp_path / "store", LocalStore()) as store:
        yield Follower(cast("Any", None), cast("OffsetsLog", log), store)


REQUEST = AuditRequest(sources=(), out="out")


@pytest.mark.usefixtures("audit")
def test_the_first_update_audits_without_a_look(
    found: Follower, log: PretendedLog
) -> None:
    assert found.look() == DUE
    found.audit(REQUEST)
    assert found.records == 1
    assert found.look() == NOTHING
    assert log.read == []


@pytest.mark.usefixtures("audit")
def test_offset_commits_wait_for_another_record(
    found: Follower, log: PretendedLog
) -> None:
    """Each is looked at once; the marks stay."""
    found.audit(REQUEST)
    log.keys[1] += [COMMIT, b"\0\0", None]
    assert found.look() == NewRecords(records=2, is_due=False)
    log.keys[0] += [COMMIT]
    assert found.look() == NewRecords(records=1, is_due=False)
    assert found.look() == NOTHING
    assert log.read == [(1, 1, 4), (0, 2, 3)]
    log.keys[1] += [COMMIT, EPOCH, COMMIT]
    assert found.look().is_due
    assert found.look() == DUE
    found.audit(REQUEST)
    assert found.records == 2
    assert found.look() == NOTHING


@pytest.mark.usefixtures("audit")
@pytest.mark.parametrize("key", [EPOCH, b"", b"\0", b"\1\1key"])
def test_every_other_key_is_due(found: Follower, log: PretendedLog, key: bytes) -> None:
    found.audit(REQUEST)
    log.keys[0] += [key]
    assert found.look() == DUE


@pytest.mark.usefixtures("audit")
def test_many_offset_commits_are_audited(
    found: Follower, log: PretendedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compaction could otherwise reach them before they are read."""
    monkeypatch.setattr(follower, "MOST_OFFSETS", 3)
    found.audit(REQUEST)
    log.keys[0] += [COMMIT] * 2
    log.keys[1] += [COMMIT]
    assert found.look() == NewRecords(records=3, is_due=False)
    log.keys[1] += [COMMIT]
    assert found.look() == DUE


def test_an_audit_that_failed_is_due_again(
    found: Follower, audit: PretendedAudit
) -> None:
    """Its night can be complete, and ``--out`` be behind."""
    audit.error = OutsideError("b:9092: away")
    with pytest.raises(OutsideError):
        found.audit(REQUEST)
    assert found.look() == DUE
    audit.error = None
    found.audit(REQUEST)
    assert found.look() == NOTHING


def test_an_audit_without_new_records_adds_none(
    found: Follower, audit: PretendedAudit
) -> None:
    found.audit(REQUEST)
    audit.is_new = False
    found.audit(REQUEST)
    assert found.records == 0


@pytest.mark.usefixtures("audit")
def test_a_log_that_was_created_again_ends_it(
    found: Follower, log: PretendedLog
) -> None:
    found.audit(REQUEST)
    log.keys[0] = [GROUP]
    with pytest.raises(SourceError, match="it was created again, or cut off"):
        found.look()


def keep_as_former(out: Path) -> None:
    """Write the recording as the follower of earlier versions kept it."""
    table = pq.read_table(CHURN / "consumer_offsets.parquet").sort_by("timestamp")
    columns = ["partition", "offset", "timestamp", "key", "value"]
    middle = table.num_rows // 2
    for name, start, end in (
        ("batches=0-15", 0, middle),
        ("batch=16", middle, table.num_rows),
    ):
        folder = out / "records" / name
        folder.mkdir(parents=True)
        pq.write_table(
            table.slice(start, end - start).select(columns), folder / "p.parquet"
        )
        (folder / "_SUCCESS").touch()
    (out / "records" / "_merged" / "batches=0-15").mkdir(parents=True)
    (out / "checkpoint" / "commits").mkdir(parents=True)
    (out / "following.json").write_text('{"format": "following/1"}')


def test_the_folder_of_an_earlier_version(tmp_path: Path) -> None:
    """As the error says, its records are audited once, and the marks are their ends."""
    out, store = tmp_path / "out", tmp_path / "out" / "history"
    keep_as_former(out)
    log = OffsetsLog(server="b:9092", settings=live.ClientSettings())
    advice = f"by audit {out}/records --history {store} instead of"
    with pytest.raises(SourceError, match=advice), following(out, store, log):
        pass
    assert not store.exists()
    options: dict[str, Any] = {
        "topics": CHURN / "topics.json",
        "assignors": ["range"],
        "offsets": CHURN / "offsets.json",
    }
    local_night([out / "records"], store, tmp_path / "tables", **options)
    local_night([CHURN], tmp_path / "store", tmp_path / "expected", **options)
    ignored = ["source"]
    check_tables(
        tmp_path / "tables",
        tmp_path / "expected",
        rebalances=ignored,
        answers=ignored,
        episodes=ignored,
        quarantine=ignored,
    )
    recorded = pq.read_table(CHURN / "consumer_offsets.parquet")
    last = recorded.group_by("partition").aggregate([("offset", "max")]).to_pylist()
    with opened_store(store, LocalStore()) as opened:
        found = {number: mark.next for number, mark in opened.state.marks.items()}
        assert found == {row["partition"]: row["offset_max"] + 1 for row in last}
        opened.state.check_log("c", "t", "store")  # as the first update does
