"""Marks: the next offset to read of each partition of ``__consumer_offsets``.

A night reads the records from the marks on. Records before them have been read, and are
dropped again. One that is later than all that were read of its partition cannot be one
of these: the topic was created again, or the source is of another cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.rows import (
    CARRIED,
    MISSING,
    OPENED,
    SPAN,
    TOPIC,
    TOPIC_ID,
    Row,
    quarantine_row,
)
from rebalance import SourceError

NEWER = "newer"
"""``reason`` of a `SPAN` of records that are before a mark, but later than all read."""
GAP = "offsets not in the source since the last night: compacted, or deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMark:
    """The next offset of a partition, and the latest time of a record before it, ms."""

    next: int
    latest: int | None = None


Marks = Mapping[int, ReadMark]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Offsets that a night has read of a partition; ``latest`` as of `ReadMark`."""

    first: int
    last: int
    records: int
    latest: int | None


def from_marks(
    batches: Iterable[pa.RecordBatch], marks: Marks
) -> Iterator[pa.RecordBatch]:
    """Drop the rows before the marks; then, a `SPAN` of those that are too new.

    Batches of the store, of earlier nights, are passed on.
    """
    newer: dict[int, Row] = {}
    partitions = pa.array(list(marks), pa.int32())
    following = pa.array([mark.next for mark in marks.values()], pa.int64())
    for batch in batches:
        if _is_stored(batch):
            yield batch
            continue
        at = pc.index_in(batch.column("source_partition"), partitions)
        is_before = pc.fill_null(
            pc.less(batch.column("source_offset"), following.take(at)), False
        )
        before = np.flatnonzero(np.asarray(is_before))
        if not len(before):
            yield batch
            continue
        _note_newer(batch.take(pa.array(before)), marks, newer)
        if len(before) < len(batch):
            yield batch.filter(pc.invert(is_before))
    if newer:
        yield pa.RecordBatch.from_pylist(list(newer.values()), batch.schema)


def spans_of(rows: Iterable[Row]) -> dict[int, Span]:
    """Combine the `SPAN` rows of all tasks.

    Raises
    ------
    SourceError
        If records before a mark are later than those that were read.
    """
    found: dict[int, Span] = {}
    for row in rows:
        partition = row["source_partition"]
        if row["reason"] == NEWER:
            raise SourceError(
                f"partition {partition} has been read beyond offset "
                f"{row['source_offset']:,}, but the record there is later than all "
                "that were read: the topic was created again, or this is another "
                "cluster; give another --history",
                source=row["source"] or "__consumer_offsets",
            )
        span = found.get(partition)
        times = [row["at"], None if span is None else span.latest]
        found[partition] = Span(
            first=min(row["until"], row["until"] if span is None else span.first),
            last=max(row["source_offset"], -1 if span is None else span.last),
            records=row["records"] + (0 if span is None else span.records),
            latest=max((at for at in times if at is not None), default=None),
        )
    return found


def moved(
    marks: Marks, spans: Mapping[int, Span], ends: Mapping[int, int]
) -> dict[int, ReadMark]:
    """Return the marks after a night; ``ends`` are those of a running cluster."""
    found = dict(marks)
    for partition, span in spans.items():
        mark = found.get(partition, ReadMark(next=0))
        times = [at for at in (mark.latest, span.latest) if at is not None]
        found[partition] = ReadMark(
            next=max(mark.next, span.last + 1), latest=max(times, default=None)
        )
    for partition, end in ends.items():
        mark = found.get(partition, ReadMark(next=0))
        found[partition] = ReadMark(next=max(mark.next, end), latest=mark.latest)
    return dict(sorted(found.items()))


def gaps(marks: Marks, spans: Mapping[int, Span], source: str) -> list[Row]:
    """Return a row of quarantine per partition that begins after its mark."""
    return [
        quarantine_row(
            MISSING,
            GAP,
            source=source,
            line=marks[partition].next,
            raw=f"offsets {marks[partition].next} to {span.first - 1}".encode(),
            source_partition=partition,
            record="offset",
            records=span.first - marks[partition].next,
        )
        for partition, span in sorted(spans.items())
        if partition in marks and span.first > marks[partition].next
    ]


def _is_stored(batch: pa.RecordBatch) -> bool:
    """Return whether a batch is of the store, which has no new rows."""
    is_topic = pc.is_in(batch.column("what"), pa.array([TOPIC, TOPIC_ID, OPENED]))
    is_carried = pc.fill_null(pc.equal(batch.column("reason"), CARRIED), False)
    return bool(pc.all(pc.or_(is_topic, is_carried)).as_py())


def _note_newer(rows: pa.RecordBatch, marks: Marks, newer: dict[int, Row]) -> None:
    names = ("source", "source_partition", "source_offset", "at")
    table = pa.table([rows.column(name) for name in names], list(names))
    latest = table.group_by("source_partition", use_threads=False).aggregate(
        [("at", "max")]
    )
    for partition, at in zip(
        latest["source_partition"].to_pylist(),
        latest["at_max"].to_pylist(),
        strict=True,
    ):
        known = marks[partition].latest
        if at is None or known is None or at <= known or partition in newer:
            continue
        wanted = (pc.field("source_partition") == partition) & (pc.field("at") == at)
        newer[partition] = {
            "what": SPAN,
            "reason": NEWER,
            **table.filter(wanted).slice(0, 1).to_pylist()[0],
        }
