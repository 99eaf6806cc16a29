"""Kinds: partitions that differ in nothing a policy of moves and racks asks about.

Racks are bits of a mask, so up to 62 racks that members are in; racks without members
matter only in that a partition has replicas at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import Instance
from rebalance.claims import Bools, Int32, Int64
from rebalance.instance import ABSENT

RACKS_MAX = 62


class Places(NamedTuple):
    """Where members and partitions are, as bits.

    Attributes
    ----------
    seat : int64 (M,)
        Bit number of the member's rack; -1 for none.
    mask : int64 (P,)
        Bits of the racks with a replica.
    known : bool (P,)
        Whether the partition's racks are known: only then can it mismatch.
    racks : int
        Number of bits.
    """

    seat: Int64
    mask: Int64
    known: Bools
    racks: int

    def is_far(self, partition: Int64, member: Int64) -> Bools:
        """Tell whether each member's rack holds no replica of its partition."""
        seat = self.seat[member]
        near = (self.mask[partition] >> np.maximum(seat, 0)) & 1 > 0
        return np.asarray(self.known[partition] & (seat != ABSENT) & ~near)


class Kinds(NamedTuple):
    """Distinct (topic, owner, racks), in this order; K kinds of reduced partitions.

    Attributes
    ----------
    rows : int64
        ReducedInstance partitions.
    kind : int64
        Kind of each of them.
    first : int64 (K,)
        One partition of each kind, the lowest.
    amount : int64 (K,)
    """

    rows: Int64
    kind: Int64
    first: Int64
    amount: Int64


def places_of(instance: Instance) -> Places | None:
    """Give the racks that members in play are in bits; None if there are too many."""
    racks = instance.racks
    n_members, n_partitions = len(instance.members), instance.n_partitions
    if racks is None:
        nowhere = np.full(n_members, ABSENT, np.int64)
        nothing = np.zeros(n_partitions, np.int64)
        return Places(nowhere, nothing, nothing > 0, 0)
    inside = (racks.member != ABSENT) & instance.in_play
    used = np.unique(racks.member[inside])
    if used.size > RACKS_MAX:
        return None
    number = np.full(len(racks.names) + 1, ABSENT, np.int64)
    number[used] = np.arange(used.size)
    seat = np.where(inside, number[racks.member], ABSENT)
    bit = number[racks.replicas]
    partition = np.repeat(np.arange(n_partitions), np.diff(racks.offsets))
    mask = np.zeros(n_partitions, np.int64)
    seen = bit != ABSENT
    np.bitwise_or.at(mask, partition[seen], np.int64(1) << bit[seen])
    return Places(seat, mask, np.diff(racks.offsets) > 0, int(used.size))


def can_mismatch(instance: Instance) -> bool:
    """Tell whether some member has a rack and some partition known ones."""
    racks = instance.racks
    if racks is None:
        return False
    return bool(
        racks.replicas.size and (racks.member[instance.in_play] != ABSENT).any()
    )


def kinds_of(instance: Instance, places: Places) -> Kinds:
    """Group the partitions that somebody subscribes to."""
    rows = np.flatnonzero(instance.topic_subscribed[instance.partition_topic])
    owner = instance.owner[rows].astype(np.int64)
    pair = instance.partition_topic[rows] * np.int64(len(instance.members) + 1)
    _, pair = np.unique(pair + owner + 1, return_inverse=True)
    # Unknown racks are one mask more: no mask has all bits and is unknown.
    mask = np.where(places.known[rows], places.mask[rows], -1)
    _, mask = np.unique(mask, return_inverse=True)
    both = pair.astype(np.int64) * (int(mask.max(initial=0)) + 1) + mask
    _, first, kind, amount = np.unique(
        both, return_index=True, return_inverse=True, return_counts=True
    )
    return Kinds(rows, kind.astype(np.int64), rows[first], amount.astype(np.int64))


def dense(*columns: Int64 | Int32) -> tuple[Int64, Int64]:
    """Give the distinct rows of some columns numbers, in order.

    Returns
    -------
    number : int64
        Of each row.
    first : int64
        One row of each number.
    """
    number = np.zeros(columns[0].size, np.int64)
    for column in columns:
        _, inverse = np.unique(column, return_inverse=True)
        number = number * (int(inverse.max(initial=0)) + 1) + inverse
        _, number = np.unique(number, return_inverse=True)
        number = number.astype(np.int64)
    _, first = np.unique(number, return_index=True)
    return number, first.astype(np.int64)
