"""Primitives that the recorded messages do not cover."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance import WireError
from rebalance.protocol import Cursor


def uvarint(value: int) -> bytes:
    """Write as the protocol guide specifies: seven bits per byte, lowest first."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + uvarint(rest) if rest else bytes([low])


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_uvarint(value: int, behind: bytes) -> None:
    cursor = Cursor(uvarint(value) + behind)
    assert cursor.uvarint("n") == value
    assert cursor.left == len(behind)


@given(st.integers(-(2**63), 2**63 - 1))
def test_int64(value: int) -> None:
    assert Cursor(struct.pack(">q", value)).int64("n") == value


Read = Callable[[Cursor], object]


@pytest.mark.parametrize(
    ("text", "read", "offset", "reason"),
    [
        ("", lambda c: c.uvarint("n"), 0, "n: 1 bytes wanted, 0 left"),
        ("ffff", lambda c: c.uvarint("n"), 0, "n: 3 bytes wanted, 2 left"),
        ("ffffffff", lambda c: c.uvarint("n"), 0, "n: 5 bytes wanted, 4 left"),
        ("ffffffffff01", lambda c: c.uvarint("n"), 0, "n: a number without end"),
        ("ffffffff1f", lambda c: c.uvarint("n"), 0, "n: more than 32 bits"),
        ("00000000", lambda c: c.int64("n"), 0, "n: 8 bytes wanted, 4 left"),
        ("00", lambda c: c.compact_string("s"), 0, "s: null where a value must be"),
        ("0361", lambda c: c.compact_string("s"), 0, "s: length 2, but 1 bytes left"),
        ("ffffffff0f", lambda c: c.compact_string("s"), 0, "s: length 4294967294"),
        ("0261ff", lambda c: (c.compact_string("s"), c.end("m")), 2, "m: 1 bytes too"),
        ("03ff61", lambda c: c.compact_string("s"), 1, "s: not UTF-8"),
        ("00", lambda c: c.compact_blob("b"), 0, "b: null where a value must be"),
        ("ffffffff", lambda c: c.blob("b"), 0, "b: null where a value must be"),
        ("00", lambda c: c.compact_count("a", least=1), 0, "a: -1 items"),
        ("0400", lambda c: c.compact_count("a", least=1), 0, "a: 3 items, but 1 bytes"),
        ("01", lambda c: c.tagged("t", {}), 1, "t: tag: 1 bytes wanted"),
        ("010005aa", lambda c: c.tagged("t", {}), 1, "t: tag 0: length 5, but 1 bytes"),
        ("010002aabb", lambda c: c.tagged("t", {0: 1}), 1, "t: tag 0 twice, or not"),
        ("020001aa0001bb", lambda c: c.tagged("t", {0: 1}), 4, "t: tag 0 twice"),
        ("", lambda c: c.int8("n"), 0, "n: 1 bytes wanted, 0 left"),
        ("00" * 15, lambda c: c.uuid("u"), 0, "u: 16 bytes wanted, 15 left"),
        ("0300000001", lambda c: c.compact_int32s("a"), 0, "a: 2 items, but 4 bytes"),
        ("00", lambda c: c.compact_int32s("a"), 0, "a: -1 items"),
        ("020001aa0001bb", lambda c: c.tags("t"), 4, "t: tag 0 twice"),
        ("010005aa", lambda c: c.tags("t"), 1, "t: tag 0: length 5, but 1 bytes"),
        ("010002aabb77", lambda c: c.tags("t")[0].int32("n"), 3, "n: 4 bytes wanted"),
    ],
)
def test_refused(text: str, read: Read, offset: int, reason: str) -> None:
    with pytest.raises(WireError) as caught:
        read(Cursor(bytes.fromhex(text)))
    assert caught.value.reason.startswith(reason)
    assert caught.value.offset == offset


def test_null_compact_text_is_null() -> None:
    assert Cursor(b"\x00").nullable_compact_string("s") is None


def test_known_tags_are_kept_and_others_skipped() -> None:
    cursor = Cursor(bytes.fromhex("030001aa0502bbccac020077"))
    assert cursor.tagged("t", {0: 1, 9: 4}) == {0: b"\xaa"}
    assert cursor.left == 1


def test_a_tag_is_read_with_its_own_end() -> None:
    cursor = Cursor(bytes.fromhex("02 00 05 ff 00000007 09 01 aa 77"))
    tags = cursor.tags("t")
    assert (tags[0].int8("n"), tags[0].int32("n"), tags[0].left) == (-1, 7, 0)
    assert tags[9].left == 1
    assert cursor.left == 1
    assert Cursor(bytes(range(16))).uuid("u") == bytes(range(16))
