"""Intervals of the quality study, against independent methods and published values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.quality.intervals import (
    RESAMPLES,
    Z,
    mean_of,
    mean_share,
    resampled_means,
    wilson,
)

PUBLISHED = {
    (81, 263): (0.2553, 0.3662),
    (15, 148): (0.0624, 0.1605),
    (0, 20): (0.0, 0.1611),
    (1, 29): (0.0061, 0.1718),
}
"""Newcombe 1998, Statistics in Medicine 17, table I, method 3."""


@pytest.mark.parametrize(("counts", "bounds"), PUBLISHED.items())
def test_wilson_has_the_published_bounds(
    counts: tuple[int, int], bounds: tuple[float, float]
) -> None:
    share, low, high = wilson(*counts)
    assert share == counts[0] / counts[1]
    assert (round(low, 4), round(high, 4)) == bounds


@pytest.mark.parametrize(("successes", "count"), [(0, 7), (3, 7), (7, 7), (999, 5000)])
def test_bounds_solve_the_equation_of_the_score(successes: int, count: int) -> None:
    """By bisection of |share - p| = z sqrt(p (1 - p) / count), without the formula."""
    share, low, high = wilson(successes, count)

    def beyond(p: float) -> bool:
        return abs(share - p) > Z * math.sqrt(p * (1 - p) / count)

    for bound, end in ((low, 0.0), (high, 1.0)):
        inside, outside = share, end
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
        assert bound == pytest.approx(inside, abs=1e-9)


def test_one_family_has_the_interval_of_wilson() -> None:
    for counts in PUBLISHED:
        assert mean_share([counts]) == pytest.approx(wilson(*counts))


def test_families_weigh_equally_whatever_their_size() -> None:
    share, low, high = mean_share([(10, 10), (0, 1000)])
    assert share == 0.5
    assert low < 0.5 < high
    assert high - low < 0.3


def test_intervals_of_a_mean_share_cover_it() -> None:
    """19 in 20 of drawn studies have the true mean within their interval."""
    rng = np.random.default_rng(1)
    shares, sizes = np.array([0.02, 0.5, 0.93, 0.999]), np.array([60, 200, 120, 200])
    covered = 0
    for _ in range(2000):
        drawn = zip(rng.binomial(sizes, shares).tolist(), sizes.tolist(), strict=True)
        _, low, high = mean_share(list(drawn))
        covered += low <= shares.mean() <= high
    assert 0.94 < covered / 2000 < 0.99


def skewed(size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(2).geometric(0.4, size).astype(np.int64) - 2


def test_resampled_means_are_those_of_drawing_values() -> None:
    values = skewed(300)
    fast = resampled_means(values, seed="a")
    assert fast.shape == (RESAMPLES + 1,)
    assert fast[-1] == values.mean()
    rng = np.random.default_rng(3)
    slow = np.array(
        [rng.choice(values, values.size).mean() for _ in range(5 * RESAMPLES)]
    )
    error = values.std() / math.sqrt(values.size)
    assert fast[:-1].std() == pytest.approx(error, rel=0.06)
    assert slow.std() == pytest.approx(error, rel=0.04)
    at = (0.025, 0.25, 0.5, 0.75, 0.975)
    expected = np.quantile(slow, at)
    assert np.quantile(fast[:-1], at) == pytest.approx(expected, abs=error / 5)


def test_resampling_depends_on_its_seed_only() -> None:
    values = skewed(40)
    again = resampled_means(np.sort(values), seed="a")
    assert (resampled_means(values, seed="a") == again).all()
    assert (resampled_means(values, seed="b") != again).any()


def test_a_mean_of_families_has_the_standard_error_of_independent_ones() -> None:
    families = [skewed(size) * factor for size, factor in ((50, 1), (400, 3))]
    each = [resampled_means(v, seed=str(v.size)) for v in families]
    mean, low, high = mean_of(each)
    assert mean == pytest.approx((families[0].mean() + families[1].mean()) / 2)
    error = math.sqrt(sum(v.var() / v.size for v in families)) / 2
    assert high - low == pytest.approx(2 * Z * error, rel=0.1)
    assert low < mean < high


def test_equal_values_have_an_interval_of_one_point() -> None:
    drawn = resampled_means(np.full(9, 4, dtype=np.int64), seed="a")
    assert mean_of([drawn]) == (4.0, 4.0, 4.0)
