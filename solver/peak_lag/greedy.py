"""Greedy (LPT) construction: the largest lag first, to the member with the least total.

Follows Graham, *Bounds on multiprocessing timing anomalies*, 1969 (longest processing
time first). Limits of counts hold at every step: a member receives one partition more
than its least only while its pool has extras left.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from rebalance import NOBODY, Int32, Int64
from solver.peak_lag.feasible_region import (
    EligibleMembers,
    FeasibleRegion,
    eligible_members,
)
from solver.peak_lag.lag_instance import LagInstance

_SCAN_PAIRS: Final = 300_000_000
"""Pairs of a partition and an eligible member that a scan compares: half a second."""

_HEAP_TOPICS: Final = 50
"""Topics up to which heaps pay: each step makes entries of all other heaps stale."""


class CellLimits(NamedTuple):
    """Limits as in `FeasibleRegion`, for other cells where ``start`` fixes counts."""

    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


class _Partial(NamedTuple):
    """A partial assignment: holder (P,), total lag (M,), number (C,), extras left."""

    holder: Int32
    total: Int64
    number: Int64
    extra: Int64


def construct_greedily(lag_instance: LagInstance) -> Int32:
    """Return the holder of each partition, int32 (P,).

    Where subscriptions differ and counts are limited across topics, no greedy rule
    keeps to the limits; there, counts per topic and member are those of ``start``.
    """
    region = lag_instance.region
    limits = CellLimits(region.least, region.most, region.pool, region.extra)
    order = np.argsort(-region.lag, kind="stable")
    if lag_instance.start is not None:
        return _by_scan(region, order, *_counts_of(lag_instance.start, region))
    eligible = eligible_members(region)
    sizes = np.diff(eligible.offsets)
    if region.class_offsets.size == 2 and not region.by_topic:
        # One class and no limits per topic: all topics are one.
        everyone = EligibleMembers(
            np.array([0, sizes[:1].sum()]),
            eligible.member[: sizes[:1].sum()],
            eligible.cell[: sizes[:1].sum()],
        )
        return _by_heap(region, order, everyone, limits, np.zeros_like(region.topic))
    if int(np.bincount(region.topic, minlength=sizes.size) @ sizes) <= _SCAN_PAIRS:
        return _by_scan(region, order, eligible, limits)
    if sizes.size <= _HEAP_TOPICS:
        return _by_heap(region, order, eligible, limits, region.topic)
    by_topic = np.lexsort((-region.lag, region.topic))
    return in_rounds(region, by_topic, eligible, limits)


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


@njit(cache=True)
def _begin(region: FeasibleRegion, limits: CellLimits) -> _Partial:
    return _Partial(
        np.full(region.lag.size, NOBODY, np.int32),
        np.zeros(region.unit.size, np.int64),
        np.zeros(limits.least.size, np.int64),
        limits.extra.copy(),
    )


@njit(cache=True)
def _is_open(limits: CellLimits, partial: _Partial, cell: int) -> bool:
    """Return whether a cell can count one more; once closed, it stays closed."""
    number = partial.number[cell]
    if number < limits.least[cell]:
        return True
    has_extra = partial.extra[limits.pool[cell]] > 0
    return bool(number < limits.most[cell] and has_extra)


@njit(cache=True)
def _assign(
    region: FeasibleRegion,
    limits: CellLimits,
    partial: _Partial,
    p: int,
    member: int,
    cell: int,
) -> None:
    if partial.number[cell] >= limits.least[cell]:
        partial.extra[limits.pool[cell]] -= 1
    partial.number[cell] += 1
    partial.total[member] += region.lag[p]
    partial.holder[p] = member


@njit(cache=True)
def _by_scan(
    region: FeasibleRegion,
    order: Int64,
    eligible: EligibleMembers,
    limits: CellLimits,
) -> Int32:
    """Compare all eligible members whose cell is open; drop those that have closed."""
    partial = _begin(region, limits)
    member, cell = eligible.member.copy(), eligible.cell.copy()
    end = eligible.offsets[1:].copy()
    for p in order:
        t = region.topic[p]
        start = eligible.offsets[t]
        best, least, kept = start, 0, start
        for s in range(start, end[t]):
            c, i = member[s], cell[s]
            if not _is_open(limits, partial, i):
                continue
            member[kept], cell[kept] = c, i
            weight = region.unit[c] * partial.total[c]
            if kept == start or weight < least:
                best, least = kept, weight
            kept += 1
        end[t] = kept
        _assign(region, limits, partial, p, member[best], cell[best])
    return partial.holder


@njit(cache=True)
def _by_heap(
    region: FeasibleRegion,
    order: Int64,
    eligible: EligibleMembers,
    limits: CellLimits,
    group: Int32,
) -> Int32:
    """Return what `_by_scan` does, with one heap of eligible members per topic.

    Totals in a heap can be stale, and are then too small; so the least entry is renewed
    until it is current.
    """
    holder, total, count, extra = _begin(region, limits)
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
            # `_is_open` and `_assign`, written out: a call would take twice the time.
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


@njit(cache=True)
def in_rounds(
    region: FeasibleRegion,
    order: Int64,
    eligible: EligibleMembers,
    limits: CellLimits,
) -> Int32:
    """Assign topic by topic, one partition per member and round, least total first.

    ``order`` lists partitions topic by topic, the largest lag first.
    """
    partial = _begin(region, limits)
    place, end = 0, 0
    for t in range(eligible.offsets.size - 1):
        while end < order.size and region.topic[order[end]] == t:
            end += 1
        member = eligible.member[eligible.offsets[t] : eligible.offsets[t + 1]]
        cell = eligible.cell[eligible.offsets[t] : eligible.offsets[t + 1]]
        while place < end:
            weight = region.unit[member] * partial.total[member]
            for s in np.argsort(weight, kind="mergesort"):
                if place == end:
                    break
                if _is_open(limits, partial, cell[s]):
                    _assign(region, limits, partial, order[place], member[s], cell[s])
                    place += 1
    return partial.holder
