"""Two integers a member that prove an assignment: its level and its price.

Where capacities differ, a third says which key the level ends before. Whoever has them
can check optimality with integers alone; docs/method.md tells why. The engine checks
its own here before it says ``optimal``, from the columns of the instance and not from
the network that the answer came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import Assignment, Instance
from rebalance.claims import NOBODY
from solver.exact.min_cost_flow import Int32, Int64
from solver.exact.weighted_keys import below_each, rank_keys
from solver.result import Certificate

_NO_LEVEL = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateCheck:
    """What a certificate proves of an assignment.

    Attributes
    ----------
    balanced : bool
        The assignment is valid and its load vector dec-min.
    owned : int
        Partitions with an owner.
    kept : int
        Owned partitions that stay with their owner.
    most_kept : int
        No balanced assignment keeps more. Meaningful only if ``balanced``.
    """

    balanced: bool
    owned: int
    kept: int
    most_kept: int

    @property
    def holds(self) -> bool:
        """Whether balance and stickiness are both proved."""
        return self.balanced and self.kept == self.most_kept


def prove(
    instance: Instance, assignment: Assignment, certificate: Certificate
) -> CertificateCheck:
    """Check a certificate against an assignment: balance, and prices of moves alone."""
    price = np.zeros_like(certificate.level)
    if certificate.weights is None:
        price = np.asarray(certificate.price, np.int32)
    bounds = load_bounds_of(instance, certificate)
    floor, cheapest = _topic_floors(
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        bounds.place,
        price,
        len(instance.topics),
    )
    valid = _is_valid(
        assignment.assignee,
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
    )
    fits, load, owned, kept, most = _scan(
        instance.owner,
        assignment.assignee,
        instance.topic_offsets,
        bounds.place,
        price,
        floor,
        cheapest,
    )
    within = bool((load >= bounds.low).all() and (load <= bounds.high).all())
    return CertificateCheck(
        balanced=bool(valid and fits and within and bounds.are_told),
        owned=int(owned),
        kept=int(kept),
        most_kept=int(most) + load_value(bounds, price, load),
    )


class LoadBounds(NamedTuple):
    """What a certificate says of the members, as numbers."""

    place: Int32  # orders the levels
    low: Int32
    high: Int32
    are_told: bool  # the levels agree with the thresholds, where capacities differ


def load_bounds_of(instance: Instance, certificate: Certificate) -> LoadBounds:
    """Count what a certificate lets each member hold."""
    level, threshold = certificate.level, certificate.threshold
    if threshold is None:
        alike = instance.capacity is None or (
            np.unique(instance.capacity[instance.in_play]).size <= 1
        )
        return LoadBounds(level, level, level + np.int32(1), alike)
    weight = instance.capacity
    if weight is None:
        weight = np.ones(level.size, np.int64)
    numbers = threshold[:, 0].copy(), threshold[:, 1].copy()
    low = below_each(weight, *numbers, instance.n_partitions)
    high = (low + (weight == threshold[:, 1])).astype(np.int32)
    told = bool((low == level).all())
    return LoadBounds(rank_keys(*numbers), low, high, told)


@njit(cache=True)
def _topic_floors(
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    level: Int32,
    price: Int32,
    n_topics: int,
) -> tuple[Int64, Int64]:
    """Find the least level among a topic's subscribers, and the least price there."""
    n_classes = class_offsets.size - 1
    class_level = np.full(n_classes, _NO_LEVEL, np.int64)
    class_price = np.full(n_classes, _NO_LEVEL, np.int64)
    for m in range(member_class.size):
        k = member_class[m]
        if level[m] < class_level[k]:
            class_level[k], class_price[k] = level[m], price[m]
        elif level[m] == class_level[k]:
            class_price[k] = min(class_price[k], price[m])
    floor = np.full(n_topics, _NO_LEVEL, np.int64)
    cheapest = np.full(n_topics, _NO_LEVEL, np.int64)
    for k in range(n_classes):
        for i in range(class_offsets[k], class_offsets[k + 1]):
            t = class_topics[i]
            if class_level[k] < floor[t]:
                floor[t], cheapest[t] = class_level[k], class_price[k]
            elif class_level[k] == floor[t]:
                cheapest[t] = min(cheapest[t], class_price[k])
    return floor, cheapest


@njit(cache=True)
def _is_valid(
    assignee: Int32,
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> bool:
    """Tell whether no partition is with a member that does not subscribe to it."""
    n_topics = topic_offsets.size - 1
    first = np.zeros(n_topics + 1, np.int64)
    for t in class_topics:
        first[t + 1] += 1
    first = np.cumsum(first)
    free = first[:-1].copy()
    subscriber = np.empty(class_topics.size, np.int32)
    for k in range(class_offsets.size - 1):
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            subscriber[free[t]] = k
            free[t] += 1
    seen = np.full(class_offsets.size - 1, -1, np.int64)
    for t in range(n_topics):
        for k in subscriber[first[t] : first[t + 1]]:
            seen[k] = t
        for c in assignee[topic_offsets[t] : topic_offsets[t + 1]]:
            if c != NOBODY and seen[member_class[c]] != t:
                return False
    return True


@njit(cache=True)
def _scan(
    owner: Int32,
    assignee: Int32,
    topic_offsets: Int64,
    level: Int32,
    price: Int32,
    floor: Int64,
    cheapest: Int64,
) -> tuple[bool, Int64, int, int, int]:
    """Pass over the partitions once.

    Return whether each sits on a least level, the loads, the numbers owned and kept,
    and the sum over partitions of max over the members it may sit on of (own − price).
    """
    load = np.zeros(level.size, np.int64)
    fits = True
    owned = 0
    kept = 0
    most = 0
    for t in range(floor.size):
        if floor[t] == _NO_LEVEL:
            continue  # nobody wants it
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            c, o = assignee[p], owner[p]
            owned += o != NOBODY
            if c == NOBODY or level[c] != floor[t]:
                fits = False
                continue
            load[c] += 1
            kept += c == o
            best = -cheapest[t]
            if o != NOBODY and level[o] == floor[t]:
                best = max(best, 1 - price[o])
            most += best
    return fits, load, owned, kept, most


def load_value(bounds: LoadBounds, price: Int32 | Int64, load: Int64) -> int:
    """Add up, level by level, low · Σ price + the r largest prices of those with room.

    r is what the level's members hold beyond their least.
    """
    place, low = bounds.place, bounds.low
    shut = bounds.high == low
    keys = (-price, shut, place) if shut.any() else (-price, place)
    order = np.lexsort(keys)
    beyond = load - low
    value = int((low.astype(np.int64) * price).sum())
    starts = np.flatnonzero(np.r_[True, np.diff(place[order]) != 0])
    starts = starts[: place.size]
    if not starts.size:
        return value
    extra = np.add.reduceat(beyond[order], starts)
    rank = np.arange(place.size) - np.repeat(starts, np.diff(np.r_[starts, place.size]))
    taken = rank < np.repeat(extra, np.diff(np.r_[starts, place.size]))
    return value + int(price[order][taken].sum())
