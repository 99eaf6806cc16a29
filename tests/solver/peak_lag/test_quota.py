"""Shares by capacity against enumeration of all ways to share out.

Reaches into `solver.peak_lag` to compare quotas with all ways to share out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from solver.peak_lag.lag_instance import quota


def ways(units: int, members: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to share units out."""
    if members == 1:
        yield (units,)
        return
    for n in range(units + 1):
        for rest in ways(units - n, members - 1):
            yield (n, *rest)


def test_limits_are_those_of_all_best_ways() -> None:
    for seed in range(80):
        rng = Random(seed)  # noqa: S311
        weights = tuple(rng.choice((1, 1, 2, 3, 5)) for _ in range(rng.randint(1, 4)))
        check_limits(rng.randint(0, 9), weights)


def check_limits(units: int, weights: tuple[int, ...]) -> None:
    def vector(way: tuple[int, ...]) -> list[Fraction]:
        shares = (Fraction(n, w) for n, w in zip(way, weights, strict=True))
        return sorted(shares, reverse=True)

    every = list(ways(units, len(weights)))
    least = min(map(vector, every))
    best = {way for way in every if vector(way) == least}
    found = quota(units, weights)
    assert found.least == tuple(map(min, zip(*best, strict=True)))
    assert found.most == tuple(map(max, zip(*best, strict=True)))
    for way in best:
        above = sum(n - a for n, a in zip(way, found.least, strict=True))
        assert above == found.extra
