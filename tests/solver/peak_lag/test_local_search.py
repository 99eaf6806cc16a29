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
from solver import Balance
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
from solver.policy import dec_min, per_topic
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
def test_local_search_keeps_limits_sums_and_fixed_moves(
    drawn: Callable[[int, Limits], Document],
) -> None:
    drawn_instances = (lag_instances(drawn(seed, LARGER)) for seed in SEEDS)
    for lag_instance in chain.from_iterable(drawn_instances):
        region, owner = lag_instance.region, lag_instance.owner
        start = construct_greedily(lag_instance)
        check_allowed(lag_instance, start)
        weights = lag_instance.scale // region.unit
        cap = region.lag.sum() * weights // weights.sum()
        for fixed in (ANYTHING,) if region.by_topic else (ANYTHING, owner):
            if not region.lag.size:
                continue
            lists = member_lists(region, start)
            found = search_locally(region, lists, fixed, cap, 1, 300_000)
            check_allowed(lag_instance, lists.holder)
            check_allowed(lag_instance, found.holder)
            again = member_lists(region, lists.holder)
            assert (again.total == lists.total).all()
            assert (again.counts == lists.counts).all()
            assert (again.load == lists.load).all()
            assert found.excess == np.maximum(again.total - cap, 0).sum()
            before = peak_lag_of(region, start)
            assert found.peak == peak_lag_of(region, found.holder) <= before
            if fixed is owner:
                assert (lists.load == member_lists(region, start).load).all()
                assert (lists.holder == owner).sum() == (start == owner).sum()


@pytest.mark.parametrize(
    ("kind", "sizes", "balance"),
    [
        # By topic, each member must have as many of each; nine of ten have no lag.
        ("mostly-zero", {"partitions": 4000, "members": 60, "topics": 8}, per_topic),
        ("uniform", {"partitions": 200, "members": 20, "topics": 1}, dec_min),
    ],
)
def test_lags_that_can_meet_the_average(
    kind: str, sizes: dict[str, int], balance: Balance
) -> None:
    instance = group(kind, **sizes, seed=0)
    (lag_instance,) = filter(None, [build_lag_instance(instance, balance)])
    region, n = lag_instance.region, sizes["members"]
    lists = member_lists(region, construct_greedily(lag_instance))
    cap = np.full(n, -(-int(region.lag.sum()) // n))
    found = search_locally(region, lists, ANYTHING, cap, 0, 400_000_000)
    assert found.excess == 0
    check_allowed(lag_instance, found.holder)
