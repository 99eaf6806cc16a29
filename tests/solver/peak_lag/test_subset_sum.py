"""The kernel of subset sums, compared with enumeration.

Reaches into `solver.peak_lag` to compare the kernel with all subsets.
"""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np

from solver.peak_lag.subset_sum import NO_SUBSET, nearest_sums


def sums(
    lag: list[int], group: list[int], least: list[int], most: list[int]
) -> set[int]:
    """Return the sums of all allowed choices."""
    found = set()
    for choice in product((0, 1), repeat=len(lag)):
        picked = [0] * len(least)
        for taken, g in zip(choice, group, strict=True):
            picked[g] += taken
        if all(map(lambda a, n, z: a <= n <= z, least, picked, most)):
            found.add(sum(n for n, taken in zip(lag, choice, strict=True) if taken))
    return found


def test_nearest_from_below_and_above() -> None:
    for seed in range(150):
        rng = Random(seed)  # noqa: S311
        groups = rng.randint(1, 4)
        group = sorted(rng.randrange(groups) for _ in range(rng.randint(1, 9)))
        lag = [rng.choice((0, rng.randint(0, 9), rng.randint(0, 1000))) for _ in group]
        least = [rng.randint(0, 2) * rng.randrange(2) for _ in range(groups)]
        most = [n + rng.randint(0, 3) for n in least]
        target = rng.randint(-5, sum(lag) + 5)
        allowed = sums(lag, group, least, most)
        below, below_sum, above, above_sum = nearest_sums(
            np.array(lag), np.array(group), np.array(least), np.array(most), target
        )
        under = max((n for n in allowed if n <= target), default=None)
        over = min((n for n in allowed if n >= target), default=None)
        # A group with nothing on the table but something wanted is not looked at.
        if all(least[g] == 0 or g in group for g in range(groups)):
            assert (None if below == NO_SUBSET else below_sum) == under
            assert (None if above == NO_SUBSET else above_sum) == over
        for picked, total in ((below, below_sum), (above, above_sum)):
            if picked != NO_SUBSET:
                assert total == sum(n for i, n in enumerate(lag) if picked >> i & 1)


def test_thirty_items_meet_in_the_middle() -> None:
    lag = np.array([3**k % 10_007 for k in range(30)])
    one = np.zeros(1, np.int64)
    target = int(lag[::3].sum())
    found = nearest_sums(lag, np.zeros(30, np.int64), one + 10, one + 10, target)
    assert found[1] == found[3] == target
    assert int(found[0]).bit_count() == 10
