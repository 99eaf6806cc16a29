"""Tape of a JSON text: one row per value, key and bracket, written in one pass.

The form is simdjson's (Langdale and Lemire 2019). A tape has no floats, no literals, no
escapes in strings, and no integers of more than 18 digits: values that it cannot
represent, and text that is not JSON, `rebalance.jsontext` reads, which also names
errors.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebalance.claims import Int64
from rebalance.compiled import kernel

Bytes = NDArray[np.uint8]

OBJECT: Final = 0
ARRAY: Final = 1
STRING: Final = 2
INTEGER: Final = 3
END: Final = 4

DEPTH_MAX: Final = 32
DIGITS_MAX: Final = 18
"""Integers of so many digits fit 64 bits."""

# Tokens that can follow, in the pass over the text.
_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _SEPARATOR = 0, 1, 2, 3, 4

_QUOTE, _BACKSLASH, _MINUS, _COMMA, _COLON = map(ord, '"\\-,:')
_ZERO, _NINE, _SPACE = map(ord, "09 ")
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = map(ord, "{}[]")
_TAB, _LINE_FEED, _RETURN = map(ord, "\t\n\r")


class Tape(NamedTuple):
    """Rows of a text of N values, keys and closing brackets, in its order.

    A key is a string; the row after it has its value.

    Attributes
    ----------
    text : uint8
        The text, UTF-8.
    kind : uint8 (N,)
        `OBJECT`, `ARRAY`, `STRING`, `INTEGER`, or `END` of an object or array.
    begin : int64 (N,)
        Of strings: place of the first byte in the text. Of other rows: place.
    value : int64 (N,)
        Of integers: the value. Of strings: place after the last byte. Of objects and
        arrays: the row of their end. Of an end: place after the bracket.
    """

    text: Bytes
    kind: Bytes
    begin: Int64
    value: Int64

    def string(self, row: int) -> str:
        """Return the string of a row."""
        return self.bytes_of(self.begin[row], self.value[row]).decode()

    def source(self, row: int) -> bytes:
        """Return the text of an object or array."""
        return self.bytes_of(self.begin[row], self.value[self.value[row]])

    def bytes_of(self, begin: int, end: int) -> bytes:
        """Return a part of the text."""
        return self.text[begin:end].tobytes()


def tape_of(text: bytes) -> Tape | None:
    """Write the tape of a JSON text; None if it has no tape, or is not UTF-8."""
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            return None
    codes = np.frombuffer(text, dtype=np.uint8)
    # No row needs less than a byte; pages that are not written take no memory.
    kind = np.empty(codes.size, dtype=np.uint8)
    begin = np.empty(codes.size, dtype=np.int64)
    value = np.empty(codes.size, dtype=np.int64)
    rows = write_tape(codes, kind, begin, value)
    if rows == 0:
        return None
    return Tape(codes, kind[:rows], begin[:rows], value[:rows])


@kernel
def write_tape(  # noqa: C901, PLR0911, PLR0912, PLR0915 - one pass
    text: Bytes, kind: Bytes, begin: Int64, value: Int64
) -> int:
    """Write the rows of a text; return their number, 0 if it has no tape."""
    opened = np.empty(DEPTH_MAX, dtype=np.int64)
    size, at, rows, depth, state = text.size, 0, 0, 0, _VALUE
    while at < size:
        code = text[at]
        if code in (_SPACE, _LINE_FEED, _RETURN, _TAB):
            at += 1
        elif state == _SEPARATOR:
            if depth == 0:
                return 0
            is_object = kind[opened[depth - 1]] == OBJECT
            if code == _COMMA:
                state = _KEY if is_object else _VALUE
                at += 1
            elif code == (_CLOSE_OBJECT if is_object else _CLOSE_ARRAY):
                state = _KEY_OR_END if is_object else _VALUE_OR_END
            else:
                return 0
        elif code == _QUOTE:
            end = at + 1
            while end < size and text[end] != _QUOTE:
                if text[end] < _SPACE or text[end] == _BACKSLASH:
                    return 0
                end += 1
            if end == size:
                return 0
            kind[rows], begin[rows], value[rows] = STRING, at + 1, end
            rows += 1
            at = end + 1
            if state in (_VALUE, _VALUE_OR_END):
                state = _SEPARATOR
            else:
                while at < size and text[at] in (_SPACE, _LINE_FEED, _RETURN, _TAB):
                    at += 1
                if at == size or text[at] != _COLON:
                    return 0
                at += 1
                state = _VALUE
        elif code == (_CLOSE_OBJECT if state == _KEY_OR_END else _CLOSE_ARRAY):
            if state not in (_KEY_OR_END, _VALUE_OR_END):
                return 0
            depth -= 1
            at += 1
            kind[rows], begin[rows], value[rows] = END, at - 1, at
            value[opened[depth]] = rows
            rows += 1
            state = _SEPARATOR
        elif state not in (_VALUE, _VALUE_OR_END):
            return 0
        elif code in (_OPEN_OBJECT, _OPEN_ARRAY):
            if depth == DEPTH_MAX:
                return 0
            is_object = code == _OPEN_OBJECT
            kind[rows], begin[rows] = OBJECT if is_object else ARRAY, at
            opened[depth] = rows
            depth += 1
            rows += 1
            at += 1
            state = _KEY_OR_END if is_object else _VALUE_OR_END
        else:
            first = at + 1 if code == _MINUS else at
            end, number = first, 0
            while end < size and _ZERO <= text[end] <= _NINE:
                number = 10 * number + int(text[end]) - _ZERO
                end += 1
            digits = end - first
            if digits == 0 or digits > DIGITS_MAX:
                return 0
            if digits > 1 and text[first] == _ZERO:
                return 0
            kind[rows], begin[rows] = INTEGER, at
            value[rows] = -number if code == _MINUS else number
            rows += 1
            at = end
            state = _SEPARATOR
    return rows if depth == 0 and state == _SEPARATOR else 0
