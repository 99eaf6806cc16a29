"""Fields of objects on a tape: their rows, for many objects at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance.claims import Int64
from rebalance.compiled import borrowing_kernel, kernel
from rebalance.instance import ABSENT
from rebalance.tape.json_tape import ARRAY, INTEGER, Bytes, Tape


class FieldNames(NamedTuple):
    """Names of the fields of a format.

    Attributes
    ----------
    text : uint8
        All names, one after another.
    ends : int64 (F,)
        Where each name ends.
    """

    text: Bytes
    ends: Int64

    @classmethod
    def of(cls, *names: str) -> FieldNames:
        """Encode the names."""
        text = np.frombuffer("".join(names).encode(), dtype=np.uint8)
        return cls(text, np.cumsum([len(name) for name in names], dtype=np.int64))


@borrowing_kernel
def after(tape: Tape, row: int) -> int:
    """Return the row after a value."""
    return (tape.value[row] if tape.kind[row] <= ARRAY else row) + 1


@kernel
def entry_rows(tape: Tape, row: int) -> Int64:
    """Return the rows of the keys of an object."""
    end, count = tape.value[row], 0
    found = np.empty(end - row, dtype=np.int64)
    at = row + 1
    while at < end:
        found[count] = at
        count += 1
        at = after(tape, at + 1)
    return found[:count]


@kernel
def field_rows(tape: Tape, objects: Int64, names: FieldNames) -> tuple[Int64, bool]:
    """Return the rows of the values of fields.

    Parameters
    ----------
    tape : Tape
    objects : int64 (K,)
        Rows of objects.
    names : FieldNames

    Returns
    -------
    int64 (K, F)
        By object and field; `ABSENT`: the object does not have it.
    bool
        Whether every key is one of the names, and none is repeated.
    """
    found = np.full((objects.size, names.ends.size), ABSENT, dtype=np.int64)
    for number in range(objects.size):
        at, end = objects[number] + 1, tape.value[objects[number]]
        while at < end:
            field = _field(tape, at, names)
            if field == ABSENT or found[number, field] != ABSENT:
                return found, False
            found[number, field] = at + 1
            at = after(tape, at + 1)
    return found, True


@borrowing_kernel
def _field(tape: Tape, row: int, names: FieldNames) -> int:
    """Return the number of the name of a key."""
    begin, first = tape.begin[row], 0
    length = tape.value[row] - begin
    for field in range(names.ends.size):
        end = names.ends[field]
        if end - first == length:
            at = 0
            while at < length and tape.text[begin + at] == names.text[first + at]:
                at += 1
            if at == length:
                return field
        first = end
    return ABSENT


@borrowing_kernel
def write_integers(tape: Tape, rows: Int64, offsets: Int64, column: Int64) -> bool:
    """Write arrays of integers to their places; `ABSENT` rows leave theirs as it is.

    Returns
    -------
    bool
        Whether all are arrays of the right length, without negative numbers.
    """
    for number in range(rows.size):
        row, first = rows[number], offsets[number]
        if row != ABSENT:
            size = offsets[number + 1] - first
            if tape.kind[row] != ARRAY or tape.value[row] - row - 1 != size:
                return False
            for at in range(size):
                inner = row + 1 + at
                if tape.kind[inner] != INTEGER or tape.value[inner] < 0:
                    return False
                column[first + at] = tape.value[inner]
    return True
