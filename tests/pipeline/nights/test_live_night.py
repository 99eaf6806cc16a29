"""Ranges that a night reads of a running cluster, with a stand-in for its log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from pipeline import live
from pipeline.audit import AuditRequest
from pipeline.audit.night import Night
from pipeline.files import LocalStore
from pipeline.live import ClusterIdentity, LiveSource, LogRange, OffsetsLog
from pipeline.nights.history_store import opened_store
from pipeline.nights.marks import ReadMark
from pipeline.sources.find import FoundSources
from rebalance import SourceError

MARKS = {0: ReadMark(next=50), 1: ReadMark(next=10)}


@dataclass(frozen=True)
class StandIn:
    """The bounds of a log, of two partitions."""

    ends: tuple[int, ...]
    server: str = "b:9092"

    def bounds(self) -> list[LogRange]:
        return [
            LogRange(partition=number, start=0, end=end)
            for number, end in enumerate(self.ends)
        ]


def found_at(*ends: int, pieces: int = 40) -> FoundSources:
    """Return a running cluster, whose log is divided into small ranges."""
    ranges = [
        LogRange(partition=number, start=start, end=min(start + pieces, end))
        for number, end in enumerate(ends)
        for start in range(0, end, pieces)
    ]
    source = LiveSource(
        log=cast("OffsetsLog", StandIn(ends)),
        ranges=tuple(ranges),
        counts={},
        names={},
        ends={},
        notes=(),
    )
    return FoundSources(live=source)


def ranges_of(
    found: FoundSources, folder: Path, log: dict[str, Any] | None = None
) -> list[tuple[int, int, int]]:
    """Return the ranges that a night reads, after `MARKS`."""
    request = AuditRequest(sources=(), out=folder / "out", history=folder / "store")
    with opened_store(folder / "store", LocalStore()) as store:
        store.state = replace(store.state, marks=MARKS, log=log)
        Night(store, request, found)
    assert found.live is not None
    return [
        (range_.partition, range_.start, range_.end) for range_ in found.live.ranges
    ]


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ClusterIdentity(cluster="c", topic="t")
    monkeypatch.setattr(live, "read_identity", lambda _log: found)


def test_ranges_begin_at_the_marks(tmp_path: Path) -> None:
    found = found_at(90, 10)
    assert ranges_of(found, tmp_path) == [(0, 50, 80), (0, 80, 90)]


def test_a_new_partition_is_read_as_a_whole(tmp_path: Path) -> None:
    found = found_at(50, 10, 7)
    assert ranges_of(found, tmp_path) == [(2, 0, 7)]


@pytest.mark.parametrize("ends", [(49, 10), (50,)])
def test_a_log_that_ends_before_a_mark_is_refused(
    ends: tuple[int, ...], tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="it was created again, or cut off"):
        ranges_of(found_at(*ends), tmp_path)


@pytest.mark.parametrize(
    ("log", "why"),
    [
        ({"cluster": "c", "topic": "u"}, "was deleted and created again"),
        ({"cluster": "d", "topic": "t"}, "is of cluster d, not c"),
    ],
)
def test_another_log_is_refused(log: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=why):
        ranges_of(found_at(90, 10), tmp_path, log)
