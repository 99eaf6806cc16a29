"""Columns of a table of cases, from arrays: names, partitions, offsets, and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.case_table import CASES, HELD
from pipeline.history.commit_walk import CaseCommits, Slots
from pipeline.history.key_lists import NUMBER_BITS, NUMBER_MASK, Keys
from pipeline.history.shown_walk import Undated
from pipeline.records.field_kernels import NameTable
from pipeline.records.place import NO_TIME, WENT_BACK
from rebalance import ABSENT, Bools, Int64

Columns = dict[str, Any]
"""Arrow arrays by name."""


def name_array(names: NameTable) -> pa.StringArray:
    """Return names by number."""
    count = int(names.used[0])
    at = names.at[: count + 1].astype(np.int32)
    buffers = [None, pa.py_buffer(at), pa.py_buffer(names.text[: at[-1]].copy())]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def ranks_of(names: pa.StringArray) -> Int64:
    """Return the place of each name in sorted order."""
    rank = np.empty(len(names), np.int64)
    rank[np.asarray(pc.array_sort_indices(names))] = np.arange(len(names))
    return rank


def sorted_names(names: pa.StringArray) -> pa.StringArray:
    """Return the names by rank."""
    return names.take(pc.array_sort_indices(names))


def identities(rows: pa.RecordBatch) -> pa.Array:
    """Return the names of records, as `pipeline.records.place.Place.name`."""
    partition = rows["source_partition"].cast(pa.string())
    begin = pc.coalesce(
        pc.binary_join_element_wise(partition, "", "/"),
        pc.binary_join_element_wise(rows["source"], "", ":"),
    )
    offset = rows["source_offset"].cast(pa.string())
    return pc.binary_join_element_wise(begin, offset, "")


def reason_of(why: Int64) -> pa.Array:
    """Return why durations are not known, in words; null if they are."""
    return pa.array([None, NO_TIME, WENT_BACK]).take(pa.array(why))


def or_null(numbers: Int64) -> pa.Array:
    """Return numbers, null for `ABSENT`."""
    return pa.array(numbers, mask=numbers == ABSENT)


def topic_lists(keys: Keys, topics: pa.StringArray) -> pa.ListArray:
    """Return topics, a list per row; ``topics`` are names by rank."""
    named = topics.take(pa.array(keys.key >> NUMBER_BITS))
    return pa.ListArray.from_arrays(pa.array(keys.at, pa.int32()), named)


def held_lists(
    keys: Keys, topics: pa.StringArray, is_null: Bools | None = None
) -> pa.ListArray:
    """Return partitions by topic, a list per row; ``topics`` are names by rank."""
    topic = keys.key >> NUMBER_BITS
    is_first = np.ones(topic.size + 1, np.bool_)
    is_first[1:-1] = topic[1:] != topic[:-1]
    is_first[keys.at] = True
    begins = np.flatnonzero(is_first).astype(np.int32)
    numbers = pa.array(keys.key & NUMBER_MASK, pa.int32())
    fields = {
        "topic": topics.take(pa.array(topic[begins[:-1]])),
        "partitions": pa.ListArray.from_arrays(begins, numbers),
    }
    return struct_lists(np.searchsorted(begins, keys.at), HELD, fields, is_null)


def committed_lists(
    slots: Slots, commits: CaseCommits, topics: pa.StringArray
) -> pa.ListArray:
    """Return committed offsets by topic, a list per case."""
    held = held_lists(Keys(commits.at, slots.key[commits.slot]), topics)
    partitions = held.values.field("partitions")
    offsets = pa.ListArray.from_arrays(partitions.offsets, pa.array(commits.offset))
    fields = {
        "topic": held.values.field("topic"),
        "partitions": partitions,
        "offsets": offsets,
    }
    kind = CASES.field("committed").type
    return struct_lists(np.asarray(held.offsets), kind, fields)


def undated_lists(
    undated: Undated, begin: int, end: int, topics: pa.StringArray
) -> pa.ListArray:
    """Return the counts of topics, a list per case from ``begin`` on; null for none."""
    at = undated.at[begin : end + 1]
    listed = slice(at[0], at[-1])
    fields = {
        "topic": topics.take(pa.array(undated.topic[listed])),
        "count": pa.array(undated.partitions[listed]),
    }
    kind = CASES.field("undated_sizes").type
    return struct_lists(at - at[0], kind, fields, at[1:] == at[:-1])


def struct(
    kind: pa.StructType, fields: Columns, is_null: Bools | None = None
) -> pa.StructArray:
    """Return a struct per row; its fields have those names."""
    listed = [_cast(fields[field.name], field.type) for field in kind]
    mask = None if is_null is None else pa.array(is_null)
    return pa.StructArray.from_arrays(listed, fields=[*kind], mask=mask)


def struct_lists(
    at: Int64, kind: pa.ListType, fields: Columns, is_null: Bools | None = None
) -> pa.ListArray:
    """Return lists of structs; that of row i begins at ``at[i]``."""
    mask = None if is_null is None else pa.array(is_null)
    entries = struct(kind.value_type, fields)
    return pa.ListArray.from_arrays(
        pa.array(at, pa.int32()), entries, type=kind, mask=mask
    )


def cases_of_columns(columns: Columns, count: int) -> pa.Table:
    """Return so many cases as `CASES`; columns that are not given are null."""
    listed = [
        _cast(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(count, field.type)
        for field in CASES
    ]
    return pa.table(listed, schema=CASES)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type.equals(kind) else column.cast(kind)
