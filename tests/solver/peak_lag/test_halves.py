"""Sets near a sum, and rows of bits, against plain enumeration."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from solver.peak_lag.bits import Counts, bits, fits, mask_of, places_of
from solver.peak_lag.halves import halves_of, joined, spans
from solver.peak_lag.rows import WORD, count_shared, next_shared, rows_upto, rows_with


def counts_for(rng: Random, places: int) -> Counts:
    """Draw two groups of partitions with limits, or no limits."""
    if rng.random() < 0.3:
        return Counts(*(np.array([n]) for n in ((1 << places) - 1, 0, 2**31 - 1)))
    split = rng.randint(0, places)
    group = [(1 << split) - 1, (1 << places) - (1 << split)]
    least = [rng.randint(0, 1), rng.randint(0, 1)]
    most = [low + rng.randint(0, 2) for low in least]
    return Counts(np.array(group), np.array(least), np.array(most))


@pytest.mark.parametrize("seed", range(150))
def test_every_set_is_found_once(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    places = rng.randint(1, 9)
    lag = np.array([rng.choice((0, 3, rng.randint(0, 99))) for _ in range(places)])
    items = np.array([p for p in range(places) if rng.random() < 0.9], np.int64)
    foreign, counts = rng.getrandbits(places), counts_for(rng, places)
    least = rng.randint(0, 150)
    most = least + rng.randint(-10, 80)
    halves = halves_of(lag, items, foreign, counts, max(most, 0), 1 << 10)
    assert halves is not None
    sets = [
        mask_of(np.array(some, np.int64))
        for size in range(items.size + 1)
        for some in combinations(items.tolist(), size)
    ]
    for moves in range(places + 1):
        low, high = spans(*halves, least, most, moves)
        mask, weight = joined(*halves, low, high, counts, 10**6)
        assert weight.tolist() == [int(lag[places_of(m)].sum()) for m in mask.tolist()]
        assert sorted(mask.tolist()) == sorted(
            m
            for m in sets
            if least <= int(lag[places_of(m)].sum()) <= most
            and (m & foreign).bit_count() == moves
            and fits(m, counts, True)
        )
        few, _ = joined(*halves, low, high, counts, 3)
        assert few.tolist() == mask.tolist()[:3]


def test_too_many_parts_are_given_up() -> None:
    counts = Counts(*(np.array([n]) for n in (2**20 - 1, 0, 99)))
    lag, items = np.arange(20), np.arange(20)
    assert halves_of(lag, items, 0, counts, 10**9, 1 << 10) is not None
    assert halves_of(lag, items, 0, counts, 10**9, (1 << 10) - 1) is None


def test_counts_are_of_each_group() -> None:
    counts = Counts(*map(np.array, ([0b0011, 0b1100], [1, 0], [2, 1])))
    assert [m for m in range(16) if fits(m, counts, True)] == [
        1,
        2,
        3,
        5,
        6,
        7,
        9,
        10,
        11,
    ]
    assert fits(0, counts, False)
    assert not fits(0b1100, counts, False)
    assert [bits(m) for m in (0, 1, 2**61 + 5, 2**62 - 1)] == [0, 1, 3, 62]


def test_rows_tell_what_masks_do() -> None:
    rng = Random(5)  # noqa: S311
    mask = np.array([rng.getrandbits(10) for _ in range(3 * WORD)])
    number = np.array([rng.randint(0, 20) for _ in range(3 * WORD)])
    rows, upto = rows_with(mask, 10), rows_upto(number, [0, 7, 20])
    for place in range(10):
        for row, step in zip(upto, (0, 7, 20), strict=True):
            both = np.flatnonzero((mask >> place & 1 == 1) & (number <= step)).tolist()
            found, h = [], next_shared(rows[place], row, 0, 3)
            while h >= 0:
                found.append(h)
                h = next_shared(rows[place], row, h + 1, 3)
            assert found == both
            within = [h for h in both if h >= WORD]
            assert count_shared(rows[place], row, 1, 3, 10**6) == (len(within), 2)
    count, words = count_shared(upto[2], upto[2], 0, 3, 1)
    assert (count, words) == (WORD, 1)
