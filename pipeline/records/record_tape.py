"""Records of ``__consumer_offsets`` on a tape of integers, read by kernels.

`pipeline.records.decode` reads the same records one by one, and says what is wrong with
one that is not sound. The subscribed topics that only Kafka 4.0 records (type 4), and
records of other kinds of groups, are left to it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.records.field_kernels import (
    REFUSED,
    Bytes,
    Names,
    number_at,
    number_of,
    read_message,
    tape_size,
)
from pipeline.records.field_tables import Programs
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
    TARGET_EPOCH,
)
from rebalance import Bools, Int64, kernel

_NEWEST: Final = 4
"""Version of the values of commits and classic groups."""
_KINDS: Final = np.array(KIND_OF_TYPE)


class Binaries(NamedTuple):
    """A column of bytes: value i is ``data[at[i] : at[i + 1]]``, and can be null."""

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
    names, ids : Names
        Of texts, and of topic ids.
    """

    kind: Int64
    at: Int64
    tape: Int64
    used: int
    names: Names
    ids: Names


def record_tape(keys: pa.BinaryArray, values: pa.BinaryArray) -> RecordTape:
    """Read records; keys are not null."""
    key, value = _binaries(keys), _binaries(values)
    size = key.data.size + value.data.size
    known = sum(map(len, KNOWN_NAMES))
    names, ids = Names.for_bytes(size + known), Names.for_bytes(size)
    for name in KNOWN_NAMES:
        text = np.array([*name.encode()], np.uint8)
        number_of(names, text, 0, text.size, True)
    # Messages within a value are read again: a subscription, and its user data.
    tape = np.empty(tape_size(4 * size, 4 * len(keys)), np.int64)
    kind, at, used = _read_records(PROGRAMS, _KINDS, key, value, names, ids, tape)
    return RecordTape(kind, at, tape, used, names, ids)


def _binaries(column: pa.BinaryArray) -> Binaries:
    """Return a column as arrays; they are copies (kernels want those)."""
    _, offsets, data = column.buffers()
    at = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
    begin, end = int(at[0]), int(at[-1])
    found = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Binaries(
        found[begin:end].copy(),
        at.astype(np.int64) - begin,
        np.array(column.is_null()),
    )


@kernel
def _read_records(
    programs: Programs,
    kind_of_type: Int64,
    keys: Binaries,
    values: Binaries,
    names: Names,
    ids: Names,
    tape: Int64,
) -> tuple[Int64, Int64, int]:
    count = keys.at.size - 1
    kinds = np.full(count, OTHER, np.int64)
    places = np.zeros(count, np.int64)
    put = np.int64(0)
    for row in range(count):
        places[row] = put
        at, end = keys.at[row], keys.at[row + 1]
        kind, message, newest = _kind_of_key(keys.data, at, end, kind_of_type)
        if kind == OTHER:
            continue
        of_key = OF_SUBJECT_KEY
        if kind in (GENERATION, EPOCH, TARGET_EPOCH):
            of_key = OF_GROUP_KEY
        elif kind == COMMITTED:
            of_key = OF_OFFSET_KEY
        at, after = read_message(
            programs, of_key, 0, keys.data, at, end, tape, put, names, ids
        )
        if at != end:
            continue
        if values.is_null[row]:
            kinds[row] = -kind
            if kind == COMMITTED or kind == GENERATION:
                kinds[row] = FORGOTTEN if kind == COMMITTED else DELETED
            put = after
            continue
        at, end = values.at[row], values.at[row + 1]
        if end - at < 2:
            continue
        version = number_at(values.data, at, 2)
        if version < 0 or version > newest:
            continue
        at, after = read_message(
            programs, message, version, values.data, at, end, tape, after, names, ids
        )
        if at == end and kind == GENERATION:
            after = read_members(programs, values.data, tape, put, after, names, ids)
        elif at == end and kind == MEMBER:
            after = _check_member(programs, values.data, tape, put, after, names, ids)
        if at == end and after >= 0:
            kinds[row] = kind
            put = after
    return kinds, places, put


@kernel
def _kind_of_key(
    data: Bytes, at: int, end: int, kind_of_type: Int64
) -> tuple[int, int, int]:
    """Return the kind of a record, the message of its value, and the newest version."""
    number = number_at(data, at, 2) if end - at >= 2 else np.int64(-1)
    if number == 0 or number == 1:
        return COMMITTED, OF_OFFSET, _NEWEST
    if number == 2:  # Kafka's type of the record
        return GENERATION, OF_GROUP, _NEWEST
    if 0 <= number < kind_of_type.size:
        kind = kind_of_type[number]
        return kind, OF_EPOCH + kind - EPOCH, 0
    return OTHER, 0, 0


@kernel
def _check_member(
    programs: Programs,
    data: Bytes,
    tape: Int64,
    record: int,
    put: int,
    names: Names,
    ids: Names,
) -> int:
    """Refuse what a classic member has sent if it is not that.

    It is a struct that can be null: a byte, 0 for null and 1 for the fields after it.
    """
    last_topic = record + MEMBER_TOPICS + tape[record + MEMBER_TOPICS]
    place = last_topic + MEMBER_CLASSIC
    at, size = tape[place], tape[place + 1]
    tape[place] = False
    if size < 0 or (size == 1 and data[at] == 0):
        return put
    if size == 0 or data[at] != 1:
        return np.int64(REFUSED)
    after, _ = read_message(
        programs, OF_CLASSIC_MEMBER, 0, data, at + 1, at + size, tape, put, names, ids
    )
    tape[place] = True
    return put if after == at + size else np.int64(REFUSED)
