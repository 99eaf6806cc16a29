"""Check of a certificate: bounds from its levels and prices, from the columns alone.

By complementary slackness the levels prove that an assignment is dec-min balanced, and
the prices bound the number of partitions that any such assignment keeps
(docs/method.md). The engine checks its own certificate before it returns ``optimal``,
from the columns of the instance and not from the network that produced the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel
from solver.constants import UNBOUNDED
from solver.exact.reduced_instance import OUTSIDE, group_by_key, row_of_entry
from solver.exact.weighted_levels import below_each, rank_keys
from solver.result import Certificate

IntPrices = TypeVar("IntPrices", Int32, Int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateCheck:
    """What a certificate proves of an assignment."""

    balanced: bool  # the assignment is valid and its load vector dec-min
    kept: int  # owned partitions that stay with their owner
    most_kept: int  # no balanced assignment keeps more; meaningful only if balanced

    @property
    def holds(self) -> bool:
        """Whether balance and stickiness are both proved."""
        return self.balanced and self.kept == self.most_kept


class LoadBounds(NamedTuple):
    """Loads of the members that a certificate allows."""

    place: Int32  # (M,): order of the levels
    low: Int32  # (M,): least load
    high: Int32  # (M,): largest load, at most one more
    are_consistent: bool  # the levels agree with the thresholds, if capacities differ


def prove(
    instance: Instance, assignment: Assignment, certificate: Certificate
) -> CertificateCheck:
    """Check a certificate against an assignment: balance, and prices of moves alone."""
    price = np.zeros_like(certificate.level)
    if certificate.weights is None:
        price = np.asarray(certificate.price, np.int32)
    bounds = load_bounds_of(instance, certificate)
    classes = instance.member_class, instance.class_offsets, instance.class_topics
    floors = topic_floors(*classes, bounds.place, price, len(instance.topics))
    assignee, offsets = assignment.assignee, instance.topic_offsets
    is_valid = _is_valid(assignee, offsets, *classes)
    on_floor, load, kept, most = _scan(
        instance.owner, assignee, offsets, bounds.place, price, *floors
    )
    within = bool((load >= bounds.low).all() and (load <= bounds.high).all())
    return CertificateCheck(
        balanced=bool(is_valid and on_floor and within and bounds.are_consistent),
        kept=int(kept),
        most_kept=int(most) + load_value(bounds, price, load),
    )


def load_bounds_of(instance: Instance, certificate: Certificate) -> LoadBounds:
    """Compute the loads that a certificate allows."""
    level, threshold = certificate.level, certificate.threshold
    if threshold is None:
        are_equal = instance.capacity is None or (
            np.unique(instance.capacity[instance.in_play]).size <= 1
        )
        return LoadBounds(level, level, level + np.int32(1), are_equal)
    capacity = instance.capacity
    if capacity is None:
        capacity = np.ones(level.size, np.int64)
    keys = threshold[:, 0].copy(), threshold[:, 1].copy()
    low = below_each(capacity, *keys, instance.n_partitions)
    high = (low + (capacity == threshold[:, 1])).astype(np.int32)
    return LoadBounds(rank_keys(*keys), low, high, bool((low == level).all()))


def load_value(bounds: LoadBounds, price: Int32 | Int64, load: Int64) -> int:
    """Return the sum over levels of low · Σ price + the r largest prices.

    r is the number of partitions of the level beyond ``low``; the largest are those of
    members whose load can be one more than ``low``.
    """
    place, low = bounds.place, bounds.low
    is_fixed = bounds.high == low
    keys = (-price, is_fixed, place) if is_fixed.any() else (-price, place)
    order = np.lexsort(keys)
    value = int((low.astype(np.int64) * price).sum())
    starts = np.flatnonzero(np.r_[True, np.diff(place[order]) != 0])
    starts = starts[: place.size]
    if not starts.size:
        return value
    sizes = np.diff(np.r_[starts, place.size])
    extra = np.add.reduceat((load - low)[order], starts)
    rank = np.arange(place.size) - np.repeat(starts, sizes)
    return value + int(price[order][rank < np.repeat(extra, sizes)].sum())


def shift_prices(price: IntPrices, place: Int32) -> IntPrices:
    """Shift the prices of each level so that the least is 0: the bound is the same.

    ``place`` is the level of each member; members `OUTSIDE` get price 0.
    """
    inside = place != OUTSIDE
    least = np.full(place.max(initial=OUTSIDE) + 1, price.max(initial=0))
    np.minimum.at(least, place[inside], price[inside])
    shifted = np.zeros_like(price)
    shifted[inside] = price[inside] - least[place[inside]]
    return shifted


@kernel
def topic_floors(
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    level: Int32,
    price: Int32,
    n_topics: int,
) -> tuple[Int64, Int64]:
    """Return the lowest level among a topic's subscribers, and the least price there.

    `UNBOUNDED` where nobody subscribes.
    """
    n_classes = class_offsets.size - 1
    class_level = np.full(n_classes, UNBOUNDED, np.int64)
    class_price = np.full(n_classes, UNBOUNDED, np.int64)
    for m in range(member_class.size):
        k = member_class[m]
        if level[m] < class_level[k]:
            class_level[k], class_price[k] = level[m], price[m]
        elif level[m] == class_level[k]:
            class_price[k] = min(class_price[k], price[m])
    floor = np.full(n_topics, UNBOUNDED, np.int64)
    cheapest = np.full(n_topics, UNBOUNDED, np.int64)
    for k in range(n_classes):
        for i in range(class_offsets[k], class_offsets[k + 1]):
            t = class_topics[i]
            if class_level[k] < floor[t]:
                floor[t], cheapest[t] = class_level[k], class_price[k]
            elif class_level[k] == floor[t]:
                cheapest[t] = min(cheapest[t], class_price[k])
    return floor, cheapest


@kernel
def _is_valid(
    assignee: Int32,
    topic_offsets: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> bool:
    """Return whether each assigned partition is at a subscriber of its topic."""
    n_topics = topic_offsets.size - 1
    first, entries = group_by_key(class_topics, n_topics)
    subscriber = row_of_entry(class_offsets)[entries]  # classes, by topic
    last_topic = np.full(class_offsets.size - 1, -1, np.int64)
    for t in range(n_topics):
        for k in subscriber[first[t] : first[t + 1]]:
            last_topic[k] = t
        for c in assignee[topic_offsets[t] : topic_offsets[t + 1]]:
            if c != NOBODY and last_topic[member_class[c]] != t:
                return False
    return True


@kernel
def _scan(
    owner: Int32,
    assignee: Int32,
    topic_offsets: Int64,
    level: Int32,
    price: Int32,
    floor: Int64,
    cheapest: Int64,
) -> tuple[bool, Int64, int, int]:
    """Scan the partitions once.

    Returns whether each is at a lowest level, the loads, the number kept, and the sum
    over partitions of the largest own − price on the face.
    """
    load = np.zeros(level.size, np.int64)
    on_floor = True
    kept = 0
    most = 0
    for t in range(floor.size):
        lowest, cheapest_price = floor[t], cheapest[t]
        if lowest == UNBOUNDED:
            continue  # without subscribers
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            c, o = assignee[p], owner[p]
            if c == NOBODY or level[c] != lowest:
                on_floor = False
                continue
            load[c] += 1
            kept += c == o
            best = -cheapest_price
            if o != NOBODY and level[o] == lowest:
                best = max(best, 1 - price[o])
            most += best
    return on_floor, load, kept, most
