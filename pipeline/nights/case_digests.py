"""A number per case, by which a night tells whether an earlier one has judged it.

All fields count except those on how long the rebalance lasts. The number is the same in
every process, and has 64 bits: that two states of one case agree by chance is unlikely.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.case_table import CASES

LASTED: Final = ("until", "ended", "lasted_unknown")
"""Fields that do not count."""
DIGEST_BYTES: Final = 8

Digests: TypeAlias = npt.NDArray[np.uint64]

_COLUMNS: Final = [name for name in CASES.names if name not in LASTED]
_NULL: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))


def digests_of(cases: pa.Table) -> Digests:
    """Return the digest of each case; uint64 (cases,)."""
    return _combined([cases[name].combine_chunks() for name in _COLUMNS])


def as_value(digest: int) -> bytes:
    """Return a digest as the value of a row."""
    return digest.to_bytes(DIGEST_BYTES, "big")


def _combined(columns: list[pa.Array]) -> Digests:
    found = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        found = _mixed(found * _FACTORS[0] + _of_array(column))
    return found


def _of_array(array: pa.Array) -> Digests:
    kind = array.type
    if pa.types.is_struct(kind):
        found = _combined([array.field(place) for place in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        found = _of_lists(array)
    elif pa.types.is_string(kind):
        found = _of_texts(array)
    else:
        found = np.asarray(array.cast(pa.int64()).fill_null(0)).view(np.uint64)
    is_null = np.asarray(array.is_null())
    return np.where(is_null, _NULL, _mixed(found)) if is_null.any() else _mixed(found)


def _of_lists(lists: pa.ListArray) -> Digests:
    """Combine the elements of each list with their places, and their number."""
    offsets = np.asarray(lists.offsets).astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    begin, lengths = offsets[:-1] - first, np.diff(offsets)
    elements = _of_array(lists.values.slice(first, last - first))
    place = np.arange(last - first) - np.repeat(begin, lengths)
    placed = _mixed(elements + place.astype(np.uint64) * _FACTORS[1])
    sums = np.zeros(len(placed) + 1, np.uint64)
    np.cumsum(placed, out=sums[1:])
    of_list = sums[begin + lengths] - sums[begin]
    return of_list + lengths.astype(np.uint64)


def _of_texts(texts: pa.StringArray) -> Digests:
    coded = texts.dictionary_encode()
    known = [
        int.from_bytes(blake2b(text.encode(), digest_size=DIGEST_BYTES).digest(), "big")
        for text in coded.dictionary.to_pylist()
    ]
    codes = np.asarray(pc.fill_null(coded.indices, len(known)))
    found: Digests = np.array([*known, 0], np.uint64)[codes]
    return found


def _mixed(numbers: Digests) -> Digests:
    """Spread the bits of numbers, as SplitMix64 does."""
    for shift, factor in zip(_SHIFTS, _FACTORS, strict=False):
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> _SHIFTS[-1])
