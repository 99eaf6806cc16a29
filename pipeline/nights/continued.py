"""Continue the histories of groups: the work of a task, from Arrow batches to batches.

A task gets the records that earlier nights have left for a group, and those of this
night. It yields the cases that are new or that can have changed, and the records that
the next night needs. Whether these are enough is tried out: the cases of the last
episode have to result from them again. Otherwise, all records of the group are kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.case_table import CASES as CASE_FIELDS
from pipeline.case_table import case_table
from pipeline.history.whole_groups import histories_of_groups
from pipeline.nights.case_digests import LASTED, as_value
from pipeline.nights.last_cases import ByProtocol, LastCases, opened_row
from pipeline.nights.needed_records import (
    EVERYTHING,
    NOTHING,
    GroupKey,
    are_commits,
    group_begins,
    group_keys,
    in_whole_groups,
    needed,
    once,
)
from pipeline.rows import (
    CARRIED,
    CASE,
    CASES,
    KEPT,
    OPENED,
    QUARANTINED,
    RECORD,
    ROWS,
    SPAN,
    TOPIC,
    TOPIC_ID,
    Row,
    batches_of,
    cases_row,
    latest_time,
    read_row,
)
from pipeline.table_bytes import as_bytes, from_bytes
from rebalance import Bools, Int64

Batches = Iterator[pa.RecordBatch]

CHUNK_BYTES: Final = 4 << 20
"""Bytes of the records of whole groups that are looked at together, about."""
MOST_WITHOUT_CASES: Final = 100
"""Records of a group without a rebalance, all of which are needed, at most."""
MOST_CASES: Final = 256
"""Cases that have a row of their own and are read together, at most."""
_PLACE: Final = ("group_id", "source_partition", "protocol", "source_offset")
OF_KEPT: Final = ["rebalance_id", *_PLACE, "at", *LASTED]
"""Columns of a `KEPT` row's cases, from which the rows of tables are brought up."""
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")


def continued_batches(batches: Iterable[pa.RecordBatch]) -> Batches:
    """Reconstruct cases that are new, or can have changed, and select records to keep.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `pipeline.history.stream.ORDER` over all batches;
        records of earlier nights have the reason `CARRIED`, and `OPENED` names the
        cases of the last episodes.

    Yields
    ------
    RecordBatch
        Rows as in `ROWS`: those of `pipeline.audit.stages.reconstruct_batches`, then
        `CARRIED` records and `OPENED` cases, each packed as tables of such rows, and a
        `SPAN` per partition.
    """
    with tempfile.TemporaryDirectory() as scratch:
        night = _TaskOfNight(Path(scratch, "records"))
        yield from batches_of(night.cases(batches))
        yield from batches_of(night.carried())
        yield from batches_of(night.counts())


class _TaskOfNight:
    """One task of a night; ``path`` is that of a file that does not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count = 0
        self._latest: int | None = None
        self._spans = _Spans()
        self._opened: dict[ByProtocol, int] = {}  # the first open case
        self._judged: dict[str, bytes] = {}  # of open cases: their digests
        self._until: dict[GroupKey, int] = {}  # the last record of earlier nights
        self._last = LastCases()

    def cases(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
        """Yield cases, quarantine, and topics."""
        with pa.ipc.new_stream(str(self._path), ROWS, options=_COMPRESSED) as stream:
            rows = histories_of_groups(self._taken(batches, stream))
            for found in _with_cases(rows):
                if isinstance(found, pa.Table):
                    yield from self._new_cases(found)
                elif self._is_new(found):
                    yield found

    def carried(self) -> Iterator[Row]:
        """Yield the records that the next night needs, and the open cases, packed."""
        with pa.OSFile(str(self._path)) as file, pa.ipc.open_stream(file) as stream:
            for table in in_whole_groups(stream, CHUNK_BYTES):
                kept = self._kept(table.combine_chunks())
                yield _packed(CARRIED, _of_earlier_night(kept))
        opened = (
            opened_row(key, protocol, case)
            for key in sorted(self._last.keys(), key=repr)
            for protocol, case in self._last.cases(key)
        )
        for batch in batches_of(opened):
            yield _packed(OPENED, pa.Table.from_batches([batch]))

    def counts(self) -> Iterator[Row]:
        """Yield the counts of the new rows, and their offsets."""
        yield from self._spans.rows()
        yield read_row(self._count, self._latest)

    def _taken(self, batches: Iterable[pa.RecordBatch], stream: Any) -> Batches:
        """Pass on the rows of the histories, and keep the records that matter."""
        held, size = list[pa.RecordBatch](), 0
        for batch in batches:
            what = batch.column("what")
            opened = batch.filter(pc.equal(what, OPENED))
            for row in opened.to_pylist():
                key = row["group_id"], row["source_partition"], row["reason"]
                self._opened[key] = min(
                    row["source_offset"], self._opened.get(key, NOTHING)
                )
                self._judged[row["record"]] = row["value"]
            rows = batch.filter(pc.not_equal(what, OPENED)) if len(opened) else batch
            is_carried = np.asarray(
                pc.fill_null(pc.equal(rows.column("reason"), CARRIED), False)
            ) & np.asarray(pc.equal(rows.column("what"), RECORD))
            self._count += _count_rows(rows, ~is_carried)
            self._latest = max(
                (at for at in (self._latest, latest_time(rows)) if at is not None),
                default=None,
            )
            self._note_carried(rows.filter(pa.array(is_carried)))
            self._spans.note(rows.filter(pa.array(~is_carried)))
            records = rows.filter(pc.equal(rows.column("what"), RECORD))
            if len(records):
                held.append(records)
                size += records.nbytes
            if size >= CHUNK_BYTES:
                stream.write_table(_thinned(once(pa.Table.from_batches(held))))
                held, size = [], 0
            yield rows
        if held:
            stream.write_table(_thinned(once(pa.Table.from_batches(held))))

    def _note_carried(self, rows: pa.RecordBatch) -> None:
        if not len(rows):
            return
        begins = group_begins(rows)
        ends = np.append(np.flatnonzero(begins)[1:], len(rows)) - 1
        last = rows.column("source_offset").take(pa.array(ends)).to_pylist()
        self._until.update(zip(group_keys(rows, begins), last, strict=True))

    def _new_cases(self, cases: pa.Table) -> Iterator[Row]:
        """Yield the cases that are judged, and those whose rows are brought up."""
        digests = self._last.note(cases, self._judged)
        places = zip(*(cases[name].to_pylist() for name in _PLACE), strict=True)
        is_due = np.array([self._is_due(key, offset) for *key, offset in places])
        is_kept = is_due & [
            name in digests and self._judged.get(name) == as_value(digests[name])
            for name in cases["rebalance_id"].to_pylist()
        ]
        if len(left := cases.filter(pa.array(is_due & ~is_kept))):
            yield cases_row(left)
        if is_kept.any():
            yield cases_row(cases.select(OF_KEPT).filter(pa.array(is_kept)), KEPT)

    def _is_new(self, row: Row) -> bool:
        """Return whether a row is not damage of earlier nights."""
        key, offset = _place_of(row)
        if row["what"] not in QUARANTINED or offset is None:
            return True
        return offset > self._until.get(key, -1)

    def _is_due(self, key: Sequence[Any], offset: int | None) -> bool:
        """Return whether a case is new, or can have changed."""
        group, partition, protocol = key
        opened = self._opened.get((group, partition, protocol))
        if opened is None:
            return (offset or 0) > self._until.get((group, partition), -1)
        return (offset or 0) >= opened

    def _kept(self, table: pa.Table) -> pa.Table:
        """Select the records of whole groups that the next night needs."""
        table = once(table)
        begins = group_begins(table)
        keys = group_keys(table, begins)
        group = np.cumsum(begins) - 1
        bases = self._bases(table, keys, np.append(np.flatnonzero(begins), len(group)))
        kept = needed(table, bases[group])
        is_cut = np.isin(group, np.flatnonzero(bases > EVERYTHING))
        if is_cut.any():
            tried = LastCases()
            rows = _of_earlier_night(table.filter(pa.array(kept & is_cut))).to_batches()
            again = _with_cases(histories_of_groups(rows))
            if found := [some for some in again if isinstance(some, pa.Table)]:
                tried.note(pa.concat_tables(found), {})
            lacking = [
                number
                for number, key in enumerate(keys)
                if bases[number] > EVERYTHING
                and tried.cases(key) != self._last.cases(key)
            ]
            is_lacking = np.isin(group, lacking)
            kept &= ~is_lacking
            kept |= is_lacking & needed(table, np.zeros(len(group), np.int64))
        return table.filter(pa.array(kept))

    def _bases(self, table: pa.Table, keys: list[GroupKey], at: Int64) -> Int64:
        """Return the base of each group; its rows are between two places of ``at``."""
        known = self._last.keys()
        times = table["at"]
        is_other = ~are_commits(table["key"].combine_chunks())
        found = np.empty(len(keys), np.int64)
        for number, (key, (begin, end)) in enumerate(
            zip(keys, pairwise(at.tolist()), strict=True)
        ):
            if key in known:
                is_clear = _go_on(times.slice(begin, end - begin))
                found[number] = self._last.base(key) if is_clear else EVERYTHING
                continue
            is_short = np.count_nonzero(is_other[begin:end]) <= MOST_WITHOUT_CASES
            found[number] = EVERYTHING if is_short else NOTHING
        return found


def _with_cases(rows: Iterable[Row]) -> Iterator[pa.Table | Row]:
    """Yield cases as tables, and other rows as they are."""
    texts: list[bytes] = []
    for row in rows:
        if row["what"] == CASES:
            yield from_bytes(row["value"])
        elif row["what"] != CASE:
            yield row
        else:
            texts.append(row["value"])
            if len(texts) >= MOST_CASES:
                yield case_table(texts).select(CASE_FIELDS.names)
                texts.clear()
    if texts:
        yield case_table(texts).select(CASE_FIELDS.names)


def _place_of(row: Row) -> tuple[GroupKey, int | None]:
    key = row.get("group_id"), row.get("source_partition")
    return cast("GroupKey", key), row.get("source_offset")


def _thinned(rows: pa.Table) -> pa.Table:
    """Drop commits that others replace before any other record of their group."""
    whole = rows.combine_chunks()
    every = np.full(whole.num_rows, EVERYTHING, np.int64)
    return whole.filter(pa.array(needed(whole, every)))


def _of_earlier_night(records: pa.Table) -> pa.Table:
    """Return records as the next night reads them."""
    reasons = pa.repeat(CARRIED, records.num_rows)
    place = ROWS.get_field_index("reason")
    return records.set_column(place, ROWS.field(place), reasons)


def _packed(what: str, rows: pa.Table) -> Row:
    """Return many rows as one, which Spark need not look at one by one."""
    return {"what": what, "value": as_bytes(rows, "lz4")}


def _go_on(times: pa.ChunkedArray) -> bool:
    """Return whether all times are known, and none goes back."""
    if times.null_count:
        return False
    found = times.to_numpy()
    return bool((found[1:] >= found[:-1]).all())


def _count_rows(rows: pa.RecordBatch, are_new: Bools) -> int:
    """Count records, and the parts that are quarantined; topics are not counted."""
    is_other = pc.is_in(rows.column("what"), pa.array([SPAN, TOPIC, TOPIC_ID]))
    counted = are_new & ~np.asarray(is_other)
    records = pc.fill_null(rows.column("records"), 1).filter(pa.array(counted))
    return int(pc.sum(records).as_py() or 0)


class _Spans:
    """First and last offset, number of rows, and latest time, per partition."""

    def __init__(self) -> None:
        self._found: dict[int, list[Any]] = {}

    def note(self, rows: pa.RecordBatch) -> None:
        placed = rows.filter(
            pc.and_(
                pc.is_valid(rows.column("source_partition")),
                pc.and_(
                    pc.is_valid(rows.column("source_offset")),
                    pc.is_in(rows.column("what"), pa.array([RECORD, *QUARANTINED])),
                ),
            )
        )
        if not len(placed):
            return
        names = ["source_partition", "source_offset", "at"]
        table = pa.table([placed.column(name) for name in names], names)
        counted = table.group_by(names[0], use_threads=False).aggregate(
            [
                (names[1], "min"),
                (names[1], "max"),
                (names[1], "count"),
                (names[2], "max"),
            ]
        )
        for partition, *values in zip(
            *(
                counted[name].to_pylist()
                for name in (
                    names[0],
                    "source_offset_min",
                    "source_offset_max",
                    "source_offset_count",
                    "at_max",
                )
            ),
            strict=True,
        ):
            self._add(partition, *values)

    def rows(self) -> Iterator[Row]:
        """Yield a row per partition: until ``source_offset``, from ``until`` on."""
        for partition, (first, last, count, at) in sorted(self._found.items()):
            yield {
                "what": SPAN,
                "source_partition": partition,
                "source_offset": last,
                "until": first,
                "records": count,
                "at": at,
            }

    def _add(
        self, partition: int, first: int, last: int, count: int, at: int | None
    ) -> None:
        known = self._found.setdefault(partition, [first, last, 0, None])
        known[0], known[1] = min(known[0], first), max(known[1], last)
        known[2] += count
        known[3] = max((t for t in (known[3], at) if t is not None), default=None)
