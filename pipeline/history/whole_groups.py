"""Histories of whole groups by columns; of all others, record by record.

A group of which every record is sound is reconstructed by kernels. All other records
(damage, other kinds of groups, groups that changed their protocol, two records at one
offset) are left to `pipeline.history.stream`, which states the fault of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.history.held_records import DATA, HeldRecords
from pipeline.history.read_groups import PLACED, read_groups
from pipeline.history.read_records import ReadRecords, records_of
from pipeline.history.stream import RecordStream
from pipeline.history.walked_groups import classic_rows, consumer_rows
from pipeline.records.record_tape import RecordTape
from pipeline.records.tape_layout import (
    COMMITTED,
    DELETED,
    EPOCH,
    EPOCH_NUMBER,
    FORGOTTEN,
    GENERATION,
    PARTITION,
    TARGET_EPOCH,
)
from pipeline.rows import (
    RECORD,
    ROWS_PER_BATCH,
    WITHOUT_TOMBSTONES,
    Row,
)
from pipeline.sightings import MOST_PARTITIONS
from rebalance import Bools, Int64

_TOGETHER: Final = 2 << 20
"""Bytes of the records that are read at once, about."""
_LARGEST: Final = 256 << 20
_MOST_RECORDS: Final = 1 << 18
"""Of a group that is read at once."""
_KEY: Final = ("group_id", "source_partition")


def histories_of_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Convert records to cases; pass other rows on; yield counts at the end.

    Parameters
    ----------
    batches
        Rows as in `ROWS`, sorted by `pipeline.history.stream.ORDER` over all batches.
    """
    stream = RecordStream()
    for gathered, are_whole in _gathered(batches):
        with gathered as held:
            if are_whole:
                yield from _histories(held, stream)
            else:
                yield from _one_by_one(held, stream)
    yield from stream.finish()


def _gathered(
    batches: Iterable[pa.RecordBatch],
) -> Iterator[tuple[HeldRecords, bool]]:
    """Yield rows of whole groups, and parts of a group that is too large for one."""
    whole, group = HeldRecords(), HeldRecords()  # the latter has the last group, so far
    is_part = False
    before: pa.RecordBatch | None = None
    for batch in batches:
        if not len(batch):
            continue
        begins = _begins(batch, before)
        before = batch.slice(len(batch) - 1)
        at = np.flatnonzero(begins)
        end = int(at[-1]) if len(at) else 0
        if len(at):
            first = int(at[0])
            group.add(batch, begins, 0, first)
            if is_part or group.is_large:
                if whole.size:
                    yield whole, True
                    whole = HeldRecords()
                yield group, not is_part
                is_part = False
            else:
                whole.join(group)
            group = HeldRecords()
            whole.add(batch, begins, first, end)
        group.add(batch, begins, end, len(batch))
        is_part = is_part or group.size > _LARGEST or group.records > _MOST_RECORDS
        if whole.size and (is_part or whole.size >= _TOGETHER):
            yield whole, True
            whole = HeldRecords()
        if is_part:
            yield group, False
            group = HeldRecords()
    if whole.size:
        yield whole, True
    if group.size:
        yield group, not is_part


def _begins(batch: pa.RecordBatch, before: pa.RecordBatch | None) -> Bools:
    """Return which rows begin another group, or partition, than the row before has."""
    found = np.ones(len(batch), np.bool_)
    columns = [batch.column(name) for name in _KEY]
    found[1:] = np.logical_or.reduce([_differ(of[1:], of[:-1]) for of in columns])
    if before is not None:
        found[0] = any(before.column(name)[0] != batch.column(name)[0] for name in _KEY)
    return found


def _histories(held: HeldRecords, stream: RecordStream) -> Iterator[Row]:
    """Reconstruct whole groups."""
    rows = held.rows()
    is_record = np.array(pc.equal(rows["what"], RECORD))
    if not is_record.any():
        yield from _one_by_one(held, stream)
        return
    group = np.cumsum(held.begins) - 1
    if not is_record.all():
        rows = rows.filter(pa.array(is_record)).combine_chunks()
        _, group = np.unique(group[is_record], return_inverse=True)
    (batch,) = rows.to_batches()
    is_second = _are_repeated(batch, group)
    are_others = _others(held, is_record, is_second)
    are_again = is_second & ~are_others
    of_records = records_of(held, is_record, are_again)
    records, names, ids, rank, people, parts = of_records
    is_left, are_new = _left_and_new(batch, group, of_records, are_others)
    starts = np.searchsorted(group, np.arange(len(is_left) + 1))
    places = batch.select(PLACED)
    for are_of, is_consumer in ((~are_new, False), (are_new, True)):
        kept = np.flatnonzero(are_of & ~is_left)
        read = read_groups(places, records, names, rank, starts[kept], starts[kept + 1])
        if is_consumer:
            for found in consumer_rows(read, parts, ids, stream):
                if isinstance(found, int):
                    is_left[kept[found]] = True
                else:
                    yield found
        elif len(kept):
            yield from classic_rows(read, people, stream)
    stream.note_repeated(int(np.count_nonzero(are_again & ~is_left[group])))
    left = ~is_record
    left[is_record] = is_left[group]
    if left.any():
        yield from _one_by_one(held, stream, left)


def _left_and_new(
    batch: pa.RecordBatch, group: Int64, found: ReadRecords, are_others: Bools
) -> tuple[Bools, Bools]:
    """Return which groups are left to the stream, and which have the new protocol."""
    records, names, ids, _, people, parts = found
    is_odd = are_others | _is_damage(records) | ~people.is_sound | ~parts.is_sound
    count = int(group[-1]) + 1
    are_classic = _any(group, np.isin(records.kind, (GENERATION, DELETED)), count)
    is_new = np.abs(records.kind) >= EPOCH
    are_new = _any(group, is_new, count)
    without = np.array(
        pc.fill_null(pc.equal(batch.column("record"), WITHOUT_TOMBSTONES), False)
    )
    is_odd |= is_new & without
    if set(ids.to_pylist()) & set(names.to_pylist()):
        is_odd |= is_new  # a topic has the text of an id as its name
    return _any(group, is_odd, count) | (are_classic & are_new), are_new


def _any(group: Int64, are: Bools, count: int) -> Bools:
    """Return of which groups any record is so."""
    found = np.zeros(count, np.bool_)
    found[group[are]] = True
    return found


def _are_repeated(batch: pa.RecordBatch, group: Int64) -> Bools:
    """Return which records have the offset of the one before."""
    offset = batch.column("source_offset")
    is_second = np.zeros(len(batch), np.bool_)
    is_second[1:] = (group[1:] == group[:-1]) & ~_differ(offset[1:], offset[:-1])
    return is_second


def _others(held: HeldRecords, is_record: Bools, is_second: Bools) -> Bools:
    """Return which of the repeated records contradict the one before."""
    is_other = np.zeros(len(is_second), np.bool_)
    if not is_second.any():
        return is_other
    number = np.cumsum(is_record) - 1  # of records, by row
    begin, before = 0, list[pa.RecordBatch]()
    for batch in held.batches():
        are_kept = is_record[begin : begin + len(batch)]
        numbers = number[begin : begin + len(batch)][are_kept]
        begin += len(batch)
        part = batch.select(DATA).filter(pa.array(are_kept))
        if not len(part):
            continue
        table = pa.Table.from_batches([*before, part])
        second = np.flatnonzero(is_second[numbers]) + len(before)
        for column in table.columns:
            differ = _differ(column.take(second), column.take(second - 1))
            is_other[numbers[second - len(before)]] |= differ
        before = [part.slice(len(part) - 1)]
    return is_other


def _is_damage(records: RecordTape) -> Bools:
    """Return which records have a partition that no topic can have, or epoch < 0."""
    found = np.zeros(len(records.kind), np.bool_)
    rows = np.flatnonzero(np.isin(records.kind, (COMMITTED, FORGOTTEN)))
    partition = records.tape[records.at[rows] + PARTITION]
    found[rows] = (partition < 0) | (partition >= MOST_PARTITIONS)
    rows = np.flatnonzero(np.isin(records.kind, (EPOCH, TARGET_EPOCH)))
    found[rows] = records.tape[records.at[rows] + EPOCH_NUMBER] < 0
    return found


def _differ(column: pa.Array, other: pa.Array) -> Bools:
    """Return where two columns have other values; two nulls are equal."""
    same = pc.fill_null(pc.equal(column, other), False)
    if column.null_count:
        same = pc.or_(same, pc.and_(column.is_null(), other.is_null()))
    return ~np.asarray(same)


def _one_by_one(
    held: HeldRecords, stream: RecordStream, are_chosen: Bools | None = None
) -> Iterator[Row]:
    """Pass rows, or some of them, to a stream; yield the cases that are complete."""
    begin = 0
    for batch in held.batches():
        rows = batch
        if are_chosen is not None:
            rows = batch.filter(pa.array(are_chosen[begin : begin + len(batch)]))
        begin += len(batch)
        for start in range(0, len(rows), ROWS_PER_BATCH):
            for row in rows.slice(start, ROWS_PER_BATCH).to_pylist():
                yield from stream.take(row)
