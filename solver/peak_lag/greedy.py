"""Greedy (LPT) construction: the largest lag first, to the member with the least total.

Follows Graham, *Bounds on multiprocessing timing anomalies*, 1969 (longest processing
time first). Limits of counts hold at every step: a member receives one partition more
than its least only while its pool has extras left.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Int32, Int64, always_compiled
from solver.peak_lag.feasible_region import (
    EligibleMembers,
    FeasibleRegion,
    eligible_members,
)
from solver.peak_lag.lag_instance import LagInstance

_PAIRS_MAX: Final = 30_000_000
"""Pairs of a partition and an eligible member up to which topics can take turns: in the
heap of a topic, the members that others assigned to since its last use are stale."""

_TOPICS_MAX: Final = 50
"""Topics up to which few entries are stale."""


class CellLimits(NamedTuple):
    """Limits as in `FeasibleRegion`, for other cells where ``start`` fixes counts."""

    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


def construct_greedily(lag_instance: LagInstance) -> Int32:
    """Return the holder of each partition, int32 (P,).

    Where subscriptions differ and counts are limited across topics, no greedy rule
    keeps to the limits; there, counts per topic and member are those of ``start``.
    """
    region = lag_instance.region
    eligible = eligible_members(region)
    limits = CellLimits(region.least, region.most, region.pool, region.extra)
    group = region.topic
    if lag_instance.start is not None:
        eligible, limits = _counts_of(lag_instance.start, region)
    elif region.class_offsets.size == 2 and not region.by_topic:
        # One class and no limits per topic: all topics are one.
        end = eligible.offsets[:2][-1]
        eligible = EligibleMembers(
            np.array([0, end]), eligible.member[:end], eligible.cell[:end]
        )
        group = np.zeros_like(group)
    sizes = np.diff(eligible.offsets)
    pairs = int(np.bincount(group, minlength=sizes.size) @ sizes)
    if sizes.size <= _TOPICS_MAX or pairs <= _PAIRS_MAX:
        order = np.argsort(-region.lag, kind="stable")
    else:
        order = np.lexsort((-region.lag, region.topic))
    return assign_in_order(region, order, eligible, limits, group)


def _counts_of(
    holder: Int32, region: FeasibleRegion
) -> tuple[EligibleMembers, CellLimits]:
    """Limit each member to as many partitions of each topic as it holds here."""
    members = region.unit.size
    pair, count = np.unique(
        region.topic.astype(np.int64) * members + holder, return_counts=True
    )
    topics = np.arange(region.topic_class_offsets.size)
    eligible = EligibleMembers(
        np.searchsorted(pair, topics * members),
        (pair % members).astype(np.int32),
        np.arange(pair.size),
    )
    pool, extra = np.zeros(pair.size, np.int32), np.zeros(1, np.int64)
    return eligible, CellLimits(count, count, pool, extra)


@always_compiled
def assign_in_order(
    region: FeasibleRegion,
    order: Int64,
    eligible: EligibleMembers,
    limits: CellLimits,
    group: Int32,
) -> Int32:
    """Assign each partition to the open member with the least total, the first of them.

    There is one heap of eligible members per group of partitions. Totals in a heap can
    be stale, and are then too small; so the least entry is renewed until it is current.
    A cell that is closed stays closed.
    """
    holder = np.full(region.lag.size, NOBODY, np.int32)
    total = np.zeros(region.unit.size, np.int64)
    count = np.zeros(limits.least.size, np.int64)
    extra = limits.extra.copy()
    lag, unit = region.lag, region.unit
    heaps = [
        [(np.int64(0), s) for s in range(eligible.offsets[t], eligible.offsets[t + 1])]
        for t in range(eligible.offsets.size - 1)
    ]
    for p in order:
        heap = heaps[group[p]]
        while True:
            known, s = heap[0]
            c, i = eligible.member[s], eligible.cell[s]
            needs_extra = count[i] >= limits.least[i]
            if needs_extra and (
                count[i] >= limits.most[i] or not extra[limits.pool[i]]
            ):
                heapq.heappop(heap)
            elif unit[c] * total[c] > known:
                heapq.heapreplace(heap, (unit[c] * total[c], s))
            else:
                break
        extra[limits.pool[i]] -= needs_extra
        count[i] += 1
        total[c] += lag[p]
        holder[p] = c
    return holder
