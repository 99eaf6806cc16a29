"""The face of all dec-min assignments, as eligible members and load bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Instance, Int32, Int64
from solver.constants import UNBOUNDED
from solver.exact.certificate import load_bounds_of, topic_floors
from solver.exact.reduced_instance import OUTSIDE
from solver.result import Certificate


class OptimalFace(NamedTuple):
    """The conditions that every dec-min assignment satisfies, and no other.

    A partition of topic t is at a subscriber c with ``place[c] == floor[t]``. The load
    of a member is ``low`` or ``high``, and ``extra`` members of a level have ``high``.
    """

    low: Int64  # (M,): 0 for members outside
    high: Int64  # (M,): low or one more
    place: Int32  # (M,): rank of each member's level, from 0; -1 outside
    floor: Int32  # (T,): lowest rank of a subscriber; -1 without one, or partitions
    extra: Int64  # (L,): number of members of each level with high


def optimal_face_of(instance: Instance, certificate: Certificate) -> OptimalFace:
    """Return the face that a certificate of balance describes."""
    bounds = load_bounds_of(instance, certificate)
    inside = instance.in_play
    distinct, rank = np.unique(bounds.place[inside], return_inverse=True)
    place = np.full(inside.size, OUTSIDE, np.int32)
    place[inside] = rank
    classes = instance.member_class, instance.class_offsets, instance.class_topics
    lowest, _ = topic_floors(*classes, bounds.place, bounds.place, len(instance.topics))
    has_supply = (lowest != UNBOUNDED) & (instance.topic_sizes > 0)
    floor = np.full(lowest.size, OUTSIDE, np.int32)
    floor[has_supply] = np.searchsorted(distinct, lowest[has_supply])
    extra = np.zeros(distinct.size, np.int64)
    np.add.at(extra, floor[has_supply], instance.topic_sizes[has_supply])
    low = np.where(inside, bounds.low, 0).astype(np.int64)
    np.subtract.at(extra, rank, low[inside])
    high = np.where(inside, bounds.high, 0).astype(np.int64)
    return OptimalFace(low, high, place, floor, extra)
