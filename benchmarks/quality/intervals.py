"""Confidence intervals: Wilson's for shares, bootstrap for means, both by family.

A total weights the families equally. Instances are drawn independently, so families are
resampled independently.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rebalance import Int64

Z: Final = 1.959963984540054
"""Quantile 0.975 of the standard normal distribution."""
Float64 = npt.NDArray[np.float64]

RESAMPLES: Final = 2000
TAIL: Final = 0.025


class Interval(NamedTuple):
    """An estimate with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def wilson(successes: int, count: int) -> Interval:
    """Return the share and Wilson's score interval (Wilson 1927).

    The bounds are the solutions p of |share - p| = z sqrt(p (1 - p) / count).
    """
    share = successes / count
    shrink = 1 + Z * Z / count
    middle = (share + Z * Z / (2 * count)) / shrink
    square = share * (1 - share) / count + Z * Z / (4 * count * count)
    reach = Z * math.sqrt(square) / shrink
    low = 0.0 if successes == 0 else middle - reach
    high = 1.0 if successes == count else middle + reach
    return Interval(share, low, high)


def mean_share(counts: Sequence[tuple[int, int]]) -> Interval:
    """Return the mean of the families' shares, with an interval.

    The bounds are those of the method of variance estimates recovery (MOVER, Zou and
    Donner 2008): the distances of Wilson's bounds from each share, added as squares.

    Parameters
    ----------
    counts : sequence of (successes, count)
        Per family.
    """
    intervals = [wilson(successes, count) for successes, count in counts]
    weight = 1 / len(intervals)
    mean = weight * math.fsum(each.mean for each in intervals)
    below = math.fsum((each.mean - each.low) ** 2 for each in intervals)
    above = math.fsum((each.high - each.mean) ** 2 for each in intervals)
    low, high = mean - weight * math.sqrt(below), mean + weight * math.sqrt(above)
    return Interval(mean, max(0.0, low), min(1.0, high))


def resampled_means(values: Int64, *, seed: str) -> Float64:
    """Return means of `RESAMPLES` resamples of equal size, with replacement.

    How often each distinct value is drawn has a multinomial distribution, so that the
    cost depends on the number of distinct values. The last entry is the exact mean.
    """
    found, counts = np.unique(values, return_counts=True)
    count = int(counts.sum())
    drawn = generator(seed).multinomial(count, counts / count, size=RESAMPLES)
    means = np.append(drawn @ found, counts @ found) / count
    return np.asarray(means, dtype=np.float64)


def mean_of(resamples: Iterable[Float64]) -> Interval:
    """Return the mean of families' `resampled_means`; the bounds are percentiles."""
    means = np.mean(list(resamples), axis=0)
    low, high = np.quantile(means[:-1], (TAIL, 1 - TAIL))
    return Interval(float(means[-1]), float(low), float(high))


def generator(seed: str) -> np.random.Generator:
    """Return a generator whose numbers depend on a text only."""
    digest = hashlib.sha256(seed.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
