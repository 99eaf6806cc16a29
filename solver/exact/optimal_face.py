"""The face of all best-balanced assignments at once, as seats and limits of load."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import Int32, Int64
from solver.exact.certificate import load_bounds_of
from solver.exact.solve import solve
from solver.result import Certificate

OUTSIDE = -1


class Face(NamedTuple):
    """What holds of every dec-min assignment, and of none but them.

    Each partition of topic t sits on a subscriber c with ``place[c] == floor[t]``, and
    each member holds ``low`` or ``high`` partitions, ``extra`` of a place the latter.

    Attributes
    ----------
    low, high : int64 (M,)
        At most one apart; 0 for members that can be given nothing.
    place : int32 (M,)
        Level of each member, from 0, in order; -1 for those.
    floor : int32 (T,)
        Least place of a topic's subscribers; -1 without partitions or subscriber.
    extra : int64 (L,)
        How many members of each level hold one more than ``low``.
    """

    low: Int64
    high: Int64
    place: Int32
    floor: Int32
    extra: Int64


def face(instance: Instance) -> Face:
    """Return the face of the dec-min assignments of an instance."""
    return face_of(instance, solve(instance).require_certificate())


def face_of(instance: Instance, certificate: Certificate) -> Face:
    """Return the face that a certificate of balance tells."""
    limits = load_bounds_of(instance, certificate)
    inside = instance.in_play
    distinct, rank = np.unique(limits.place[inside], return_inverse=True)
    place = np.full(inside.size, OUTSIDE, np.int32)
    place[inside] = rank
    floor = _floors(instance, place, distinct.size)
    supply = np.zeros(distinct.size, np.int64)
    reduced = floor != OUTSIDE
    np.add.at(supply, floor[reduced], instance.topic_sizes[reduced])
    low = np.where(inside, limits.low, 0).astype(np.int64)
    np.subtract.at(supply, rank, low[inside])
    high = np.where(inside, limits.high, 0).astype(np.int64)
    return Face(low, high, place, floor, supply)


def _floors(instance: Instance, place: Int32, most: int) -> Int32:
    """Return the least place among the subscribers of each topic with partitions."""
    least = np.full(instance.n_classes, most, np.int64)
    here = place != OUTSIDE
    np.minimum.at(least, instance.member_class[here], place[here])
    floor = np.full(len(instance.topics), most, np.int64)
    of_class = np.repeat(least, np.diff(instance.class_offsets))
    np.minimum.at(floor, instance.class_topics, of_class)
    nowhere = (floor == most) | (instance.topic_sizes == 0)
    return np.where(nowhere, OUTSIDE, floor).astype(np.int32)
