"""Select the records that a later night needs to continue the histories of groups.

Of the records before an offset, the *base* of a group, the last one of each key is
needed, as compaction keeps them; of those from there on, all but the offset commits
that another one replaces before the group's next record of another kind. Members and
committed offsets are therefore known as they were at each record from the base on. The
latest time is kept as well: a later record that is older shows a clock that went back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rebalance import Bools, Int64

EVERYTHING: Final = 0
"""The base of a group of which all records are needed."""
NOTHING: Final = 1 << 62
"""The base of a group of which only the last record of each key is needed."""

GroupKey: TypeAlias = tuple[str, int | None]
"""Group and partition of ``__consumer_offsets``."""

_LAST_COMMIT: Final = 1
"""Type of the record of an offset commit, the first two bytes of its key; or 0."""
_CLASSIC: Final = 2
_EPOCH: Final = 3
_NEW_PROTOCOL: Final = (3, 4, 5, 6, 7, 8, 16)
_NUMBER_BYTES: Final = 4
"""Bytes at the end of the key of an offset commit: the number of the partition."""


def group_begins(rows: pa.RecordBatch | pa.Table) -> Bools:
    """Return which rows begin a group, or another partition; the first row does."""
    found = np.ones(rows.num_rows, np.bool_)
    name = pc.fill_null(rows.column("group_id"), "")
    partition = pc.fill_null(rows.column("source_partition"), -1)
    found[1:] = np.asarray(pc.not_equal(name[1:], name[:-1])) | np.asarray(
        pc.not_equal(partition[1:], partition[:-1])
    )
    return found


def group_keys(rows: pa.RecordBatch | pa.Table, begins: Bools) -> list[GroupKey]:
    """Return the groups of rows, in their order."""
    at = pa.array(np.flatnonzero(begins))
    columns = (rows.column(name).take(at) for name in ("group_id", "source_partition"))
    return [*zip(*(column.to_pylist() for column in columns), strict=True)]


def types_of(keys: pa.BinaryArray) -> Int64:
    """Return the type of each record: the first two bytes of its key."""
    begin, data = _buffers(keys)
    types: Int64 = data[begin].astype(np.int64) << 8 | data[begin + 1]
    return types


def are_commits(keys: pa.BinaryArray) -> Bools:
    """Return which records are offset commits, or their tombstones."""
    found: Bools = types_of(keys) <= _LAST_COMMIT
    return found


def once(rows: pa.Table) -> pa.Table:
    """Select the first record at each offset; rows are sorted."""
    offset = rows["source_offset"].to_numpy()
    is_first = group_begins(rows)
    is_first[1:] |= offset[1:] != offset[:-1]
    return rows if is_first.all() else rows.filter(pa.array(is_first))


def needed(rows: pa.Table, base: Int64) -> Bools:
    """Return which records of groups are needed.

    Parameters
    ----------
    rows
        Records as in `pipeline.rows.ROWS`, sorted, one per offset.
    base : int64 (rows,)
        Of the group of each row.
    """
    keys = rows["key"].combine_chunks()
    types = types_of(keys)
    is_commit, is_new = types <= _LAST_COMMIT, np.isin(types, _NEW_PROTOCOL)
    offset = rows["source_offset"].to_numpy()
    begins, is_below = group_begins(rows), offset < base
    enters = ~is_below
    enters[1:] &= is_below[:-1]
    starts = begins | enters | ~(is_commit | is_below)
    segment = np.cumsum(starts)
    kept = _are_last(segment, keys) | _are_latest(segment, rows["at"])
    kept &= is_commit | is_new | (types == _CLASSIC)
    is_gone = np.asarray(rows["value"].is_null()) & is_below
    kept &= ~(is_gone & is_new & (types != _EPOCH))
    _forget_tombstones(kept, is_commit & is_below, is_gone, offset, keys)
    return kept


def in_whole_groups(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Gather sorted rows into tables of whole groups, of ``most`` bytes or more."""
    held: list[pa.RecordBatch] = []
    size, last = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        begins = group_begins(batch)
        keys = group_keys(batch, begins)
        begins[0] = keys[0] != last
        last = keys[-1]
        start = 0
        if size >= most and begins.any():
            start = int(np.argmax(begins))
            yield pa.Table.from_batches([*held, batch.slice(0, start)])
            held, size = [], 0
        held.append(batch.slice(start))
        size += batch.nbytes
    if held:
        yield pa.Table.from_batches(held)


def _are_last(segment: Int64, keys: pa.BinaryArray) -> Bools:
    """Return which rows are the last of their key in their segment."""
    code = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
    place = segment * (int(code.max(initial=0)) + 1) + code
    _, at = np.unique(place[::-1], return_index=True)
    found = np.zeros(len(place), np.bool_)
    found[len(place) - 1 - at] = True
    return found


def _are_latest(segment: Int64, times: pa.ChunkedArray) -> Bools:
    """Return which rows have the latest time of their segment, which durations need."""
    at = pc.fill_null(times, np.iinfo(np.int64).min).to_numpy()
    order = np.lexsort((at, segment))
    ends = np.append(np.flatnonzero(np.diff(segment[order])), len(order) - 1)
    found = np.zeros(len(order), np.bool_)
    found[order[ends]] = True
    return found


def _forget_tombstones(
    kept: Bools, is_commit: Bools, is_gone: Bools, offset: Int64, keys: pa.BinaryArray
) -> None:
    """Drop tombstones of offset commits before which nothing of the topic is kept."""
    gone = np.flatnonzero(kept & is_commit & is_gone)
    if not len(gone):
        return
    live = np.flatnonzero(kept & is_commit & ~is_gone)
    rows = np.concatenate([live, gone])
    topics = pc.binary_slice(keys.take(pa.array(rows)), 0, -_NUMBER_BYTES)
    code = topics.dictionary_encode().indices.to_numpy()
    first = np.full(int(code.max()) + 1, NOTHING, np.int64)
    np.minimum.at(first, code[: len(live)], offset[live])
    kept[gone] = first[code[len(live) :]] < offset[gone]


def _buffers(keys: pa.BinaryArray) -> tuple[Int64, np.ndarray]:
    """Return where each key begins, and the bytes of all."""
    _, at, data = keys.buffers()
    begin = np.frombuffer(at, np.int32)[keys.offset : keys.offset + len(keys)]
    return begin.astype(np.int64), np.frombuffer(data, np.uint8)
