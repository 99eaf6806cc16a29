"""A reader of messages by tables of their fields, compiled.

It reads and refuses the same records as `pipeline.records.decode_record` and
`rebalance.protocol`, without a reason.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.records.field_tables import VERSIONS, Kind, Programs, Step
from rebalance import ABSENT, Int32, Int64, borrowing_kernel, inlined_kernel

Bytes = npt.NDArray[np.uint8]

AS_BYTES, AS_TEXT = range(2)

REFUSED: Final = -1
"""Position after a message that is not one of its kind."""

_INT16, _INT32, _INT64 = 2, 4, 8
_TEXT, _BYTES, _UUID, _ARRAY, _INT32S = map(
    int, (Kind.TEXT, Kind.BYTES, Kind.UUID, Kind.ARRAY, Kind.INT32S)
)
_VALUE, _TAGS = int(Step.VALUE), int(Step.TAGS)
_VARINT_BYTES: Final = 5
_UUID_BYTES: Final = 16
_MASK: Final = (1 << 32) - 1
_PRIME: Final = 16_777_619  # FNV-1a, 32 bits
DEEPEST: Final = 4
"""Arrays within one another."""


class NameTable(NamedTuple):
    """Distinct texts, or ids, numbered as they occur first.

    Attributes
    ----------
    slot : int32 (2**k,)
        Hash table: one more than a number, 0 for a free place.
    hash : int64 (2**(k-1),)
    at : int64 (2**(k-1)+1,)
        Where each text begins.
    text : uint8
    used : int64 (1,)
        Texts so far.
    """

    slot: Int32
    hash: Int64
    at: Int64
    text: Bytes
    used: Int64

    @classmethod
    def for_bytes(cls, size: int, slots: int) -> NameTable:
        """Return room for names in so many bytes.

        Parameters
        ----------
        slots
            Places of the hash table, a power of 2. It holds half as many names, and is
            to be small: memory that is touched at random is slow where it fits no
            cache.
        """
        # Sticky's user data can be read in two forms, each with other texts.
        return cls(
            np.zeros(slots, np.int32),
            np.empty(slots // 2, np.int64),
            np.zeros(slots // 2 + 1, np.int64),
            np.empty(2 * size + 1, np.uint8),
            np.zeros(1, np.int64),
        )

    def is_full(self) -> bool:
        """Return whether a name can be missing."""
        return bool(2 * self.used[0] >= self.slot.size)


@inlined_kernel
def number_at(data: Bytes, at: int, size: int) -> int:
    """Return the signed number of ``size`` bytes, high byte first."""
    value = int(data[at])
    if value >= 128:
        value -= 256
    for place in range(at + 1, at + size):
        value = (value << 8) | int(data[place])
    return value


@inlined_kernel
def version_at(data: Bytes, at: int, end: int) -> int:
    """Return the version, or the type, that a message begins with; `REFUSED`: none."""
    if end - at < _INT16:
        return REFUSED
    return number_at(data, at, _INT16)


@inlined_kernel
def _varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return an unsigned number of at most 32 bits and its end, or `REFUSED`."""
    value = 0
    for place in range(_VARINT_BYTES):
        if at + place >= end:
            break
        byte = int(data[at + place])
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            if value > _MASK:
                break
            return value, at + place + 1
    return 0, REFUSED


@inlined_kernel
def _is_text(data: Bytes, at: int, end: int) -> bool:
    """Return whether bytes are UTF-8 (RFC 3629, section 4)."""
    while at < end:
        first = int(data[at])
        at += 1
        if first < 0x80:
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        more = 1 + (first >= 0xE0) + (first >= 0xF0)
        if at + more > end:
            return False
        second = int(data[at])
        least = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
        most = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
        if second < least or second > most:
            return False
        for place in range(at + 1, at + more):
            if int(data[place]) & 0xC0 != 0x80:
                return False
        at += more
    return True


@inlined_kernel
def number_of(names: NameTable, data: Bytes, at: int, end: int, kind: int) -> int:
    """Return the number of a text; `REFUSED` if it is `AS_TEXT` and not UTF-8."""
    key = 2_166_136_261
    for place in range(at, end):
        key = ((key ^ int(data[place])) * _PRIME) & _MASK
    mask = names.slot.size - 1
    slot = (key ^ (key >> 15)) & mask
    while names.slot[slot]:
        known = int(names.slot[slot]) - 1
        begin = names.at[known]
        if names.hash[known] == key and names.at[known + 1] - begin == end - at:
            is_same = True
            for place in range(end - at):
                if names.text[begin + place] != data[at + place]:
                    is_same = False
                    break
            if is_same:
                return known
        slot = (slot + 1) & mask
    if kind == AS_TEXT and not _is_text(data, at, end):
        return REFUSED
    number = int(names.used[0])
    if 2 * number >= names.slot.size:
        return REFUSED
    begin = names.at[number]
    for place in range(end - at):
        names.text[begin + place] = data[at + place]
    names.at[number + 1] = begin + end - at
    names.hash[number] = key
    names.slot[slot] = number + 1
    names.used[0] = number + 1
    return number


class MessageReader(NamedTuple):
    """Source and target of messages that are read.

    Attributes
    ----------
    programs : Programs
    data : uint8
    tape : int64
        `tape_size` states the room that it needs.
    items : int64 (`DEEPEST` + 1, 3)
        Room for arrays within one another, from 1 on: the first step of their items,
        the step after them, and how many items are left.
    names, ids : NameTable
        Of texts, and of UUIDs.
    """

    programs: Programs
    data: Bytes
    tape: Int64
    items: Int64
    names: NameTable
    ids: NameTable


@borrowing_kernel
def read_message(  # noqa: C901, PLR0911, PLR0912, PLR0915 - one pass: calls are slow
    reader: MessageReader, message: int, version: int, at: int, end: int, put: int
) -> tuple[int, int]:
    """Read a message from ``at``; return the position after it, and that on the tape.

    Parameters
    ----------
    message, version
        Place of the message among those of the programs, and a version that it has.
    end
        Where the bytes end that the message can have.
    put
        Where the values of its fields begin on the tape, in order.

    Returns
    -------
    tuple of int
        The first is `REFUSED` if there is no such message.
    """
    program, begins, data = reader.programs.steps, reader.programs.begin, reader.data
    tape, items = reader.tape, reader.items
    step = begins[message * VERSIONS + version]
    last = begins[message * VERSIONS + version + 1]
    depth = 0
    while True:
        while depth and step == items[depth, 1]:  # after an item of an array
            items[depth, 2] -= 1
            if items[depth, 2]:
                step = items[depth, 0]
            else:
                depth -= 1
        if step == last:
            return at, put
        kind, is_kept = program[step, 0], program[step, 1]
        if kind == _VALUE:
            tape[put] = is_kept
            put += 1
        elif kind <= _INT64:
            if at + kind > end:
                return REFUSED, put
            if is_kept:
                tape[put] = number_at(data, at, kind)
                put += 1
            at += kind
        elif kind == _UUID:
            if at + _UUID_BYTES > end:
                return REFUSED, put
            tape[put] = number_of(reader.ids, data, at, at + _UUID_BYTES, AS_BYTES)
            put += is_kept
            at += _UUID_BYTES
        elif kind == _TAGS:
            at, put = _read_tags(reader, step, at, end, put)
            if at < 0:
                return REFUSED, put
            step += is_kept
        else:
            if program[step, 3]:
                length, at = _varint(data, at, end)
                length -= 1
            elif at + (_INT16 if kind == _TEXT else _INT32) > end:
                return REFUSED, put
            else:
                size = _INT16 if kind == _TEXT else _INT32
                length = number_at(data, at, size)
                at += size
            is_null = length == ABSENT and kind != _ARRAY and program[step, 2] != 0
            if at < 0 or (length < 0 and not is_null) or at + length > end:
                return REFUSED, put  # an item of an array has a byte at least
            if kind == _ARRAY:
                tape[put] = length
                put += 1
                if length and program[step + 1, 0] == _INT32 and program[step, 2] == 1:
                    after = at + _INT32 * length
                    if after > end:
                        return REFUSED, put
                    while at < after:
                        tape[put] = number_at(data, at, _INT32)
                        put += 1
                        at += _INT32
                    step += 1
                elif length:
                    depth += 1
                    items[depth, 0], items[depth, 2] = step + 1, length
                    items[depth, 1] = step + 1 + program[step, 2]
                else:
                    step += program[step, 2]
                step += 1
                continue
            after = at if is_null else at + length
            if kind == _BYTES:
                tape[put], tape[put + 1] = at, length
                put += 2 * is_kept
            else:
                tape[put] = ABSENT
                if is_kept:
                    if not is_null:
                        tape[put] = number_of(reader.names, data, at, after, AS_TEXT)
                        if tape[put] < 0:
                            return REFUSED, put
                    put += 1
                elif not _is_text(data, at, after):
                    return REFUSED, put
            at = after
        step += 1


@inlined_kernel
def _read_tags(
    reader: MessageReader, step: int, at: int, end: int, put: int
) -> tuple[int, int]:
    """Read tagged fields: they ascend, as Kafka writes them, so none occurs twice."""
    program = reader.programs.steps
    first, last = step + 1, step + 1 + program[step, 1]
    start = put
    for tag in range(first, last):
        for _ in range(_values_of(program[tag, 2])):
            reader.tape[put] = ABSENT
            put += 1
        if program[tag, 2] <= _INT64:
            reader.tape[put - 1] = program[tag, 3]
    count, at = _varint(reader.data, at, end)
    before = REFUSED
    while at >= 0 and count > 0:
        count -= 1
        number, at = _varint(reader.data, at, end)
        if at >= 0:
            size, at = _varint(reader.data, at, end)
        if at < 0 or at + size > end or number <= before:
            return REFUSED, put
        before, place = number, start
        for tag in range(first, last):
            kind, is_it = program[tag, 2], program[tag, 1] == number
            if is_it and not _read_tag(reader, kind, at, size, place):
                return REFUSED, put
            place += _values_of(kind)
        at += size
    return at, put


@inlined_kernel
def _values_of(kind: int) -> int:
    """Return how many numbers a tag has on the tape."""
    if kind == _INT32S:
        return 0
    return 2 if kind == _BYTES else 1


@inlined_kernel
def _read_tag(reader: MessageReader, kind: int, at: int, size: int, place: int) -> bool:
    """Read a known tag; return whether its bytes are of its kind."""
    if kind == _BYTES:
        reader.tape[place], reader.tape[place + 1] = at, size
        return True
    if kind == _INT32S:
        count, after = _varint(reader.data, at, at + size)
        return after >= 0 and after + 4 * (count - 1) == at + size
    if kind == _UUID:
        if size == _UUID_BYTES:
            number = number_of(reader.ids, reader.data, at, at + size, AS_BYTES)
            reader.tape[place] = number
        return size == _UUID_BYTES
    if size == kind:
        reader.tape[place] = number_at(reader.data, at, size)
    return size == kind


def tape_size(size: int, messages: int) -> int:
    """Return the room that messages of so many bytes take on a tape, or more.

    A byte of a message has two values at most: position and length of empty bytes, or
    of a tag that is absent.
    """
    return 2 * size + 32 * messages
