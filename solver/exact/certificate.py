"""Check of a certificate: bounds from its levels and prices, from the columns alone.

By complementary slackness the levels prove that an assignment is dec-min balanced, and
the prices bound the number of partitions that any such assignment keeps
(docs/method.md). The engine checks its own certificate before it returns ``optimal``,
from the columns of the instance and not from the network that produced the result.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from rebalance import NOBODY, Assignment, Instance, Int32, Int64, kernel
from solver.constants import INT64_MAX, UNBOUNDED
from solver.exact.reduced_instance import (
    OUTSIDE,
    distinct_capacities,
    group_by_key,
    row_of_entry,
)
from solver.exact.weighted_levels import below_each, rank_keys
from solver.result import Certificate

IntPrices = TypeVar("IntPrices", Int32, Int64)


class CertificateCheck(NamedTuple):
    """The bounds that a certificate proves of an assignment."""

    balanced: bool  # the assignment is valid and its load vector dec-min
    kept: int  # owned partitions that stay with their owner
    most_kept: int  # no balanced assignment keeps more; meaningful only if balanced

    @property
    def holds(self) -> bool:
        """Whether balance and stickiness are both proved."""
        return self.balanced and self.kept == self.most_kept


class StickyColumns(NamedTuple):
    """The columns of an `Instance` that ``sticky`` needs where capacities are equal."""

    topic_offsets: Int64
    member_class: Int32
    class_offsets: Int64
    class_topics: Int32
    owner: Int32


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
        price = certificate.price.astype(np.int32)
    bounds = load_bounds_of(instance, certificate)
    columns = StickyColumns(
        instance.topic_offsets,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        instance.owner,
    )
    # A solve has a column to write to, and a copy makes it one signature.
    assignee = assignment.assignee.copy()
    balanced, kept, most_kept = check_columns(columns, assignee, bounds, price)
    # Interpreted kernels return integers of numpy.
    return CertificateCheck(bool(balanced), int(kept), int(most_kept))


def load_bounds_of(instance: Instance, certificate: Certificate) -> LoadBounds:
    """Compute the loads that a certificate allows."""
    level, threshold = certificate.level.copy(), certificate.threshold
    capacity = instance.capacity
    if threshold is None:
        are_equal = distinct_capacities(instance) <= 1
        return LoadBounds(level, level, level + np.int32(1), are_equal)
    if capacity is None:
        capacity = np.ones(level.size, np.int64)
    keys = threshold[:, 0].copy(), threshold[:, 1].copy()
    low = below_each(capacity, *keys, instance.n_partitions)
    high = (low + (capacity == threshold[:, 1])).astype(np.int32)
    return LoadBounds(rank_keys(*keys), low, high, bool((low == level).all()))


@kernel
def check_columns(
    columns: StickyColumns, assignee: Int32, bounds: LoadBounds, price: Int32
) -> tuple[bool, int, int]:
    """Check load bounds and prices against an assignment, from columns alone.

    It is balanced if it is valid, every partition is at a subscriber of the lowest
    level, and every load is within its bounds. Returns the fields of
    `CertificateCheck`.
    """
    topic_offsets, member_class, class_offsets, class_topics, owner = columns
    place, low, high, balanced = bounds
    n_topics = topic_offsets.size - 1
    floor, cheapest = topic_floors(
        member_class, class_offsets, class_topics, place, price, n_topics
    )
    first, entries = group_by_key(class_topics, n_topics)
    subscriber = row_of_entry(class_offsets)[entries]  # classes, by topic
    last_topic = np.full(class_offsets.size - 1, -1, np.int64)
    load = np.zeros(place.size, np.int64)
    kept, most = 0, 0
    for t in range(n_topics):
        for k in subscriber[first[t] : first[t + 1]]:
            last_topic[k] = t
        lowest = floor[t]
        for p in range(topic_offsets[t], topic_offsets[t + 1]):
            c, o = assignee[p], owner[p]
            if c == NOBODY or place[c] != lowest:
                balanced &= c == NOBODY and lowest == UNBOUNDED
                continue
            balanced &= last_topic[member_class[c]] == t
            load[c] += 1
            kept += c == o
            best = -cheapest[t]
            if o != NOBODY and place[o] == lowest:
                best = max(best, 1 - price[o])
            most += best
    for m in range(load.size):
        balanced &= low[m] <= load[m] <= high[m]
    return balanced, kept, most + load_value(bounds, price, load)


@kernel
def load_value(bounds: LoadBounds, price: IntPrices, load: Int64) -> int:
    """Return the sum over levels of low · Σ price + the r largest prices.

    r is the number of partitions of the level beyond ``low``; the largest are those of
    members whose load can be one more than ``low``.
    """
    place, low, high, _ = bounds
    rank, n_levels = rank_places(place)
    left = np.zeros(n_levels, np.int64)
    value = 0
    for m in range(place.size):
        left[rank[m]] += load[m] - low[m]
        value += np.int64(low[m]) * price[m]
    for m in np.argsort(price)[::-1]:
        if high[m] > low[m] and left[rank[m]] > 0:
            left[rank[m]] -= 1
            value += price[m]
    return value


@kernel
def shift_prices(price: IntPrices, place: Int32) -> IntPrices:
    """Shift the prices of each level so that the least is 0: the bound is the same.

    ``place`` is the level of each member; members `OUTSIDE` get price 0.
    """
    rank, n_levels = rank_places(place)
    least = np.full(n_levels, INT64_MAX, np.int64)
    for m in range(place.size):
        least[rank[m]] = min(least[rank[m]], price[m])
    shifted = np.zeros_like(price)
    for m in range(place.size):
        if place[m] != OUTSIDE:
            shifted[m] = price[m] - least[rank[m]]
    return shifted


@kernel
def rank_places(place: Int32) -> tuple[Int64, int]:
    """Return the rank of each place, from 0, and the number of distinct ones."""
    distinct = np.unique(place)
    rank = np.empty(place.size, np.int64)
    for m in range(place.size):
        rank[m] = np.searchsorted(distinct, place[m])
    return rank, distinct.size


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
