"""Equivalence classes of partitions with the same topic, owner and racks.

Racks are bits of a mask: up to 62 racks that have members. A rack without members
matters only in that a partition has replicas at all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rebalance import ABSENT, Bools, Instance, Int32, Int64

RACKS_MAX: Final = 62


class Places(NamedTuple):
    """Racks of members and partitions, as bits."""

    rack: Int64  # (M,): bit number of the member's rack; -1 for none
    mask: Int64  # (P,): bits of the racks with a replica
    known: Bools  # (P,): whether the racks are known; only then can it mismatch
    racks: int  # number of bits

    def is_mismatch(self, partition: Int64, member: Int32 | Int64) -> Bools:
        """Return for each pair whether the member's rack holds no replica."""
        rack = self.rack[member]
        holds_replica = (self.mask[partition] >> np.maximum(rack, 0)) & 1 > 0
        return np.asarray(self.known[partition] & (rack != ABSENT) & ~holds_replica)

    def can_match(self, partition: Int64, slot: int) -> Bools:
        """Return whether members of a slot match partitions with known racks.

        A slot is a rack, or the number of racks for the members without one.
        """
        if slot == self.racks:
            return self.known[partition]
        return np.asarray(
            self.known[partition] & (self.mask[partition] >> slot & 1 > 0)
        )

    @property
    def slot(self) -> Int64:
        """Slot of each member, int64 (M,)."""
        return np.where(self.rack == ABSENT, self.racks, self.rack)


class PlaceClasses(NamedTuple):
    """Distinct (topic, owner, racks) of subscribed partitions, in order; K classes."""

    rows: Int64  # the partitions that have a subscriber
    number: Int64  # class of each of them
    first: Int64  # (K,): the lowest partition of each class
    amount: Int64  # (K,): partitions of each class


def places_of(instance: Instance) -> Places | None:
    """Encode the racks of members in play as bits; None if there are too many."""
    racks = instance.racks
    n_members, n_partitions = len(instance.members), instance.n_partitions
    mask = np.zeros(n_partitions, np.int64)
    if racks is None:
        return Places(np.full(n_members, ABSENT, np.int64), mask, mask > 0, 0)
    has_rack = (racks.member != ABSENT) & instance.in_play
    used = np.unique(racks.member[has_rack])
    if used.size > RACKS_MAX:
        return None
    bit_of = np.full(len(racks.names) + 1, ABSENT, np.int64)
    bit_of[used] = np.arange(used.size)
    rack = np.where(has_rack, bit_of[racks.member], ABSENT)
    bit = bit_of[racks.replicas]
    partition = np.repeat(np.arange(n_partitions), np.diff(racks.offsets))
    is_used = bit != ABSENT
    np.bitwise_or.at(mask, partition[is_used], np.int64(1) << bit[is_used])
    return Places(rack, mask, np.diff(racks.offsets) > 0, int(used.size))


def can_mismatch(instance: Instance) -> bool:
    """Return whether a member in play has a rack and a partition known ones."""
    racks = instance.racks
    if racks is None or not racks.replicas.size:
        return False
    return bool((racks.member[instance.in_play] != ABSENT).any())


def place_classes_of(instance: Instance, places: Places) -> PlaceClasses:
    """Group the partitions that have a subscriber."""
    rows = np.flatnonzero(instance.topic_subscribed[instance.partition_topic])
    # Unknown racks are a mask of their own: a mask of known ones is never negative.
    mask = np.where(places.known[rows], places.mask[rows], -1)
    topic, owner = instance.partition_topic[rows], instance.owner[rows]
    number, first = number_rows(topic, owner, mask)
    amount = np.bincount(number, minlength=first.size)
    return PlaceClasses(rows, number, rows[first], amount)


def number_rows(*columns: Int64 | Int32) -> tuple[Int64, Int64]:
    """Assign numbers to the distinct rows of some columns, in lexicographic order.

    Returns the number of each row, and the first row with each number.
    """
    order = np.lexsort(columns[::-1])
    rows = np.stack(columns)[:, order]
    is_new = np.ones(order.size, np.bool_)
    is_new[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    number = np.empty(order.size, np.int64)
    number[order] = np.cumsum(is_new) - 1
    return number, order[is_new]
