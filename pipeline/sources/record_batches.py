"""Rows of records, column by column: one Arrow batch in, one out.

A source has many records per key, and hardly any that is not sound. Columns of sound
records are therefore computed for a whole batch, and the group is decoded once per key.
All other records take the way of single rows (`record_of_fields`, `keyed`), which
states the fault of each; the result is the same if every record does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from itertools import compress
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.records import OFFSETS_TOPIC, decode_record
from pipeline.records.record_times import MOST_MS
from pipeline.rows import RECORD, ROWS, Row, batches_of, keyed
from pipeline.sources.record_format import Encoding
from pipeline.sources.record_lines import INT32_MAX
from pipeline.sources.record_parquet import record_of_fields
from pipeline.sources.source_file import SourceFile
from rebalance import WireError

_MILLISECONDS: Final = "^[0-9]{1,15}$"
_COMMITS: Final = (b"\0\0", b"\0\1")
"""Versions of keys of offset commits: then come the group, the topic, a partition."""
_LONGEST_KEPT: Final = 1_024
"""Bytes of the longest key whose group is kept: names have at most 249 characters."""


def batches_of_records(
    batch: pa.RecordBatch, file: SourceFile, first: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one batch: the sound records, then the others.

    Parameters
    ----------
    batch
        The columns of `pipeline.sources.parquet_tables.with_our_columns`.
    file
        The file that they are from.
    first
        Number of the first record in the file.
    """
    numbers = range(first, first + len(batch))
    if file.written.encoding not in (None, Encoding.BYTES):
        yield from batches_of(rows_of_records(batch, file, numbers))
        return
    keys = batch.column("key").dictionary_encode()
    groups = pa.array(map(_group_of, keys.dictionary.to_pylist()), pa.string())
    columns = {
        "what": pa.repeat(RECORD, len(batch)),
        "group_id": groups.take(keys.indices),
        "source": pa.repeat(file.name, len(batch)),
        "source_partition": batch.column("partition"),
        "source_offset": batch.column("offset"),
        "at": batch.column("timestamp"),
        "key": batch.column("key"),
        "value": batch.column("value"),
    }
    sound = pc.and_(_are_sound(batch), columns["group_id"].is_valid())
    if sound.false_count:
        columns = {name: column.filter(sound) for name, column in columns.items()}
    if sound.true_count:
        yield _batch(columns, sound.true_count)
    if sound.false_count:
        are_others = pc.invert(sound)
        left = compress(numbers, are_others.to_pylist())
        yield from batches_of(rows_of_records(batch.filter(are_others), file, left))


def rows_of_records(
    batch: pa.RecordBatch, file: SourceFile, numbers: Iterable[int]
) -> Iterator[Row]:
    """Yield the rows of one batch, one by one; ``numbers`` are those of its records."""
    encoding = file.written.encoding
    for number, fields in zip(numbers, batch.to_pylist(), strict=True):
        yield keyed(record_of_fields(fields, file.name, number, encoding))


def _are_sound(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return which records have a place, and a time that is plain or unknown.

    A time that is null is unknown; a record with any other form of it can be sound.
    """
    conditions = [
        _holds(pc.equal(batch.column("topic"), OFFSETS_TOPIC), if_null=True),
        _holds(_between(batch.column("partition"), 0, INT32_MAX), if_null=False),
        _holds(pc.greater_equal(batch.column("offset"), 0), if_null=False),
    ]
    at = batch.column("timestamp")
    if at.null_count < len(at):
        digits = _holds(pc.match_substring_regex(at, _MILLISECONDS), if_null=True)
        known = pc.if_else(digits, at, None).cast(pa.int64())
        conditions += [digits, _holds(pc.less_equal(known, MOST_MS), if_null=True)]
    return reduce(pc.and_, conditions)


def _between(column: pa.Array, least: int, most: int) -> pa.BooleanArray:
    return pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))


def _holds(condition: pa.BooleanArray, *, if_null: bool) -> pa.BooleanArray:
    return pc.fill_null(condition, if_null)


def _group_of(key: bytes) -> str | None:
    """Return the group of a record; None if its key cannot be decoded."""
    if len(key) > _LONGEST_KEPT:
        return _decoded_group(key)
    return _group_of_commit(key) or _kept_group(key)


def _group_of_commit(key: bytes) -> str | None:
    """Return the group of the key of an offset commit whose names are ASCII."""
    end = 4 + int.from_bytes(key[2:4])
    topic_end = end + 2 + int.from_bytes(key[end : end + 2])
    if key[:2] in _COMMITS and topic_end + 4 == len(key) and key[4:-4].isascii():
        return key[4:end].decode()
    return None


def _decoded_group(key: bytes) -> str | None:
    try:
        return decode_record(key, None).group_id
    except WireError:
        return None


_kept_group = lru_cache(maxsize=16_384)(_decoded_group)


def _batch(columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
    """Return the rows with all columns of `ROWS`; those that are not given are null."""
    listed = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in ROWS
    ]
    return pa.RecordBatch.from_arrays(listed, schema=ROWS)
