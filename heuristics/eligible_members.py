"""Eligible members (subscribers) per topic, in a given order of the members."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.group_columns import GroupColumns
from rebalance import Bools, Int32, Int64, borrowing_kernel, kernel


class EligibleMembers(NamedTuple):
    """Subscribers per topic, as places in an order of the members.

    Attributes
    ----------
    order : int64 (M,)
        Member at each place.
    places : int32
        Ascending within a topic. Topics to which a single class subscribes share one
        slice, so equal subscriptions take M entries in total, not M per topic.
    first, last : int64 (T,)
        The subscribers of topic t are ``order[places[first[t]:last[t]]]``.
    """

    order: Int64
    places: Int32
    first: Int64
    last: Int64


@kernel
def eligible_members_of(group: GroupColumns) -> EligibleMembers:
    """List each topic's subscribers, in time linear in all subscriptions.

    Lays out one slice per class, then one per topic of several classes.
    """
    _, member_class, class_offsets, class_topics, topics, order = group
    n_topics = topics.size
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
    return EligibleMembers(order, places, first, first + last)


@kernel
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
    """Write each place into the slice of its class and those of its shared topics."""
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


@kernel
def by_subscribers(topics: Int64, eligible: EligibleMembers) -> Int64:
    """Sort the topics by number of subscribers; among equal ones, keep the order."""
    count = eligible.last - eligible.first
    return topics[np.argsort(count[topics], kind="mergesort")]


@borrowing_kernel
def is_eligible(eligible: EligibleMembers, topic: int, place: int) -> bool:
    """Return whether the member at a place subscribes to a topic."""
    places = eligible.places[eligible.first[topic] : eligible.last[topic]]
    at = np.searchsorted(places, place)
    return bool(at < places.size and places[at] == place)
