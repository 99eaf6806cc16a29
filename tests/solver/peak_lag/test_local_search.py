"""Kernels of greedy construction and local search: limits hold, and so do sums.

Reaches into `solver.peak_lag` to compare what its kernels count with counts anew.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np
import pytest

from benchmarks.lags import group
from rebalance import Int32, Int64
from solver.peak_lag.feasible_region import (
    eligible_members,
    member_lists,
    peak_lag_of,
    topic_position,
)
from solver.peak_lag.greedy import (
    CellLimits,
    assign_in_order,
    construct_greedily,
)
from solver.peak_lag.lag_instance import LagInstance, build_lag_instance
from solver.peak_lag.local_search import search_locally
from solver.policy import per_topic
from tests.solver.peak_lag.settings import (
    lag_instances,
    lagging,
    mostly_without_lag,
)
from tests.support.shapes import Document
from tests.support.strategies import LARGER, Limits

SEEDS = range(40)
ANYTHING = np.zeros(0, np.int32)


def check_allowed(lag_instance: LagInstance, holder: Int32) -> None:
    """Assert that seats and limits hold, pools included."""
    region = lag_instance.region
    for p, c in enumerate(holder.tolist()):
        assert topic_position(region, int(region.topic[p]), c) >= 0
    counts = member_lists(region, holder).counts
    assert (region.least <= counts).all()
    assert (counts <= region.most).all()


def test_greedy_keeps_limits() -> None:
    for seed in SEEDS:
        for lag_instance in lag_instances(lagging(seed, LARGER)):
            check_allowed(lag_instance, construct_greedily(lag_instance))


def test_heaps_find_the_least_total_in_any_order() -> None:
    lagging_seeds = (lagging(seed, LARGER) for seed in SEEDS)
    for lag_instance in chain.from_iterable(map(lag_instances, lagging_seeds)):
        region = lag_instance.region
        if lag_instance.start is not None or not region.lag.size:
            continue
        eligible = eligible_members(region)
        limits = CellLimits(region.least, region.most, region.pool, region.extra)
        by_lag = np.argsort(-region.lag, kind="stable")
        for order in (by_lag, np.lexsort((-region.lag, region.topic))):
            holder = assign_in_order(region, order, eligible, limits, region.topic)
            assert (holder == by_scan(lag_instance, order)).all()
            check_allowed(lag_instance, holder)


def by_scan(lag_instance: LagInstance, order: Int64) -> Int32:
    """Return the greedy assignment, comparing all members at every step."""
    region = lag_instance.region
    eligible = eligible_members(region)
    holder = np.full(region.lag.size, -1, np.int32)
    total, count = np.zeros_like(region.unit), np.zeros_like(region.least)
    extra = region.extra.copy()
    for p in order.tolist():
        t = region.topic[p]
        pairs = slice(eligible.offsets[t], eligible.offsets[t + 1])
        is_extra = count >= region.least
        is_open = ~is_extra | ((count < region.most) & (extra[region.pool] > 0))
        _, s = min(
            (region.unit[c] * total[c], s)
            for s, (c, i) in enumerate(
                zip(eligible.member[pairs], eligible.cell[pairs], strict=True)
            )
            if is_open[i]
        )
        c, i = eligible.member[pairs][s], eligible.cell[pairs][s]
        extra[region.pool[i]] -= is_extra[i]
        count[i] += 1
        total[c] += region.lag[p]
        holder[p] = c
    return holder


@pytest.mark.parametrize("drawn", [lagging, mostly_without_lag])
def test_local_search_keeps_limits_and_sums(
    drawn: Callable[[int, Limits], Document],
) -> None:
    for seed in SEEDS:
        for lag_instance in lag_instances(drawn(seed, LARGER)):
            region = lag_instance.region
            if not region.lag.size:
                continue
            start = construct_greedily(lag_instance)
            lists = member_lists(region, start)
            before = peak_lag_of(region, start)
            weights = lag_instance.scale // region.unit
            cap = region.lag.sum() * weights // weights.sum()
            found = search_locally(region, lists, ANYTHING, cap, seed, 300_000)
            check_allowed(lag_instance, lists.holder)
            check_allowed(lag_instance, found.holder)
            again = member_lists(region, lists.holder)
            assert (again.total == lists.total).all()
            assert (again.counts == lists.counts).all()
            assert (again.load == lists.load).all()
            assert found.excess == np.maximum(again.total - cap, 0).sum()
            assert found.peak == peak_lag_of(region, found.holder) <= before


def test_fixed_moves_stay_fixed() -> None:
    for seed in SEEDS:
        for lag_instance in lag_instances(lagging(seed, LARGER)):
            region = lag_instance.region
            if region.by_topic or not region.lag.size:
                continue
            start = construct_greedily(lag_instance)
            lists = member_lists(region, start)
            cap = np.full(region.unit.size, region.lag.sum() // region.unit.size)
            search_locally(region, lists, lag_instance.owner, cap, seed, 300_000)
            check_allowed(lag_instance, lists.holder)
            assert (lists.load == member_lists(region, start).load).all()
            kept = (start == lag_instance.owner).sum()
            assert (lists.holder == lag_instance.owner).sum() == kept


def test_partitions_without_lag_fill_up_the_counts() -> None:
    """By topic, each member must have as many of each; nine of ten have no lag."""
    instance = group("mostly-zero", partitions=4000, members=60, topics=8, seed=0)
    (lag_instance,) = filter(None, [build_lag_instance(instance, per_topic)])
    region, start = lag_instance.region, construct_greedily(lag_instance)
    lists = member_lists(region, start)
    cap = np.full(60, -(-int(region.lag.sum()) // 60))
    found = search_locally(region, lists, ANYTHING, cap, 0, 100_000_000)
    assert found.excess == 0
    check_allowed(lag_instance, found.holder)


def test_uniform_lag_meets_the_average() -> None:
    rng = np.random.default_rng(0)
    lag = rng.integers(0, 100_000, size=200).tolist()
    document = {
        "format": "rebalance/1",
        "group": "g",
        "topics": {"t": {"partitions": 200, "lag": lag}},
        "members": {f"m{i:02}": {"subscription": ["t"]} for i in range(20)},
    }
    lag_instance = lag_instances(document)[0]
    lists = member_lists(lag_instance.region, construct_greedily(lag_instance))
    cap = np.full(20, -(-sum(lag) // 20))
    assert (
        search_locally(lag_instance.region, lists, ANYTHING, cap, 0, 400_000_000).excess
        == 0
    )
    check_allowed(lag_instance, lists.holder)
