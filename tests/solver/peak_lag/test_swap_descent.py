"""Moves and swaps towards a peak: limits hold, and skewed lags come next to it.

Reaches into `solver.peak_lag` to compare what its kernels count with counts anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.core_instances import mixed
from benchmarks.lags import DRAWS, SKEWED, group
from rebalance import Instance, Int32
from solver import NAMED, Limits, Result, Status, solve
from solver.peak_lag.feasible_region import peak_lag_of
from solver.peak_lag.greedy import construct_greedily
from solver.peak_lag.lag_instance import LagInstance
from solver.peak_lag.swap_descent import descend
from solver.peak_lag.work import Work
from tests.solver.peak_lag.settings import lag_instances, lagging
from tests.solver.peak_lag.test_local_search import SEEDS, check_allowed
from tests.support.strategies import LARGER


def excess(peak: int, lag_instance: LagInstance, holder: Int32) -> int:
    """Add up the lag above a peak, from the assignment alone."""
    region = lag_instance.region
    total = np.bincount(holder, region.lag, region.unit.size).astype(np.int64)
    return int(np.maximum(total - peak // region.unit, 0).sum())


def test_descent_keeps_limits_and_never_raises_the_excess() -> None:
    fewer = 0
    for seed in SEEDS:
        for lag_instance in lag_instances(lagging(seed, LARGER)):
            region = lag_instance.region
            if not region.lag.size:
                continue
            start = construct_greedily(lag_instance)
            peak = int(peak_lag_of(region, start)) * 9 // 10
            work = Work(limits=Limits())
            holder, is_within = descend(lag_instance, start, peak, work)
            check_allowed(lag_instance, holder)
            after, before = (excess(peak, lag_instance, h) for h in (holder, start))
            assert is_within == (after == 0) == (peak_lag_of(region, holder) <= peak)
            assert after <= before
            fewer += after < before
    assert fewer > len(SEEDS) // 4


def lagging_mixed(draw: str, seed: int) -> Instance:
    some = mixed(members=100, partitions=1000, topics=20, each=5)
    lag = DRAWS[draw](np.random.default_rng(seed), some.n_partitions)
    return replace(some, lag=lag)


def values(answer: Result) -> tuple[int, int, int, int]:
    """Return value and bound of peak lag, then of stickiness."""
    numbers = [n for of in answer.objectives for n in (of.value, of.bound)]
    peak, least, moves, fewest = (n for n in numbers if isinstance(n, int))
    return peak, least, moves, fewest


@pytest.mark.parametrize("draw", [draw for draw in SKEWED if draw != "mostly-zero"])
@pytest.mark.parametrize("seed", [1, 2])
def test_skewed_lags_are_next_to_the_bound_with_few_moves(draw: str, seed: int) -> None:
    answer = solve(lagging_mixed(draw, seed), NAMED["lag-sticky"])
    peak, least, moves, fewest = values(answer)
    assert answer.status is Status.FEASIBLE
    assert peak <= least * 1.0001
    assert moves < 1.4 * fewest


def test_equal_subscriptions_need_no_search() -> None:
    lagged = group("real", partitions=1000, members=100, topics=20, seed=1)
    peak, least, moves, _ = values(solve(lagged, NAMED["lag-sticky"]))
    assert peak == least
    assert moves < 30


def test_more_effort_can_be_asked_for() -> None:
    lagged = lagging_mixed("uniform", 1)
    for limits, reason in (
        (None, "too large for a search to the end"),
        (Limits(effort=2), "effort limit of 2"),
    ):
        answer = solve(lagged, NAMED["lag-sticky"], limits=limits)
        assert answer.reason == reason
        peak, least, *_ = values(answer)
        assert peak <= least * 1.0001
