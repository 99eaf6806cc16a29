"""Offset commits of a batch, decoded from their bytes column by column.

Most records of ``__consumer_offsets`` are offset commits. Their fields are at fixed
places but for one text, so the version, the offset, and the length of a whole batch are
compared at once. What is decoded is what `decode_record` accepts with the same result;
all else (damage, other versions, long varints) is left to it.

Forms of ``OffsetCommitValue.json``, with ``n`` bytes of metadata::

    0, 2  version(2) offset(8) n(2) metadata(n) time(8)
    1     version(2) offset(8) n(2) metadata(n) time(8) expiry(8)
    3     version(2) offset(8) epoch(4) n(2) metadata(n) time(8)
    4     version(2) offset(8) epoch(4) n+1(1) metadata(n) time(8) tags
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.records.model import OffsetTombstone
from pipeline.records.offsets import decode_offset
from rebalance import WireError
from rebalance.protocol import Cursor

Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

CommitKey = tuple[str, int]
"""Topic and partition."""

_OFFSET_AT: Final = 2
_LEAST: Final = 20
"""Bytes of the shortest value."""
_LENGTH_AT: Final = np.array([10, 10, 10, 14, 14])
"""Where the length of the metadata is, by version."""
_FIXED: Final = np.array([20, 28, 20, 24, 24])
"""Bytes besides the metadata, by version; version 4 without tags."""
_FLEXIBLE: Final = 4
_VARINT_BYTE: Final = 0x80
_ID_BYTES: Final = 16
_ID_TAG: Final = (1, 0, _ID_BYTES)  # one tag, number 0, its size
_LONGEST_KEPT: Final = 1_024
"""Bytes of the longest key that is kept: names have at most 249 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitValues:
    """Values of a batch as offset commits.

    Attributes
    ----------
    sound : bool (n,)
        Whether the value is one that was decoded; the rest is undefined otherwise.
    offset : int64 (n,)
        Committed offsets.
    topic_id : list of bytes or None (n), or None
        Ids of the topics where the values have one; None: no value has.
    """

    sound: Bools
    offset: Integers
    topic_id: list[bytes | None] | None


def commit_values(values: pa.BinaryArray) -> CommitValues:
    """Decode the values of a batch as offset commits; n is their number."""
    data, starts, lengths = _buffers(values)
    rows = np.flatnonzero(lengths >= _LEAST)
    at, length = starts[rows], lengths[rows]
    version = _int16(data, at)
    known = (version >= 0) & (version <= _FLEXIBLE)
    rows, at, length, version = (x[known] for x in (rows, at, length, version))
    flexible = version == _FLEXIBLE
    place = _LENGTH_AT[version]
    byte = data[at + place].astype(np.int64)
    metadata = np.where(flexible, byte - 1, _int16(data, at + place))
    rest = length - _FIXED[version] - metadata  # tags of version 4, else nothing
    fits = (metadata >= 0) & (rest >= 0) & ~(flexible & (byte >= _VARINT_BYTE))
    last = at + length - 1
    no_tags = (rest == 0) & (data[last] == 0)
    tagged = rest == len(_ID_TAG) - 1 + _ID_BYTES
    for more, expected in enumerate(_ID_TAG):
        byte_of_tag = data[np.maximum(last - _ID_BYTES - 2 + more, 0)]
        tagged &= byte_of_tag == expected
    sound_here = fits & np.where(flexible, no_tags | tagged, rest == 0)
    text_at = place + np.where(flexible, 1, 2)
    for row in np.flatnonzero(sound_here & (metadata > 0)):
        start = at[row] + text_at[row]
        sound_here[row] = _is_text(data[start : start + metadata[row]])
    with_id, end = sound_here & flexible & tagged, at + length
    found = CommitValues(
        sound=np.zeros(len(values), np.bool_),
        offset=np.zeros(len(values), np.int64),
        topic_id=_topic_ids(data, rows[with_id], end[with_id], len(values)),
    )
    found.sound[rows] = sound_here
    found.offset[rows] = _int64(data, at + _OFFSET_AT)
    return found


def commit_key(key: bytes) -> CommitKey | None:
    """Decode the key of an offset commit; None if it is another key, or damaged."""
    return _kept_key(key) if len(key) <= _LONGEST_KEPT else _decoded_key(key)


def _decoded_key(key: bytes) -> CommitKey | None:
    if key[:2] not in (b"\x00\x00", b"\x00\x01"):
        return None
    cursor = Cursor(key)
    cursor.at = 2
    try:
        record = decode_offset(cursor, None)
    except WireError:
        return None
    assert isinstance(record, OffsetTombstone)  # noqa: S101  # without a value
    return record.topic, record.partition


_kept_key = lru_cache(maxsize=16_384)(_decoded_key)


def _buffers(
    values: pa.BinaryArray,
) -> tuple[npt.NDArray[np.uint8], Integers, Integers]:
    """Return the bytes of all values, and the start and length of each; null: -1."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset :][: len(values) + 1]
    starts = ends[:-1].astype(np.int64)
    lengths = np.diff(ends).astype(np.int64)
    if values.null_count:
        lengths[np.asarray(values.is_null())] = -1
    found = np.zeros(1, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return found, starts, lengths


def _int16(data: npt.NDArray[np.uint8], at: Integers) -> Integers:
    both = data[at].astype(np.int64) << 8 | data[at + 1]
    return np.where(both < 1 << 15, both, both - (1 << 16))


def _int64(data: npt.NDArray[np.uint8], at: Integers) -> Integers:
    gathered = np.ascontiguousarray(data[at[:, None] + np.arange(8)])
    return gathered.view(">i8").reshape(-1).astype(np.int64)


def _topic_ids(
    data: npt.NDArray[np.uint8], rows: Integers, ends: Integers, count: int
) -> list[bytes | None] | None:
    if not len(rows):
        return None
    found: list[bytes | None] = [None] * count
    ids = data[(ends - _ID_BYTES)[:, None] + np.arange(_ID_BYTES)].tobytes()
    for place, row in enumerate(rows.tolist()):
        found[row] = ids[place * _ID_BYTES : (place + 1) * _ID_BYTES]
    return found


def _is_text(data: npt.NDArray[Any]) -> bool:
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True
