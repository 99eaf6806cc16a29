"""Who may take the partitions of a topic: its subscribers, in a given order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.order import text_order
from rebalance import Bools, Instance, Int32, Int64


class Takers(NamedTuple):
    """Subscribers topic by topic, as places in an order of the members.

    Attributes
    ----------
    order : int64 (M,)
        Member at each place.
    places : int32
        Ascending within a topic. Topics that one and the same class alone wants share
        a stretch, so equal subscriptions take M entries, not M a topic.
    first, last : int64 (T,)
        Topic t may go to ``order[places[first[t]:last[t]]]``.
    """

    order: Int64
    places: Int32
    first: Int64
    last: Int64


def takers_of(instance: Instance, order: Int64) -> Takers:
    """List each topic's subscribers, in time linear in all subscriptions.

    Parameters
    ----------
    instance : Instance
    order : int64 (M,)
        Every member once.
    """
    places, first, last = _listed(
        order,
        instance.member_class,
        instance.class_offsets,
        instance.class_topics,
        len(instance.topics),
    )
    return Takers(order, places, first, last)


@njit(cache=True)
def _listed(
    order: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
    n_topics: int,
) -> tuple[Int32, Int64, Int64]:
    """Lay the classes' own stretches out, then one a topic of several classes."""
    n_classes = class_offsets.size - 1
    size = np.zeros(n_classes, dtype=np.int64)
    for k in member_class:
        size[k] += 1
    class_first = np.cumsum(size) - size
    first = np.zeros(n_topics, dtype=np.int64)
    last = np.zeros(n_topics, dtype=np.int64)
    n_wanting = np.zeros(n_topics, dtype=np.int64)
    for k in range(n_classes):
        if size[k] == 0:
            continue
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            n_wanting[t] += 1
            first[t] = class_first[k]
            last[t] += size[k]  # for now the count
    used = member_class.size
    for t in range(n_topics):
        if n_wanting[t] > 1:
            first[t] = used
            used += last[t]
    places = np.empty(used, dtype=np.int32)
    fill = first.copy()
    _fill(
        places,
        class_first,
        fill,
        n_wanting > 1,
        order,
        member_class,
        class_offsets,
        class_topics,
    )
    return places, first, first + last


@njit(cache=True)
def _fill(
    places: Int32,
    class_fill: Int64,
    topic_fill: Int64,
    is_shared: Bools,
    order: Int64,
    member_class: Int32,
    class_offsets: Int64,
    class_topics: Int32,
) -> None:
    """Write every place into its class's stretch and its shared topics' stretches."""
    shares = np.zeros(class_fill.size, dtype=np.bool_)
    for k in range(shares.size):
        shares[k] = is_shared[
            class_topics[class_offsets[k] : class_offsets[k + 1]]
        ].any()
    for place in range(order.size):
        k = member_class[order[place]]
        places[class_fill[k]] = place
        class_fill[k] += 1
        if not shares[k]:
            continue
        for t in class_topics[class_offsets[k] : class_offsets[k + 1]]:
            if is_shared[t]:
                places[topic_fill[t]] = place
                topic_fill[t] += 1


def by_subscribers(instance: Instance, takers: Takers) -> Int64:
    """Order the topics by their number of subscribers, then by name; int64 (T,)."""
    topics = text_order(instance.topics)
    count = takers.last - takers.first
    return topics[np.argsort(count[topics], kind="stable")]


@njit(cache=True)
def is_taker(takers: Takers, topic: int, place: int) -> bool:
    """Tell whether the member at a place subscribes to a topic."""
    places = takers.places[takers.first[topic] : takers.last[topic]]
    at = np.searchsorted(places, place)
    return bool(at < places.size and places[at] == place)
