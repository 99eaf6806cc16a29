"""A recording of ``__consumer_offsets``, multiplied under new group names.

Every kind of key starts with its version and the group's name, so a copy differs from
its original in the key, in the offset, and in the day.
"""

from __future__ import annotations

import itertools
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

RECORDS: Final = "consumer_offsets.parquet"
SIDE_FILES: Final = ("topics.json", "offsets.json")
COPIES_PER_FILE: Final = 20
_DAY_MS: Final = 24 * 60 * 60 * 1000
_SHORT, _LONG = struct.Struct(">h"), struct.Struct(">q")
_GROUP_STATE: Final = 2
_OFFSET_COMMITS: Final = (0, 1)
"""Versions of keys; the value is a version and the offset, and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The written files: copies of a recording.

    Attributes
    ----------
    copies : int
    skewed : bool
        Append to the copies so many more of one classic group, all under one name,
        that about half of all rebalances are that group's.
    distinct : bool
        Shift the committed offsets of each copy, so that its lags differ.
    days : int
        Number of days over which the copies are spread.
    """

    copies: int
    skewed: bool = False
    distinct: bool = False
    days: int = 1


def multiplied(recording: Path, target: Path, shape: Shape) -> None:
    """Write copies of a recording, and its side files, to a folder."""
    records = pq.read_table(recording / RECORDS)
    target.mkdir(parents=True)
    for name in SIDE_FILES:
        (target / name).write_bytes((recording / name).read_bytes())
    parts = _parts(records, shape)
    for number in itertools.count():
        some = list(itertools.islice(parts, COPIES_PER_FILE))
        if not some:
            return
        path = target / f"records-{number:06}.parquet"
        pq.write_table(pa.concat_tables(some), path)


def _parts(records: pa.Table, shape: Shape) -> Iterator[pa.Table]:
    for number in range(shape.copies):
        yield _copy(records, number, f"-{number:06}".encode(), shape)
    if shape.skewed:
        keys = records.column("key").to_pylist()
        groups = [_group_of(key) for key in keys]
        states = Counter(_group_of(key) for key in keys if _is_group_state(key))
        largest, count = states.most_common(1)[0]
        one = records.filter(pa.array([group == largest for group in groups]))
        for number in range(shape.copies * states.total() // count):
            yield _copy(one, shape.copies + number, b"-one", shape)


def _copy(records: pa.Table, number: int, suffix: bytes, shape: Shape) -> pa.Table:
    """Return one copy: other groups, later offsets, and a day of its own."""
    step = max(records.column("offset").to_pylist()) + 1
    later = number % shape.days * _DAY_MS
    keys = records.column("key").to_pylist()
    columns: dict[str, Any] = {
        "key": pa.array([_with_suffix(key, suffix) for key in keys], pa.binary()),
        "offset": _plus(records, "offset", number * step),
        "timestamp": _plus(records, "timestamp", later),
    }
    if shape.distinct:
        values = records.column("value").to_pylist()
        pairs = zip(keys, values, strict=True)
        shifted = [_shifted(key, value, number) for key, value in pairs]
        columns["value"] = pa.array(shifted, pa.binary())
    for name, column in columns.items():
        place = records.schema.get_field_index(name)
        records = records.set_column(place, records.schema.field(place), column)
    return records


def _plus(records: pa.Table, name: str, more: int) -> pa.Array:
    listed = records.column(name).to_pylist()
    return pa.array([value + more for value in listed], records.schema.field(name).type)


def _shifted(key: bytes, value: bytes | None, more: int) -> bytes | None:
    """Commit a later offset, if the record is an offset commit."""
    (version,) = _SHORT.unpack_from(key)
    if value is None or version not in _OFFSET_COMMITS:
        return value
    (offset,) = _LONG.unpack_from(value, _SHORT.size)
    return value[: _SHORT.size] + _LONG.pack(offset + more) + value[10:]


def _is_group_state(key: bytes) -> bool:
    """Return whether a record is the state of a classic group."""
    (version,) = _SHORT.unpack_from(key)
    return bool(version == _GROUP_STATE)


def _group_of(key: bytes) -> bytes:
    (length,) = _SHORT.unpack_from(key, 2)
    return key[4 : 4 + length]


def _with_suffix(key: bytes, suffix: bytes) -> bytes:
    group = _group_of(key) + suffix
    return key[:2] + _SHORT.pack(len(group)) + group + key[4 + len(_group_of(key)) :]
