"""The proof at which ``lag-swaps`` ends: never where a lower peak lag is possible.

Reaches into `heuristics` to compare the proof with every assignment.
"""

from __future__ import annotations

from itertools import product
from operator import add

import numpy as np
from hypothesis import example, given, settings

from heuristics import ASSIGNORS
from heuristics.least_peak import is_least_peak
from rebalance import Instance
from tests.heuristics.routes import instance, layable
from tests.heuristics.test_lag_swaps import peak
from tests.heuristics.test_lowest_peak import (
    MORE,
    alike,
    bound,
    least_peak_of,
    of_all,
    searched,
)
from tests.support.amount import seeds
from tests.support.shapes import Document, member, rebalance

NO_CLASSES = 0
"""Only all members together are searched."""


def is_proved(laid_out: Instance, limit: int, classes: int = MORE) -> bool:
    """Return whether a peak lag is proved to be the least."""
    group, lag, least, wanted = searched(laid_out)
    return is_least_peak(group, lag, least, wanted, limit, classes)


def check(document: Document, least: int) -> None:
    """Assert that no higher peak is proved to be the least."""
    laid_out = instance(document)
    for classes in (NO_CLASSES, MORE):
        for above in range(1, 4):
            assert not is_proved(laid_out, least + above, classes)


@settings(deadline=None)
@given(layable())
@example(of_all([[9, 1, 2], [5, 3, 4], [1, 1]], 3))
def test_no_peak_is_proved_that_is_not_the_least(document: Document) -> None:
    plain = alike(document)
    least = least_peak_of(plain)
    if least is not None:
        check(plain, least)


def test_peaks_that_no_bound_proves() -> None:
    """Groups so small that the search ends: it proves every least peak above 0."""
    above = 0
    for seed in seeds(120):
        lags, takers, members = drawn(np.random.default_rng(seed))
        least, document = least_of(lags, takers, members), stated(lags, takers, members)
        check(document, least)
        above += bound(document, MORE) < least
        for classes in (NO_CLASSES, MORE):
            assert least == 0 or is_proved(instance(document), least, classes)
    assert above >= 12


def drawn(rng: np.random.Generator) -> tuple[list[list[int]], list[list[int]], int]:
    """Draw the lags of two or three topics, often equal; and their subscribers."""
    members = int(rng.integers(2, 5))
    sizes = rng.integers(1, 9 - members, int(rng.integers(2, 4)))
    lags = [rng.choice([0, 1, 2, 3, 5, 8, 13, 21], n).tolist() for n in sizes]
    takers = [np.flatnonzero(rng.random(members) < 0.8).tolist() for _ in lags]
    return lags, takers, members


def stated(lags: list[list[int]], takers: list[list[int]], members: int) -> Document:
    names = [f"t{i}" for i in range(len(lags))]
    topics = {
        name: {"partitions": len(lag), "lag": lag}
        for name, lag in zip(names, lags, strict=True)
    }
    wanted = zip(names, takers, strict=True)
    listed = [(name, {*of_topic}) for name, of_topic in wanted]
    return rebalance(
        topics,
        {
            f"m{i}": member([name for name, of_topic in listed if i in of_topic])
            for i in range(members)
        },
    )


def least_of(lags: list[list[int]], takers: list[list[int]], members: int) -> int:
    """Return the least peak, of all ways to share each topic with balanced counts."""
    totals = {(0,) * members}
    for lag, of_topic in zip(lags, takers, strict=True):
        totals = {
            tuple(map(add, before, more))
            for more in shares(lag, of_topic, members)
            for before in totals
        }
    return min(map(max, totals))


def shares(lag: list[int], takers: list[int], members: int) -> set[tuple[int, ...]]:
    """Return the lags that the members can receive of a topic."""
    found = set()
    for holders in product(takers, repeat=len(lag) if takers else 0):
        counts = [holders.count(i) for i in takers]
        if not takers or max(counts) - min(counts) <= 1:
            total = [0] * members
            for i, of_row in zip(holders, lag, strict=False):
                total[i] += of_row
            found.add(tuple(total))
    return found


def test_two_largest_lags_with_one_that_is_small() -> None:
    """Each of two members takes a large lag; only one can take the small lag, too."""
    document = of_all([[100, 99, 20, 1], [0, 0]], 2)
    laid_out = instance(document)
    assert bound(document, MORE) == 110
    assert not is_proved(laid_out, 120)
    assert is_proved(laid_out, 119)
    assert peak(laid_out, ASSIGNORS["lag-swaps"].assign(laid_out).assignee) == 119


def test_a_large_group_is_left_out() -> None:
    laid_out = instance(of_all([[1, 1] * 40] * 40, 80))
    assert not is_proved(laid_out, 1)
