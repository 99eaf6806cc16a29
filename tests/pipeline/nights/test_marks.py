"""Marks: which records of a source are new, and which cannot be of the same log."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pipeline.nights.marks import GAP, ReadMark, Span, from_marks, gaps, moved, spans_of
from pipeline.rows import MISSING, RECORD, ROWS, SPAN, Row
from rebalance import SourceError


def batch(*places: tuple[int | None, int | None, int | None]) -> pa.RecordBatch:
    """Return records at partitions, offsets, and times."""
    names = ("source_partition", "source_offset", "at")
    rows = [
        {"what": RECORD, "source": "s"} | dict(zip(names, place, strict=True))
        for place in places
    ]
    return pa.RecordBatch.from_pylist(rows, ROWS)


def places_of(batches: list[pa.RecordBatch], what: str = RECORD) -> list[Row]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [row for row in rows if row["what"] == what]


def test_records_before_the_marks_are_dropped() -> None:
    marks = {0: ReadMark(next=5, latest=100), 2: ReadMark(next=1)}
    given = batch((0, 4, 100), (0, 5, 90), (1, 0, 1), (2, 0, None), (None, 3, 1))
    found = [*from_marks([given], marks)]
    places = [(r["source_partition"], r["source_offset"]) for r in places_of(found)]
    assert places == [(0, 5), (1, 0), (None, 3)]
    assert not places_of(found, SPAN)
    assert [*from_marks([given.slice(1, 2)], marks)] == [given.slice(1, 2)]


def test_another_log_is_recognized_by_a_later_record() -> None:
    marks = {0: ReadMark(next=5, latest=100)}
    found = [*from_marks([batch((0, 4, 101), (0, 7, 200))], marks)]
    assert len(places_of(found)) == 1
    with pytest.raises(SourceError, match="beyond offset 4, but the record there is"):
        spans_of(places_of(found, SPAN))


def span_row(partition: int, first: int, last: int, at: int | None) -> Row:
    return dict.fromkeys(ROWS.names) | {
        "what": SPAN,
        "source_partition": partition,
        "until": first,
        "source_offset": last,
        "records": last - first + 1,
        "at": at,
    }


def test_spans_of_tasks_are_combined() -> None:
    rows = [span_row(0, 5, 9, None), span_row(0, 3, 4, 7), span_row(1, 0, 0, None)]
    assert spans_of(rows) == {
        0: Span(first=3, last=9, records=7, latest=7),
        1: Span(first=0, last=0, records=1, latest=None),
    }


def test_marks_move_to_the_end() -> None:
    spans = spans_of([span_row(0, 5, 9, 50), span_row(1, 0, 0, None)])
    marks = {0: ReadMark(next=5, latest=100), 3: ReadMark(next=8)}
    assert moved(marks, spans, {0: 12, 1: 0, 4: 2}) == {
        0: ReadMark(next=12, latest=100),
        1: ReadMark(next=1),
        3: ReadMark(next=8),
        4: ReadMark(next=2),
    }


def test_offsets_that_are_gone_are_quarantined() -> None:
    spans = spans_of(
        [span_row(0, 7, 9, 50), span_row(1, 3, 3, 1), span_row(2, 4, 4, 1)]
    )
    marks = {0: ReadMark(next=5), 2: ReadMark(next=4)}
    (row,) = gaps(marks, spans, "store")
    assert (row["what"], row["reason"], row["records"]) == (MISSING, GAP, 2)
    assert (row["source_partition"], row["value"]) == (0, b"offsets 5 to 6")
