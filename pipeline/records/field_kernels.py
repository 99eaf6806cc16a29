"""A reader of messages by tables of their fields, compiled.

It reads what `pipeline.records.decode_record` and `rebalance.protocol` read, and
refuses what they refuse, without saying why.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.records.field_tables import VERSIONS, Kind, Programs, Step
from rebalance import ABSENT, Int32, Int64, kernel

Bytes = npt.NDArray[np.uint8]

REFUSED: Final = -1
"""Position after a message that is not one of its kind."""

_INT8, _INT16, _INT32, _INT64 = map(int, (1, 2, 4, 8))
_TEXT, _BYTES, _UUID, _ARRAY, _INT32S = map(
    int, (Kind.TEXT, Kind.BYTES, Kind.UUID, Kind.ARRAY, Kind.INT32S)
)
_VALUE, _TAGS = int(Step.VALUE), int(Step.TAGS)
_VARINT_BYTES: Final = 5
_UUID_BYTES: Final = 16
_MASK: Final = (1 << 32) - 1
_PRIME: Final = 16_777_619  # FNV-1a, 32 bits
_DEEPEST: Final = 4
"""Arrays within one another."""


class Names(NamedTuple):
    """Distinct texts, or ids, numbered as they occur first.

    Attributes
    ----------
    slot : int32 (2**k,)
        Hash table: one more than a number, 0 for a free place.
    hash : int64 (n,)
    at : int64 (n+1,)
        Where each text begins.
    text : uint8
    count : int64 (1,)
        Texts so far.
    """

    slot: Int32
    hash: Int64
    at: Int64
    text: Bytes
    count: Int64

    @classmethod
    def for_bytes(cls, size: int) -> Names:
        """Return room for the names in so many bytes; hardly any of it is touched."""
        most = size // 2 + 2  # one is empty, and another one can have one byte
        return cls(
            np.zeros(1 << (2 * most).bit_length(), np.int32),
            np.empty(most, np.int64),
            np.zeros(most + 1, np.int64),
            np.empty(size + 1, np.uint8),
            np.zeros(1, np.int64),
        )


@kernel
def number_at(data: Bytes, at: int, size: int) -> int:
    """Return the signed number of ``size`` bytes, high byte first."""
    value = np.int64(data[at])
    if value >= 128:
        value -= 256
    for place in range(at + 1, at + size):
        value = (value << 8) | np.int64(data[place])
    return value


@kernel
def _varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return an unsigned number of at most 32 bits and its end, or `REFUSED`."""
    value = np.int64(0)
    for place in range(_VARINT_BYTES):
        if at + place >= end:
            break
        byte = np.int64(data[at + place])
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            if value > _MASK:
                break
            return value, at + place + 1
    return np.int64(0), np.int64(REFUSED)


@kernel
def _is_text(data: Bytes, at: int, end: int) -> bool:
    """Return whether bytes are UTF-8 (RFC 3629, section 4)."""
    while at < end:
        first = np.int64(data[at])
        at += 1
        if first < 0x80:
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        more = 1 + (first >= 0xE0) + (first >= 0xF0)
        if at + more > end:
            return False
        second = np.int64(data[at])
        least = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
        most = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
        if second < least or second > most:
            return False
        for place in range(at + 1, at + more):
            if np.int64(data[place]) & 0xC0 != 0x80:
                return False
        at += more
    return True


@kernel
def number_of(names: Names, data: Bytes, at: int, end: int, is_text: bool) -> int:
    """Return the number of a text; `REFUSED` if it should be UTF-8 and is not."""
    key = np.int64(2_166_136_261)
    for place in range(at, end):
        key = ((key ^ np.int64(data[place])) * _PRIME) & _MASK
    mask = names.slot.size - 1
    slot = (key ^ (key >> 15)) & mask
    while names.slot[slot]:
        known = np.int64(names.slot[slot]) - 1
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
    if is_text and not _is_text(data, at, end):
        return np.int64(REFUSED)
    number = names.count[0]
    begin = names.at[number]
    names.text[begin : begin + end - at] = data[at:end]
    names.at[number + 1] = begin + end - at
    names.hash[number] = key
    names.slot[slot] = number + 1
    names.count[0] = number + 1
    return number


@kernel
def _length(
    data: Bytes,
    at: int,
    end: int,
    kind: int,
    is_compact: int,
) -> tuple[int, int]:
    """Return the length of a text, bytes, or an array, and where it ends."""
    if is_compact:
        length, at = _varint(data, at, end)
        return length - 1, at
    size = _INT16 if kind == _TEXT else _INT32
    if at + size > end:
        return np.int64(0), np.int64(REFUSED)
    return number_at(data, at, size), at + size


@kernel
def _put_tags(
    program: Int64,
    step: int,
    data: Bytes,
    at: int,
    end: int,
    tape: Int64,
    put: int,
    ids: Names,
) -> tuple[int, int]:
    """Read tagged fields; return the position, and where the tape goes on.

    Tags ascend, as writers put them; a UUID and a number have their size, and bytes any.
    """
    refused = np.int64(REFUSED)
    known = program[step, 1]
    start = put
    for tag in range(step + 1, step + 1 + known):
        if program[tag, 2] == _INT32S:
            continue
        tape[put] = program[tag, 3]
        put += 1
        if program[tag, 2] == _BYTES:
            tape[put] = ABSENT
            put += 1
    count, at = _varint(data, at, end)
    last = np.int64(-1)
    while at >= 0 and count > 0:
        count -= 1
        number, at = _varint(data, at, end)
        if at < 0:
            break
        if number <= last:  # of one that is there twice, `decode` decides
            return refused, put
        last = number
        size, at = _varint(data, at, end)
        if at < 0 or at + size > end:
            return refused, put
        place = start
        for tag in range(known):
            kind = program[step + 1 + tag, 2]
            if program[step + 1 + tag, 1] == number:
                if kind == _BYTES:
                    tape[place] = at
                    tape[place + 1] = size
                elif kind == _UUID:
                    if size != _UUID_BYTES:
                        return refused, put
                    tape[place] = number_of(ids, data, at, at + size, False)
                elif kind == _INT32S:
                    length, after = _varint(data, at, at + size)
                    if after < 0 or after + 4 * (length - 1) != at + size:
                        return refused, put
                else:
                    if size != kind:
                        return refused, put
                    tape[place] = number_at(data, at, size)
            place += 2 if kind == _BYTES else 0 if kind == _INT32S else 1
        at += size
    return at, put


@kernel
def read_message(
    programs: Programs,
    message: int,
    version: int,
    data: Bytes,
    at: int,
    end: int,
    tape: Int64,
    put: int,
    names: Names,
    ids: Names,
) -> tuple[int, int]:
    """Read a message from ``at``; return the position after it, and that on the tape.

    Parameters
    ----------
    message, version
        Place of the message among those of the programs, and a version that it has.
    end
        Where the bytes end that the message can have.
    tape : int64
        Values of the fields in order, from ``put`` on; `tape_size` states the room.
    names, ids
        Of texts and of UUIDs.

    Returns
    -------
    tuple of int
        The first is `REFUSED` if there is no such message.
    """
    refused = np.int64(REFUSED)
    program = programs.steps
    step = programs.begin[message * VERSIONS + version]
    last = programs.begin[message * VERSIONS + version + 1]
    at, put = np.int64(at), np.int64(put)
    begin = np.zeros(_DEEPEST, np.int64)  # first step of the items
    after = np.zeros(_DEEPEST, np.int64)
    left = np.zeros(_DEEPEST, np.int64)  # items
    depth = 0
    while True:
        while depth and step == after[depth - 1]:
            left[depth - 1] -= 1
            if left[depth - 1] > 0:
                step = begin[depth - 1]
            else:
                depth -= 1
        if step == last:
            return at, put
        kind, is_kept = program[step, 0], program[step, 1]
        if kind == _VALUE:
            tape[put] = program[step, 1]
            put += 1
        elif kind <= _INT64:
            if at + kind > end:
                return refused, put
            if is_kept:
                tape[put] = number_at(data, at, kind)
                put += 1
            at += kind
        elif kind == _UUID:
            if at + _UUID_BYTES > end:
                return refused, put
            tape[put] = number_of(ids, data, at, at + _UUID_BYTES, False)
            put += is_kept
            at += _UUID_BYTES
        elif kind == _TAGS:
            at, put = _put_tags(program, step, data, at, end, tape, put, ids)
            if at < 0:
                return refused, put
            step += program[step, 1]
        else:
            length, at = _length(data, at, end, kind, program[step, 3])
            if at < 0:
                return refused, put
            if kind == _ARRAY:
                body = program[step, 2]
                if length < 0 or length > end - at:  # an item has a byte at least
                    return refused, put
                tape[put] = length
                put += 1
                if length:
                    begin[depth], after[depth] = step + 1, step + 1 + body
                    left[depth] = length
                    depth += 1
                else:
                    step += body
            else:
                is_null = length == ABSENT and program[step, 2] != 0
                if (length < 0 and not is_null) or at + max(length, 0) > end:
                    return refused, put
                if kind == _BYTES:
                    tape[put], tape[put + 1] = at, length
                    put += 2 * is_kept
                else:
                    number = np.int64(ABSENT)
                    if not is_null:
                        number = number_of(names, data, at, at + length, True)
                        if number < 0:
                            return refused, put
                    tape[put] = number
                    put += is_kept
                at += max(length, 0)
        step += 1


def tape_size(size: int, messages: int) -> int:
    """Return the room that messages of so many bytes take on a tape, or more.

    A byte of a message has two values at most: position and length of empty bytes, or
    of a tag that is absent.
    """
    return 2 * size + 32 * messages
