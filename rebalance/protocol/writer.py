"""Writer of one Kafka message; a value that does not fit is an error."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from rebalance.errors import WireError

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")
_MOST_TEXT: Final = 2**15 - 1  # bytes: the largest signed 16-bit length


class Writer:
    """A message under construction; the inverse of `Cursor`, with the same names.

    Raises
    ------
    WireError
        From every method, with the offset at which the value would have been written.
    """

    __slots__ = ("_out",)

    def __init__(self) -> None:
        self._out = bytearray()

    def message(self) -> bytes:
        """Return the bytes written so far."""
        return bytes(self._out)

    def int16(self, value: int, what: str) -> None:
        """Write a signed 16-bit number."""
        self._number(_INT16, value, what)

    def int32(self, value: int, what: str) -> None:
        """Write a signed 32-bit number."""
        self._number(_INT32, value, what)

    def string(self, value: str, what: str) -> None:
        """Write text after its 16-bit length."""
        try:
            raw = value.encode()
        except UnicodeEncodeError:
            raise self._refused(f"{what}: {value!r} has no UTF-8 form") from None
        if len(raw) > _MOST_TEXT:
            reason = f"{what}: {len(raw)} bytes, {_MOST_TEXT} at most"
            raise self._refused(reason)
        self._out += _INT16.pack(len(raw)) + raw

    def nullable_string(self, value: str | None, what: str) -> None:
        """Write text after its 16-bit length, null as -1."""
        if value is None:
            self.int16(-1, what)
        else:
            self.string(value, what)

    def nullable_blob(self, value: bytes | None, what: str) -> None:
        """Write bytes after their 32-bit length, null as -1."""
        self.int32(-1 if value is None else len(value), what)
        self._out += value or b""

    def int32s(self, values: Sequence[int], what: str) -> None:
        """Write an array of signed 32-bit numbers."""
        self._number(struct.Struct(f">i{len(values)}i"), (len(values), *values), what)

    def _number(
        self, form: struct.Struct, value: int | tuple[int, ...], what: str
    ) -> None:
        parts = value if isinstance(value, tuple) else (value,)
        try:
            self._out += form.pack(*parts)
        except struct.error:
            raise self._refused(f"{what}: {value!r} does not fit") from None

    def _refused(self, reason: str) -> WireError:
        return WireError(reason, offset=len(self._out))
