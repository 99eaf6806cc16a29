"""The feasible region of an instance under a balance.

``none`` limits nothing, ``per-topic`` shares each topic out over its subscribers, and
``dec-min`` has the load bounds of the exact core's certificate, or one quota if all
subscriptions are equal.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from rebalance import NOBODY, Instance, Int32, Int64
from solver import exact
from solver.constants import EXACT_DOUBLE_MAX, UNBOUNDED
from solver.exact import OUTSIDE, ReducedInstance
from solver.objectives import capacities, common_capacity
from solver.peak_lag.feasible_region import (
    FeasibleRegion,
    eligible_members,
    equivalence_classes,
)
from solver.policy import Balance, BalanceKind

_SEARCH_PARTITIONS: Final = 100_000
_SEARCH_VARIABLES: Final = 60_000
"""Size up to which CP-SAT is asked; larger groups have bounds and local search."""

_QUICK_VARIABLES: Final = 15_000
"""Size, owners distinguished, up to which CP-SAT proves stickiness after peak lag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagInstance:
    """A feasible region, and the numbers of its parts in the instance."""

    region: FeasibleRegion
    rows: Int64  # (P,): partition of the instance
    members: Int64  # (M,): member of the instance
    topics: Int64  # (T,): topic of the instance
    owner: Int32  # (P,): member who owns the partition, -1: nobody in play
    scale: int  # peaks are in units of 1 ÷ scale
    start: Int32 | None = None  # (P,): a feasible assignment, where one is known

    def to_assignee(self, instance: Instance, holder: Int32) -> Int32:
        """Return the assignee per partition of the instance, int32."""
        assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        assignee[self.rows] = self.members[holder]
        return assignee

    def to_holder(self, assignee: Int32) -> Int32:
        """Return the holder per partition of the region, int32 (P,)."""
        return _renumber(self.members, assignee[self.rows])


def build_lag_instance(
    instance: Instance, balance: Balance, scale: int | None = None
) -> LagInstance | None:
    """Build the region of a balance; None for ``kip54`` and ``spread``.

    ``scale`` is a multiple of the least common multiple of the capacities in play, or
    None for that.
    """
    reduced = exact.reduce_instance(instance)
    members = np.flatnonzero(reduced.member_class != OUTSIDE)
    weights = np.array(capacities(instance), dtype=np.int64)[members]
    kind, scale = balance.kind, scale or common_capacity(instance)
    has_one_class = reduced.class_size.size <= 1
    is_one_pool = has_one_class and reduced.supply.size <= 1
    if kind is BalanceKind.NONE:
        bounds = _unbounded(members.size)
    elif kind is BalanceKind.PER_TOPIC and not is_one_pool:
        bounds = _per_topic_bounds(reduced, members, weights)
    elif kind not in (BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC):
        return None
    elif has_one_class:
        bounds = _shared_bounds(reduced, weights)
    else:
        return _build_dec_min(instance, scale, members)
    return _build(instance, scale, reduced, bounds)


def is_searchable(lag_instance: LagInstance) -> bool:
    """Return whether a program for CP-SAT is small enough to be worth building."""
    region = lag_instance.region
    if region.lag.size > _SEARCH_PARTITIONS:
        return False
    small = _count_pairs(region) <= _SEARCH_VARIABLES
    # No sum of a program exceeds this: deviations count in shares, and twice.
    shares = int((lag_instance.scale // region.unit).sum())
    largest = max(int(region.unit.max(initial=1)), 2 * shares)
    return small and int(region.lag.sum()) * largest < EXACT_DOUBLE_MAX


def is_quickly_searched(lag_instance: LagInstance) -> bool:
    """Return whether CP-SAT, if it can search at all, often ends by default."""
    return _count_pairs(lag_instance.region, lag_instance.owner) <= _QUICK_VARIABLES


def _count_pairs(region: FeasibleRegion, owner: Int32 | None = None) -> int:
    """Count the pairs of an equivalence class of partitions and an eligible member."""
    variables = np.diff(eligible_members(region).offsets)
    firsts = [int(rows[0]) for rows in equivalence_classes(region, owner)]
    return int(variables[region.topic[firsts]].sum())


class _CellBounds(NamedTuple):
    """The last columns of a `FeasibleRegion`."""

    by_topic: bool
    cell: Int64
    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


def _build(
    instance: Instance,
    scale: int,
    reduced: ReducedInstance,
    bounds: _CellBounds,
    start: Int32 | None = None,
) -> LagInstance:
    """Build the region of all that is in play, with the eligibility of ``reduced``."""
    topic = reduced.topic_number[instance.partition_topic]
    rows = np.flatnonzero(topic != OUTSIDE)
    members = np.flatnonzero(reduced.member_class != OUTSIDE)
    weights = capacities(instance)
    unit = np.array([scale // weights[m] for m in members.tolist()], dtype=np.int64)
    lag = np.zeros(rows.size, np.int64) if instance.lag is None else instance.lag[rows]
    classes = reduced.member_class[members]
    widths = np.diff(reduced.first)
    class_of_pair = np.repeat(np.arange(widths.size), widths)
    by_topic = np.argsort(reduced.wanted, kind="stable")
    region = FeasibleRegion(
        lag,
        topic[rows],
        reduced.first,
        reduced.wanted,
        classes,
        np.r_[0, np.cumsum(reduced.class_size)].astype(np.int64),
        np.argsort(classes, kind="stable").astype(np.int32),
        np.searchsorted(reduced.wanted[by_topic], np.arange(reduced.supply.size + 1)),
        class_of_pair[by_topic].astype(np.int32),
        unit,
        *bounds,
    )
    return LagInstance(
        region=region,
        rows=rows,
        members=members,
        topics=reduced.topics.astype(np.int64),
        owner=_renumber(members, instance.owner[rows]),
        scale=scale,
        start=None if start is None else _renumber(members, start[rows]),
    )


def _renumber(members: Int64, listed: Int32) -> Int32:
    """Return the dense numbers of members of the instance; -1 for others."""
    last = int(max(members.max(initial=-1), listed.max(initial=-1)))
    number = np.full(last + 2, NOBODY, np.int32)  # the last entry is for index -1
    number[members] = np.arange(members.size, dtype=np.int32)
    return number[listed]


def _unbounded(members: int) -> _CellBounds:
    return _CellBounds(
        by_topic=False,
        cell=np.arange(members),
        least=np.zeros(members, np.int64),
        most=np.full(members, UNBOUNDED, np.int64),
        pool=np.zeros(members, np.int32),
        extra=np.full(1, UNBOUNDED, np.int64),
    )


def _shared_bounds(reduced: ReducedInstance, weights: Int64) -> _CellBounds:
    """Share all partitions out over all members: every subscription is equal."""
    if not weights.size:
        return _unbounded(0)
    shares = quota(int(reduced.supply.sum()), tuple(weights.tolist()))
    return _CellBounds(
        by_topic=False,
        cell=np.arange(weights.size),
        least=np.array(shares.least, np.int64),
        most=np.array(shares.most, np.int64),
        pool=np.zeros(weights.size, np.int32),
        extra=np.array([shares.extra], np.int64),
    )


def _per_topic_bounds(
    reduced: ReducedInstance, members: Int64, weights: Int64
) -> _CellBounds:
    """Share each topic out over its subscribers: one cell per member and topic."""
    classes = reduced.member_class[members]
    widths = np.diff(reduced.first)[classes]
    ends = np.cumsum(widths)
    starts = (ends - widths).astype(np.int64)
    member_of_cell = np.repeat(np.arange(members.size), widths)
    position = np.arange(member_of_cell.size) - starts[member_of_cell]
    topic_of_cell = reduced.wanted[reduced.first[classes[member_of_cell]] + position]
    least = np.zeros(member_of_cell.size, np.int64)
    most = np.zeros(member_of_cell.size, np.int64)
    extra = np.zeros(reduced.supply.size, np.int64)
    by_topic = np.argsort(topic_of_cell, kind="stable")
    sizes = np.bincount(topic_of_cell, minlength=reduced.supply.size)
    cells_of_topic = np.split(by_topic, np.cumsum(sizes)[:-1])
    shared = cache(quota)
    for t, (units, cells) in enumerate(
        zip(reduced.supply.tolist(), cells_of_topic, strict=True)
    ):
        shares = shared(units, tuple(weights[member_of_cell[cells]].tolist()))
        least[cells], most[cells], extra[t] = shares
    pool = topic_of_cell.astype(np.int32)
    return _CellBounds(True, starts, least, most, pool, extra)


def _build_dec_min(instance: Instance, scale: int, members: Int64) -> LagInstance:
    """Take load bounds from the exact core: eligible are members of the least level."""
    # One level per class, if members of one class have equal capacities.
    reduced, _ = exact.reduce_by_capacity(instance)
    optimum = exact.solve(instance)
    levels = exact.load_bounds_of(instance, optimum.require_certificate())
    distinct, level = np.unique(levels.place[members], return_inverse=True)
    low = levels.low[members].astype(np.int64)
    high = levels.high[members].astype(np.int64)
    class_level = np.zeros(reduced.class_size.size, np.int64)
    class_level[reduced.member_class[members]] = level
    pair_level = np.repeat(class_level, np.diff(reduced.first))
    least_level = np.full(reduced.supply.size, UNBOUNDED, np.int64)
    np.minimum.at(least_level, reduced.wanted, pair_level)
    eligible = pair_level == least_level[reduced.wanted]
    restricted = reduced._replace(
        first=np.r_[0, np.cumsum(eligible)][reduced.first],
        wanted=reduced.wanted[eligible],
    )
    extra = np.zeros(distinct.size, np.int64)
    np.add.at(extra, least_level, reduced.supply)
    np.subtract.at(extra, level, low)
    bounds = _CellBounds(
        by_topic=False,
        cell=np.arange(members.size),
        least=low,
        most=np.where(extra[level] > 0, high, low),
        pool=level.astype(np.int32),
        extra=extra,
    )
    start = optimum.require_assignment().assignee
    return _build(instance, scale, restricted, bounds, start)


class LoadQuota(NamedTuple):
    """Least and largest load per member, and how many members hold the largest.

    ``extra`` of those whose two limits differ, by one, hold ``most``.
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    extra: int


def quota(units: int, weights: tuple[int, ...]) -> LoadQuota:
    """Share equal units out over members of given capacities, dec-min.

    Each unit goes to the member whose next one has the least key, (count + 1) ÷ weight,
    the larger weight first: the method of greatest divisors (Jefferson, D'Hondt). Keys
    tie only between members of one weight and count, so every share is fixed but for
    those at the last key. Units up to the fair share ``units · w ÷ Σ w`` come first;
    fewer than there are members are left for the heap.
    """
    if len(set(weights)) == 1:
        each, extra = divmod(units, len(weights))
        count = len(weights)
        return LoadQuota((each,) * count, (each + bool(extra),) * count, extra)
    total = sum(weights)
    given = [units * weight // total for weight in weights]
    heap = [(_key(n, weights[c]), c) for c, n in enumerate(given)]
    heapq.heapify(heap)
    last: tuple[Fraction, int] | None = None
    for _ in range(units - sum(given)):
        last, c = heap[0]
        given[c] += 1
        heapq.heapreplace(heap, (_key(given[c], weights[c]), c))
    with_weight = list(zip(given, weights, strict=True))
    has_last = [_key(n - 1, weight) == last for n, weight in with_weight]
    next_is_last = [_key(n, weight) == last for n, weight in with_weight]
    if not any(next_is_last):
        return LoadQuota(tuple(given), tuple(given), 0)
    least = tuple(n - has for n, has in zip(given, has_last, strict=True))
    most = tuple(n + may for n, may in zip(given, next_is_last, strict=True))
    return LoadQuota(least, most, sum(has_last))


def _key(held: int, weight: int) -> tuple[Fraction, int]:
    """Return the key of one unit more than ``held``."""
    return Fraction(held + 1, weight), -weight
