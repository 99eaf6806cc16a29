"""Records of ``__consumer_offsets`` on a tape of integers, read by kernels.

`pipeline.records.decode` reads the same records one by one, and states the fault of one
that is not sound. The subscribed topics that only Kafka 4.0 records (type 4), and
records of other kinds of groups, are left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from pipeline.records.field_kernels import (
    AS_TEXT,
    DEEPEST,
    REFUSED,
    Bytes,
    MessageReader,
    NameTable,
    number_of,
    read_message,
    tape_size,
    version_at,
)
from pipeline.records.member_messages import read_members
from pipeline.records.tape_layout import (
    COMMITTED,
    DELETED,
    EPOCH,
    FORGOTTEN,
    GENERATION,
    KIND_OF_TYPE,
    KNOWN_NAMES,
    MEMBER,
    MEMBER_CLASSIC,
    MEMBER_TOPICS,
    OF_CLASSIC_MEMBER,
    OF_EPOCH,
    OF_GROUP,
    OF_GROUP_KEY,
    OF_OFFSET,
    OF_OFFSET_KEY,
    OF_SUBJECT_KEY,
    OTHER,
    PROGRAMS,
    START,
    TARGET_EPOCH,
)
from rebalance import Bools, Int64, argument, borrowing_kernel, inlined_kernel

if TYPE_CHECKING:
    import pyarrow as pa  # kernels are compiled without it

_NEWEST: Final = 4
"""Version of the values of commits and classic groups."""
_FIRST_SLOTS: Final = 1 << 13
_BYTES_PER_NUMBER: Final = 2
"""Of records, more or less; the tape becomes longer where they have fewer."""
_FIRST: Final = argument(0)
"""Version of keys, and of values that have only one."""


class Binaries(NamedTuple):
    """A column of bytes: value i is ``data[at[i] : at[i + 1]]``, or null."""

    data: Bytes
    at: Int64
    is_null: Bools


class RecordTape(NamedTuple):
    """Records of a batch, n of them.

    Attributes
    ----------
    kind : int64 (n,)
        `OTHER` and so on (`pipeline.records.tape_layout`).
    at : int64 (n,)
        Where a record begins on the tape.
    tape : int64
    used : int
        Numbers on the tape.
    names, ids : NameTable
        Of texts, and of topic ids.
    """

    kind: Int64
    at: Int64
    tape: Int64
    used: int
    names: NameTable
    ids: NameTable


def record_tape(keys: pa.BinaryArray, values: pa.BinaryArray) -> RecordTape:
    """Read records; keys are not null."""
    return tape_of(_binaries(keys), _binaries(values))


def tape_of(keys: Binaries, values: Binaries) -> RecordTape:
    """Read records; keys are not null."""
    size = keys.data.size + values.data.size
    slots = _FIRST_SLOTS
    while True:
        tables = _tables(size, slots)
        found = _read(keys, values, *tables)
        if not _are_full(tables):
            return found
        slots *= 8


def record_tapes(
    parts: Callable[[], Iterable[tuple[pa.BinaryArray, pa.BinaryArray]]], size: int
) -> Iterator[RecordTape]:
    """Read records of so many bytes in parts, twice: first, for their names.

    Names have the same numbers in all parts, which are those of `record_tape`.

    Parameters
    ----------
    parts
        Reads keys and values; can be called several times.
    """
    slots = _FIRST_SLOTS
    while True:
        tables = _tables(size, slots)
        for keys, values in parts():
            _read(_binaries(keys), _binaries(values), *tables)
        if not _are_full(tables):
            break
        slots *= 8
    for keys, values in parts():
        yield _read(_binaries(keys), _binaries(values), *tables)


def _tables(size: int, slots: int) -> tuple[NameTable, NameTable]:
    """Return room for names and ids, which can have too few places for hashes."""
    known = sum(map(len, KNOWN_NAMES))
    names = NameTable.for_bytes(size + known, slots)
    for name in KNOWN_NAMES:
        text = np.frombuffer(name.encode(), np.uint8)
        number_of(names, text, 0, text.size, AS_TEXT)
    return names, NameTable.for_bytes(size, slots)


def _are_full(tables: Iterable[NameTable]) -> bool:
    return any(table.is_full() for table in tables)


def _read(
    keys: Binaries, values: Binaries, names: NameTable, ids: NameTable
) -> RecordTape:
    """Read records; more names than there is room for are refused."""
    size = keys.data.size + values.data.size
    count = keys.is_null.size
    room = _room_for(_longest(keys) + _longest(values))
    tape = np.empty(START + size // _BYTES_PER_NUMBER + room, np.int64)
    items = np.zeros((DEEPEST + 1, 3), np.int64)
    kind, at = np.full(count, OTHER, np.int64), np.zeros(count, np.int64)
    row, used = 0, START
    while True:
        row, used = _read_records(
            MessageReader(PROGRAMS, keys.data, tape, items, names, ids),
            MessageReader(PROGRAMS, values.data, tape, items, names, ids),
            keys.at,
            values.at,
            values.is_null,
            np.array(KIND_OF_TYPE),
            (kind, at),
            (row, used, tape.size - room),
        )
        if row == count:
            return RecordTape(kind, at, tape, used, names, ids)
        longer = np.empty(2 * tape.size, np.int64)
        longer[:used] = tape[:used]
        tape = longer


def _room_for(size: int) -> int:
    """Return the room that a record of so many bytes takes on the tape, or more.

    Messages within a value are read again: a subscription, and its user data.
    """
    return tape_size(4 * size, 4)


def _longest(column: Binaries) -> int:
    return int(np.diff(column.at).max(initial=0))


def _binaries(column: pa.BinaryArray) -> Binaries:
    """Return a column as arrays; its bytes are not copied, and cannot be written."""
    _, offsets, data = column.buffers()
    at = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
    begin, end = int(at[0]), int(at[-1])
    found = np.frombuffer(b"" if data is None else data, np.uint8)
    is_null = np.array(column.is_null())
    return Binaries(found[begin:end], at.astype(np.int64) - begin, is_null)


@borrowing_kernel
def _read_records(
    of_keys: MessageReader,
    of_values: MessageReader,
    key_at: Int64,
    value_at: Int64,
    is_null: Bools,
    types: Int64,
    found: tuple[Int64, Int64],
    begin: tuple[int, int, int],
) -> tuple[int, int]:
    """Read records from one on; return the next one, and where the tape goes on.

    Parameters
    ----------
    found
        Kinds and places of records, which are written.
    begin
        The first record, where its part of the tape begins, and where the tape is full.
    """
    (kinds, places), (row, put, full) = found, begin
    while row < kinds.size and put < full:
        places[row] = put
        key = (key_at[row], key_at[row + 1])
        value = (value_at[row], value_at[row + 1])
        kinds[row], put = _read_record(
            of_keys, of_values, key, value, is_null[row], types, put
        )
        row += 1
    return row, put


@inlined_kernel
def _read_record(
    of_keys: MessageReader,
    of_values: MessageReader,
    key: tuple[int, int],
    value: tuple[int, int],
    is_null: bool,
    types: Int64,
    put: int,
) -> tuple[int, int]:
    """Read a record; return its kind, and where the tape goes on."""
    at, end = key
    kind = _kind_of_key(of_keys.data, at, end, types)
    if kind == OTHER:
        return OTHER, put
    at, after = read_message(of_keys, _key_of(kind), _FIRST, at, end, put)
    if at != end:
        return OTHER, put
    if is_null:
        if kind == COMMITTED:
            return FORGOTTEN, after
        return DELETED if kind == GENERATION else -kind, after
    after = _read_value(of_values, kind, value[0], value[1], put, after)
    return (kind, after) if after >= 0 else (OTHER, put)


@inlined_kernel
def _kind_of_key(data: Bytes, at: int, end: int, types: Int64) -> int:
    """Return the kind of a record by its type."""
    number = version_at(data, at, end)
    return types[number] if 0 <= number < types.size else OTHER


@inlined_kernel
def _key_of(kind: int) -> int:
    """Return the message of a record's key."""
    if kind == COMMITTED:
        return OF_OFFSET_KEY
    if kind in (GENERATION, EPOCH, TARGET_EPOCH):
        return OF_GROUP_KEY
    return OF_SUBJECT_KEY


@inlined_kernel
def _read_value(
    reader: MessageReader, kind: int, at: int, end: int, record: int, put: int
) -> int:
    """Read a value; return where the tape goes on, or `REFUSED`."""
    version = version_at(reader.data, at, end)
    message, newest = OF_EPOCH + kind - EPOCH, 0
    if kind in (COMMITTED, GENERATION):
        message, newest = OF_OFFSET if kind == COMMITTED else OF_GROUP, _NEWEST
    if version < 0 or version > newest:
        return REFUSED
    at, put = read_message(reader, message, version, at, end, put)
    if at != end:
        return REFUSED
    if kind == GENERATION:
        return read_members(reader, record, put)
    if kind == MEMBER and not _is_sound_member(reader, record, put):
        return REFUSED
    return put


@inlined_kernel
def _is_sound_member(reader: MessageReader, record: int, put: int) -> bool:
    """Return whether a classic member's part is one; keep only whether there is one.

    It is a struct that can be null: a byte, 0 for null and 1 for the fields after it.
    """
    topics = record + MEMBER_TOPICS
    place = topics + reader.tape[topics] + MEMBER_CLASSIC
    at, size = reader.tape[place], reader.tape[place + 1]
    is_null = size < 0 or (size == 1 and reader.data[at] == 0)
    reader.tape[place] = not is_null
    if is_null:
        return True
    if size == 0 or reader.data[at] != 1:
        return False
    end = at + size
    after, _ = read_message(reader, OF_CLASSIC_MEMBER, _FIRST, at + 1, end, put)
    return bool(after == end)
