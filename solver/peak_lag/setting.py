"""A balance laid out as a room, and how its numbers are those of the instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import NOBODY, Int32, Int64
from solver.exact import (
    OUTSIDE,
    ReducedInstance,
    load_bounds_of,
    reduce_by_capacity,
    reduce_instance,
)
from solver.exact import solve as solve_core
from solver.objectives import capacities, common_capacity
from solver.peak_lag.quota import quota
from solver.peak_lag.room import FREE, Room
from solver.policy import Balance, BalanceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A room and how its numbers are those of the instance.

    Attributes
    ----------
    room : Room
    rows : int64 (P,)
        Partition of the instance.
    members : int64 (M,)
        Member of the instance.
    topics : int64 (T,)
        Topic of the instance.
    owner : int32 (P,)
        Member who owns the partition, -1: nobody in play who may keep it.
    scale : int
        Peaks are in units of 1 ÷ scale.
    start : int32 (P,) or None
        An assignment that keeps to the limits, where one is known.
    """

    room: Room
    rows: Int64
    members: Int64
    topics: Int64
    owner: Int32
    scale: int
    start: Int32 | None = None

    def column(self, instance: Instance, holder: Int32) -> Int32:
        """Write who holds what as a column of the instance."""
        assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        assignee[self.rows] = self.members[holder]
        return assignee

    def holders(self, assignee: Int32) -> Int32:
        """Read who holds what from a column of the instance."""
        return _numbers(self.members, assignee[self.rows])


def setting_of(instance: Instance, balance: Balance) -> Setting | None:
    """Lay out what a balance allows; None if its limits are no such cells.

    That is so for ``kip54`` and ``spread``.
    """
    reduced = reduce_instance(instance)
    members = np.flatnonzero(reduced.member_class != OUTSIDE)
    weights = np.array(capacities(instance), dtype=np.int64)[members]
    if balance.kind is BalanceKind.NONE:
        return _setting(instance, reduced, _unlimited(members.size), None)
    is_one = reduced.class_size.size <= 1 and reduced.supply.size <= 1
    if balance.kind is BalanceKind.PER_TOPIC and not is_one:
        return _setting(instance, reduced, _by_topic(reduced, members, weights), None)
    if balance.kind not in (BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC):
        return None
    if reduced.class_size.size <= 1:
        return _setting(instance, reduced, _together(reduced, weights), None)
    return _levelled(instance, members)


class _Limits(NamedTuple):
    by_topic: bool
    cell: Int64
    least: Int64
    most: Int64
    pool: Int32
    extra: Int64


def _setting(
    instance: Instance, reduced: ReducedInstance, limits: _Limits, start: Int32 | None
) -> Setting:
    """Give what is in play its numbers; seats are as ``reduced`` has them."""
    topic = reduced.topic_number[instance.partition_topic]
    rows = np.flatnonzero(topic != OUTSIDE)
    members = np.flatnonzero(reduced.member_class != OUTSIDE)
    scale = common_capacity(instance)
    weights = capacities(instance)
    unit = np.array([scale // weights[m] for m in members.tolist()], dtype=np.int64)
    lag = np.zeros(rows.size, np.int64) if instance.lag is None else instance.lag[rows]
    classes = reduced.member_class[members]
    by_class = np.argsort(classes, kind="stable").astype(np.int32)
    listed = np.repeat(np.arange(reduced.class_size.size), np.diff(reduced.first))
    by_topic = np.argsort(reduced.wanted, kind="stable")
    room = Room(
        lag,
        topic[rows],
        reduced.first,
        reduced.wanted,
        classes,
        np.r_[0, np.cumsum(reduced.class_size)].astype(np.int64),
        by_class,
        np.searchsorted(reduced.wanted[by_topic], np.arange(reduced.supply.size + 1)),
        listed[by_topic].astype(np.int32),
        unit,
        *limits,
    )
    return Setting(
        room=room,
        rows=rows,
        members=members,
        topics=reduced.topics.astype(np.int64),
        owner=_numbers(members, instance.owner[rows]),
        scale=scale,
        start=None if start is None else _numbers(members, start[rows]),
    )


def _numbers(members: Int64, listed: Int32) -> Int32:
    """Renumber members of the instance densely; nobody stays -1."""
    last = int(max(members.max(initial=-1), listed.max(initial=-1)))
    number = np.full(last + 2, NOBODY, np.int32)  # the last: of nobody
    number[members] = np.arange(members.size, dtype=np.int32)
    return number[listed]


def _unlimited(members: int) -> _Limits:
    return _Limits(
        by_topic=False,
        cell=np.arange(members),
        least=np.zeros(members, np.int64),
        most=np.full(members, FREE, np.int64),
        pool=np.zeros(members, np.int32),
        extra=np.full(1, FREE, np.int64),
    )


def _together(reduced: ReducedInstance, weights: Int64) -> _Limits:
    """Share everything out over everybody: all subscriptions are equal."""
    if not weights.size:
        return _unlimited(0)
    shares = quota(int(reduced.supply.sum()), tuple(weights.tolist()))
    return _Limits(
        by_topic=False,
        cell=np.arange(weights.size),
        least=np.array(shares.least, np.int64),
        most=np.array(shares.most, np.int64),
        pool=np.zeros(weights.size, np.int32),
        extra=np.array([shares.extra], np.int64),
    )


def _levelled(instance: Instance, members: Int64) -> Setting:
    """Take the levels from the exact core: seats on a least level alone."""
    # One level a class, if members of one class have one capacity.
    reduced, _ = reduce_by_capacity(instance)
    answer = solve_core(instance)
    levels = load_bounds_of(instance, answer.require_certificate())
    distinct, place = np.unique(levels.place[members], return_inverse=True)
    low = levels.low[members].astype(np.int64)
    high = levels.high[members].astype(np.int64)
    of_class = np.zeros(reduced.class_size.size, np.int64)
    of_class[reduced.member_class[members]] = place
    listed = np.repeat(np.arange(of_class.size), np.diff(reduced.first))
    floor = np.full(reduced.supply.size, FREE, np.int64)
    np.minimum.at(floor, reduced.wanted, of_class[listed])
    seats = of_class[listed] == floor[reduced.wanted]
    first = np.r_[0, np.cumsum(seats)][reduced.first]
    face = reduced._replace(first=first, wanted=reduced.wanted[seats])
    extra = np.zeros(distinct.size, np.int64)
    np.add.at(extra, floor, reduced.supply)
    np.subtract.at(extra, place, low)
    limits = _Limits(
        by_topic=False,
        cell=np.arange(members.size),
        least=low,
        most=np.where(extra[place] > 0, high, low),
        pool=place.astype(np.int32),
        extra=extra,
    )
    return _setting(instance, face, limits, answer.require_assignment().assignee)


def _by_topic(reduced: ReducedInstance, members: Int64, weights: Int64) -> _Limits:
    """Share every topic out over its subscribers; one cell a member and topic."""
    classes = reduced.member_class[members]
    wants = np.diff(reduced.first)[classes]
    cell = np.r_[0, np.cumsum(wants)].astype(np.int64)
    least = np.zeros(cell[-1], np.int64)
    most = np.zeros(cell[-1], np.int64)
    pool = np.zeros(cell[-1], np.int32)
    extra = np.zeros(reduced.supply.size, np.int64)
    starts = cell[:-1]
    people_of = [np.flatnonzero(classes == k) for k in range(reduced.class_size.size)]
    takers: list[list[Int64]] = [[] for _ in range(reduced.supply.size)]
    cells: list[list[Int64]] = [[] for _ in range(reduced.supply.size)]
    for k, people in enumerate(people_of):
        for place, t in enumerate(
            reduced.wanted[reduced.first[k] : reduced.first[k + 1]]
        ):
            takers[t].append(people)
            cells[t].append(starts[people] + place)
    shared = cache(quota)
    for t, units in enumerate(reduced.supply.tolist()):
        at = np.concatenate(cells[t])
        shares = shared(units, tuple(weights[np.concatenate(takers[t])].tolist()))
        least[at], most[at], pool[at] = shares.least, shares.most, t
        extra[t] = shares.extra
    return _Limits(
        by_topic=True, cell=starts, least=least, most=most, pool=pool, extra=extra
    )
