"""One audit of a store: its input, and how it continues the earlier ones.

A night reads the records after the marks of the store, together with those that the
last night has left, and writes the rows that are new or can have changed. The output
folder receives the rows of all nights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.audit.cause_column import with_causes
from pipeline.audit.judged import JudgedRuns, count_quarantine
from pipeline.audit.live_log import checked_log
from pipeline.audit.manifest import time_text
from pipeline.audit.merging import merge_files
from pipeline.audit.request import AuditRequest
from pipeline.audit.sorting import in_order
from pipeline.audit_writing import Tell
from pipeline.files import Location, Stores, uri_of
from pipeline.judging.quarantine_rows import quarantined
from pipeline.known_counts import KnownCounts
from pipeline.nights.cause_context import RunsOf
from pipeline.nights.history_store import Carry, HistoryStore, opened_store
from pipeline.nights.kept_rows import (
    PLACES,
    are_of,
    brought_up,
    kept_cases,
    with_duration,
    with_more,
    with_waiting,
)
from pipeline.nights.marks import ReadMark, Span, from_marks, gaps, moved, spans_of
from pipeline.nights.saved_rows import rows_to_carry, topic_rows
from pipeline.nights.store_files import FINAL, OPEN, first_day
from pipeline.nights.store_state import AuditEntry, StoreState
from pipeline.nights.stored_rows import StoredRows
from pipeline.rows import (
    KEPT,
    OPENED,
    ROWS,
    SPAN,
    Row,
)
from pipeline.sources.find import FoundSources
from pipeline.sources.source_file import FileLayout, SourceFile
from pipeline.sources.source_kind import SourceKind
from pipeline.sources.spark_rows import Select
from pipeline.tables import ORDER, PARTITION_COLUMNS, SCHEMAS
from rebalance import SourceError

_OPTIONS: Final = (
    "cluster",
    "claim_rule",
    "max_partitions",
    "assignors",
    "auto_offset_reset",
)
"""Parameters of an audit that are equal in all nights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRead:
    """Facts of the new records: offsets per partition, and the cases that can change.

    ``opened`` are their names, and ``places`` those of their records; ``kept`` are the
    open cases of the night before that are as they were.
    """

    spans: dict[int, Span]
    opened: frozenset[str]
    places: pa.Table
    kept: pa.Table
    gaps: list[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightResult:
    """Results of a night: files of saved cases, judged rows, topics, and counts."""

    saved: Sequence[Path]
    judged: JudgedRuns
    read: NightRead
    counts: KnownCounts
    names: Mapping[str, str]
    history_end: int | None
    started: datetime
    rows_read: int
    rows_repeated: int


class Night:
    """An audit of a store that is open and locked."""

    def __init__(
        self, store: HistoryStore, request: AuditRequest, found: FoundSources
    ) -> None:
        self._store = store
        self._keep_days = request.keep_days
        self._cluster = request.cluster
        self._marks = store.state.marks
        self._all = list(found.files)
        self._log: dict[str, str | None] | None = store.state.log
        self._ends: dict[int, int] = {}
        self.quarantined: dict[str, int] = {}
        """Records per kind and reason that this night has added to quarantine."""
        _check_kinds(found.files)
        known = set(store.state.files)
        found.files = [
            file
            for file in found.files
            # Keys of a sink's file can be in another one, so these are read together.
            if file.sink is not None or file_id(file) not in known
        ]
        self._read = found.files
        self._live = None if found.live is None else found.live.log.server
        if found.live is not None:
            self._restrict_live(found)

    @property
    def latest(self) -> int | None:
        """The latest time of a record in the store, in milliseconds."""
        times = (mark.latest for mark in self._store.state.marks.values())
        return max((at for at in times if at is not None), default=None)

    @property
    def name(self) -> list[Any]:
        """The state of the store on which the rows of this night depend."""
        state = self._store.state
        return [self._store.uri, state.night, repr(state.marks), self._keep_days]

    def select(self) -> Select:
        """Return the selection of rows after the marks."""
        return partial(from_marks, marks=dict(self._marks))

    def carried(self) -> list[SourceFile]:
        """Return the files with the records and topics of earlier nights."""
        return self._store.carried()

    def read(self, rows: Iterable[Row], tell: Tell) -> NightRead:
        """Return the offsets that were read, and the cases that can change.

        ``rows`` are the `SPAN`, `OPENED`, and `KEPT` rows of all tasks.

        Raises
        ------
        SourceError
            If a topic was created again.
        """
        listed = list(rows)
        spans = spans_of(row for row in listed if row["what"] == SPAN)
        opened = [row for row in listed if row["what"] == OPENED]
        lost = gaps(self._marks, spans, self._store.shown)
        if lost:
            offsets = sum(row["records"] for row in lost)
            tell(
                f"{offsets:,} offsets of {len(lost)} partitions that were not read yet"
                " are not in the source: compacted, or deleted (quarantine: missing)"
            )
        return NightRead(
            spans=spans,
            opened=frozenset(row["record"] for row in opened),
            places=pa.Table.from_pylist(opened, PLACES),
            kept=kept_cases(row["value"] for row in listed if row["what"] == KEPT),
            gaps=lost,
        )

    @property
    def state(self) -> StoreState:
        """The state of the store."""
        return self._store.state

    def described(self) -> dict[str, Any]:
        """Describe the store for the manifest of the output folder."""
        state = self._store.state
        first = state.first_day
        return {
            "store": self._store.shown,
            "first_day": None if first is None else first.isoformat(),
            "audits": [asdict(entry) for entry in state.audits],
        }

    def write(self, result: NightResult) -> None:
        """Write the night into the store; without anything new, nothing changes."""
        store, state = self._store, self._store.state
        stored = StoredRows(store)
        judged_rows = self._new_rows(result, stored)
        self.quarantined = count_quarantine(judged_rows("quarantine", ()))
        if state.night and not (result.read.spans or self.quarantined):
            return
        store.write_carry(self._write_tables(result, stored, judged_rows))
        first = first_day(store.all_files(), self._keep_days)
        merge_files(store, first, self._cluster)
        store.commit(
            state.after(
                self._entry(result),
                log=self._log,
                marks=moved(self._marks, result.read.spans, self._ends),
                files=[*map(file_id, self._all)],
                first_day=first,
            )
        )
        store.clear()

    def _new_rows(self, result: NightResult, stored: StoredRows) -> RunsOf:
        """Return the judged rows, with new rows of quarantine only."""
        fresh = [
            quarantined(dict.fromkeys(ROWS.names) | row, self._cluster)
            for row in result.read.gaps
        ]

        def judged_rows(name: str, columns: Sequence[str]) -> Iterable[pa.Table]:
            runs = partial(result.judged.of, name, columns)
            if name == "quarantine":
                return stored.new_quarantine(runs, fresh)
            return runs()

        return judged_rows

    def _write_tables(
        self, result: NightResult, stored: StoredRows, judged_rows: RunsOf
    ) -> Carry:
        """Write the rows that are new, or can have changed; return the carried ones."""
        judged, read, context = result.judged, result.read, self._store.context()
        opened = cache(partial(stored.opened, cluster=self._cluster))
        kept = brought_up(opened, read.kept, result.history_end)
        found = with_more(judged_rows, kept)
        more = with_waiting(kept, opened("rebalances"), context.names)
        every = with_more(judged_rows, more)
        unsettled = context.unsettled(found, read.opened)
        changing = dict.fromkeys(SCHEMAS, read.opened)
        changing["rebalances"] |= frozenset(unsettled.waiting)
        for name in SCHEMAS:
            rows = in_order(
                partial(every, name),
                SCHEMAS[name],
                (*PARTITION_COLUMNS, *ORDER[name]),
                judged.bytes_of(name) + more[name].nbytes,
            )
            if name == "rebalances":
                rows = with_causes(rows, context.with_runs(found))
            self._write_table(name, rows, changing[name], read.places)
        return Carry(
            records=rows_to_carry(result.saved, with_duration(found)),
            topics=topic_rows(result.counts, result.names),
            context=context.after(found, unsettled),
        )

    def stored(self) -> StoredRows:
        """Return the rows of all nights."""
        return StoredRows(self._store)

    def _entry(self, result: NightResult) -> AuditEntry:
        live = self._live
        return AuditEntry(
            night=self._store.state.night + 1,
            started=result.started.isoformat(timespec="seconds"),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            rows_read=result.rows_read,
            rows_repeated=result.rows_repeated,
            records=sum(span.records for span in result.read.spans.values()),
            rebalances=result.judged.count_rows()["rebalances"],
            sources=[file.name for file in self._read] + ([live] if live else []),
            newest_record=time_text(result.history_end),
        )

    def _write_table(
        self,
        name: str,
        rows: Iterable[pa.Table],
        changing: frozenset[str],
        places: pa.Table,
    ) -> None:
        """Write rows in their order: first the final ones, then those that can change.

        The latter are held in memory meanwhile. ``changing`` are names of rebalances;
        ``places`` as in `are_of`.
        """
        opened: list[pa.Table] = []

        def final() -> Iterator[pa.Table]:
            for table in rows:
                is_open = are_of(name, table, changing, [places])
                opened.append(table.filter(is_open))
                yield table.filter(pc.invert(is_open))

        self._store.write(name, FINAL, final())
        self._store.write(name, OPEN, opened)

    def _restrict_live(self, found: FoundSources) -> None:
        """Read a running cluster from the marks on.

        Raises
        ------
        SourceError
            If it is another cluster, or its log was created again, or cut off.
        """
        live = found.live
        assert live is not None  # noqa: S101  # the caller has looked
        marks = self._marks
        identity, _ = checked_log(self._store, live.log)
        self._log = {"cluster": identity.cluster, "topic": identity.topic}
        ranges = []
        for range_ in live.ranges:
            start = max(
                range_.start, marks.get(range_.partition, ReadMark(next=0)).next
            )
            if start < range_.end:
                ranges.append(replace(range_, start=start))
            self._ends[range_.partition] = max(
                range_.end, self._ends.get(range_.partition, 0)
            )
        found.live = replace(live, ranges=tuple(ranges))


@contextmanager
def opened_night(
    request: AuditRequest,
    found: FoundSources,
    parameters: Mapping[str, Any],
    stores: Stores,
    opened: HistoryStore | None = None,
) -> Iterator[Night | None]:
    """Open the store of a request; None if it has none. ``found`` is restricted.

    The caller can have ``opened`` and locked it already.

    Raises
    ------
    OutsideError
        If another process writes to the store, or the cluster does not answer.
    SourceError, OutputError
        If the store is of other options, another cluster, or not a store; if a source
        has no offsets.
    """
    if request.history is None:
        yield None
        return
    if request.since or request.until or request.groups:
        reason = "a store keeps everything: not since, until, or groups"
        raise SourceError(reason, source=str(request.history))
    with _store_of(request.history, stores, opened) as store:
        options = {name: parameters[name] for name in _OPTIONS}
        store.state.check_options(options, store.shown)
        store.state = replace(store.state, options=options)
        yield Night(store, request, found)


@contextmanager
def _store_of(
    history: Location, stores: Stores, opened: HistoryStore | None
) -> Iterator[HistoryStore]:
    if opened is not None:
        opened.load()  # an audit that failed can have left files
        yield opened
        return
    with opened_store(history, stores.of(uri_of(history))) as store:
        yield store


def file_id(file: SourceFile) -> str:
    """Return the name of a file's content, as far as it can be told without reading."""
    return f"{file.uri} {file.length} {file.modified_ms} {file.sha256 or ''}".rstrip()


def _check_kinds(files: Iterable[SourceFile]) -> None:
    """Check that all sources are records with offsets.

    Raises
    ------
    SourceError
        If one is not: it is not known which records are new.
    """
    for file in files:
        is_of_records = file.kind is SourceKind.RECORDS
        if not is_of_records or file.layout is FileLayout.CONSOLE_JSON:
            raise SourceError(
                "has no offsets, so that a later audit cannot tell new records from "
                "others; --history takes records of __consumer_offsets with offsets",
                source=file.name,
            )
