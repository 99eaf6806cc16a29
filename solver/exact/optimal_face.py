"""The face of all dec-min assignments, as eligible members and load bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import Int32, Int64
from solver.exact.certificate import load_bounds_of
from solver.exact.reduced_instance import OUTSIDE
from solver.result import Certificate


class OptimalFace(NamedTuple):
    """The conditions that every dec-min assignment satisfies, and no other.

    A partition of topic t is at a subscriber c with ``place[c] == floor[t]``. The load
    of a member is ``low`` or ``high``, and ``extra`` members of a level have ``high``.

    Attributes
    ----------
    low, high : int64 (M,)
        At most one apart; 0 for members outside.
    place : int32 (M,)
        Rank of each member's level, from 0; -1 outside.
    floor : int32 (T,)
        Lowest rank among a topic's subscribers; -1 without partitions or subscriber.
    extra : int64 (L,)
        Number of members of each level with ``high``.
    """

    low: Int64
    high: Int64
    place: Int32
    floor: Int32
    extra: Int64


def optimal_face_of(instance: Instance, certificate: Certificate) -> OptimalFace:
    """Return the face that a certificate of balance describes."""
    bounds = load_bounds_of(instance, certificate)
    inside = instance.in_play
    distinct, rank = np.unique(bounds.place[inside], return_inverse=True)
    place = np.full(inside.size, OUTSIDE, np.int32)
    place[inside] = rank
    floor = _topic_floors(instance, place, distinct.size)
    extra = np.zeros(distinct.size, np.int64)
    has_supply = floor != OUTSIDE
    np.add.at(extra, floor[has_supply], instance.topic_sizes[has_supply])
    low = np.where(inside, bounds.low, 0).astype(np.int64)
    np.subtract.at(extra, rank, low[inside])
    high = np.where(inside, bounds.high, 0).astype(np.int64)
    return OptimalFace(low, high, place, floor, extra)


def _topic_floors(instance: Instance, place: Int32, n_levels: int) -> Int32:
    """Return the lowest rank among the subscribers of each topic with partitions."""
    of_class = np.full(instance.n_classes, n_levels, np.int64)
    inside = place != OUTSIDE
    np.minimum.at(of_class, instance.member_class[inside], place[inside])
    floor = np.full(len(instance.topics), n_levels, np.int64)
    of_entry = np.repeat(of_class, np.diff(instance.class_offsets))
    np.minimum.at(floor, instance.class_topics, of_entry)
    is_outside = (floor == n_levels) | (instance.topic_sizes == 0)
    return np.where(is_outside, OUTSIDE, floor).astype(np.int32)
