"""Chance for kernels: SplitMix64, one word of state, the same on every machine.

Follows Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rebalance.claims import Int64

Chance = NDArray[np.uint64]
"""The state, uint64 (1,); the seed to begin with."""


@njit(cache=True)
def _word(chance: Chance) -> np.uint64:
    """Return the next 64 bits."""
    chance[0] += np.uint64(0x9E3779B97F4A7C15)
    z = chance[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@njit(cache=True)
def below(chance: Chance, end: int) -> int:
    """Draw a number from 0 to ``end`` - 1; 0 if there is none."""
    if end <= 1:
        return 0
    return np.int64(_word(chance) % np.uint64(end))  # type: ignore[return-value]


@njit(cache=True)
def is_one_in(chance: Chance, end: int) -> bool:
    """Tell, once in so many times, yes."""
    return below(chance, end) == 0


@njit(cache=True)
def shuffle(chance: Chance, values: Int64) -> None:
    """Bring values into any order."""
    for i in range(values.size - 1, 0, -1):
        j = below(chance, i + 1)
        values[i], values[j] = values[j], values[i]
