"""Sorted records as Arrow batches, split into histories of single groups.

Offset commits, the most frequent records, are decoded by columns and applied in runs
(`pipeline.records.commit_values`); all other records take the way of single rows. The
result is that of `pipeline.history.stream.histories` for the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.history.stream import CommitRun, GroupKey, RecordStream
from pipeline.records import CommitKey, commit_key, commit_values
from pipeline.sources.rows import RECORD, Row

Bools = npt.NDArray[np.bool_]


def histories_of_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield counts at the end.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `ORDER` over all batches.
    """
    stream = RecordStream()
    for batch in batches:
        if batch.num_rows:
            yield from _Batch(batch, stream).through(stream)
    yield from stream.finish()


class _Batch:
    """One batch: columns of the offset commits, and rows of the others."""

    def __init__(self, batch: pa.RecordBatch, stream: RecordStream) -> None:
        is_record = np.asarray(pc.equal(batch.column("what"), RECORD))
        self._groups = batch.column("group_id").to_pylist()
        self._partitions = batch.column("source_partition").to_pylist()
        self._places = batch.column("source_offset").to_pylist()
        self._times = batch.column("at").to_pylist()
        self._keys = batch.column("key").to_pylist()
        self._values = batch.column("value")
        distinct = batch.column("key").dictionary_encode()
        decoded: list[Any] = [
            commit_key(key) for key in distinct.dictionary.to_pylist()
        ]
        self._commit_keys: list[Any] = [
            None if place is None else decoded[place]
            for place in distinct.indices.to_pylist()
        ]
        values = commit_values(self._values)
        self._offsets = values.offset.tolist()
        self._topic_ids = values.topic_id or []
        self._is_new = _changes(batch, "group_id") | _changes(batch, "source_partition")
        is_key = np.array([key is not None for key in self._commit_keys], np.bool_)
        is_first = _changes(batch, "source_offset")
        is_first[0] = stream.is_after(self._key(0), self._places[0])
        self._is_commit = is_record & is_key & values.sound & is_first
        others = batch.filter(pa.array(~self._is_commit))
        self._others = _rows(others)

    def through(self, stream: RecordStream) -> Iterator[Row]:
        """Pass the batch to a stream; yield what is then complete."""
        for start, end in self._runs():
            if not self._is_commit[start]:
                for _ in range(start, end):
                    yield from stream.take(next(self._others))
                continue
            yield from stream.commit(self._key(start), self._run(start, end))

    def _key(self, row: int) -> GroupKey:
        return self._groups[row], self._partitions[row]

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of commits of one group, and those of other rows."""
        kind = self._is_commit
        begins = self._is_new | np.concatenate(([True], kind[1:] != kind[:-1]))
        starts = np.flatnonzero(begins).tolist()
        yield from zip(starts, [*starts[1:], len(kind)], strict=True)

    def _run(self, start: int, end: int) -> CommitRun:
        last = end - 1
        keys: list[CommitKey] = self._commit_keys[start:end]
        return CommitRun(
            keys=keys,
            offsets=self._offsets[start:end],
            times=self._times[start:end],
            topic_ids=self._topic_ids[start:end],
            last=(self._places[last], self._keys[last], self._values[last].as_py()),
        )


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the rows; by columns, which takes a fifth of the time of ``to_pylist``."""
    names = batch.schema.names
    for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _changes(batch: pa.RecordBatch, name: str) -> Bools:
    """Return which rows have another value than the row before; True for the first."""
    column = batch.column(name)
    if len(column) == 1:
        return np.ones(1, np.bool_)
    same = pc.equal(column[1:], column[:-1])
    changed = np.asarray(pc.invert(pc.fill_null(same, False)))
    return np.concatenate(([True], changed))
