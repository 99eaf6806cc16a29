"""Rows of bits, one for each hand: which hands have a partition, or a low number."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rebalance.claims import Int64

UInt64 = NDArray[np.uint64]

WORD: Final = 64
NEVER: Final = 2**62
"""A number that no hand has: of what only fills a word."""
_STEPS: Final = 16  # of spare lag that rows are kept for


class Sparing(NamedTuple):
    """Which hands spare little.

    Attributes
    ----------
    step : int64 (S,)
        Ascending; no hand spares more than the last.
    rows : uint64 (S, W)
        Hands that spare at most so much.
    """

    step: Int64
    rows: UInt64


def sparing_of(spare: Int64) -> Sparing:
    """Lay out rows for some steps; `NEVER` is in none of them."""
    most = int(spare[spare < NEVER].max())
    steps = [most * s // _STEPS for s in range(1, _STEPS + 1)]
    return Sparing(np.array(steps, np.int64), rows_upto(spare, steps))


@njit(cache=True)
def row_for(sparing: Sparing, spare: int) -> int:
    """Find the row that has all hands that spare no more, and the fewest others."""
    row = int(np.searchsorted(sparing.step, spare))
    return min(row, sparing.step.size - 1)


def padded(column: Int64, fill: int = 0) -> Int64:
    """Fill the last word up."""
    return np.pad(column, (0, -column.size % WORD), constant_values=fill)


@njit(cache=True)
def rows_with(mask: Int64, places: int) -> UInt64:
    """Lay out a row for each partition; ``mask`` fills whole words."""
    rows = np.zeros((places, mask.size // WORD), np.uint64)
    for h in range(mask.size):
        bit = np.uint64(1) << np.uint64(h % WORD)
        for place in range(places):
            if mask[h] >> place & 1:
                rows[place, h // WORD] |= bit
    return rows


def rows_upto(number: Int64, steps: list[int]) -> UInt64:
    """Lay out a row for each step: the hands whose number is not above it."""
    rows = [np.packbits(number <= step, bitorder="little") for step in steps]
    return np.stack(rows).view(np.uint64)


@njit(cache=True)
def count_shared(
    one: UInt64, other: UInt64, start: int, end: int, enough: int
) -> tuple[int, int]:
    """Count the bits two rows share between two words, or until there are enough.

    Returns
    -------
    int, int
        The count; words looked at.
    """
    count = 0
    for w in range(start, end):
        x = one[w] & other[w]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        count += int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
        if count >= enough:
            return count, w + 1 - start
    return count, end - start


@njit(cache=True)
def next_shared(one: UInt64, other: UInt64, h: int, end: int) -> int:
    """Find the next bit from one on that two rows share; -1: none before a word."""
    while h < end * WORD:
        word = (one[h // WORD] & other[h // WORD]) >> np.uint64(h % WORD)
        if word == 0:
            h = (h // WORD + 1) * WORD
            continue
        while word & np.uint64(1) == 0:
            word >>= np.uint64(1)
            h += 1
        return h
    return -1
