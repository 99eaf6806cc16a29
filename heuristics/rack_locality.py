"""Racks of members and of replicas (KIP-881), for all rack-aware assignors."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from heuristics.eligible_members import eligible_members_of
from heuristics.group_columns import GroupColumns
from rebalance import NOBODY, Instance, Int32, Int64, borrowing_kernel, kernel

NONE = -1
_NO_REPLICAS: Int32 = np.empty(0, dtype=np.int32)
_NO_REPLICAS.setflags(write=False)


class RackLocality(NamedTuple):
    """Racks of members and replicas, with one added rack that every row is on.

    Attributes
    ----------
    member : int64 (M,)
        Rack of each member; ``n_racks`` for a member that states none.
    offsets, racks : int64
        Racks of row p: ``racks[offsets[p]:offsets[p+1]]``; the last is ``n_racks``.
    n_racks : int
    """

    member: Int64
    offsets: Int64
    racks: Int64
    n_racks: int


RackColumns: TypeAlias = tuple[Int32, Int64, Int32, int, int]
"""Columns ``member``, ``offsets``, and ``replicas`` of `rebalance.Racks`; the number of
racks; and the rack with an empty name, or `NONE`."""


def rack_columns_of(instance: Instance) -> RackColumns:
    """Return the racks of an instance; without racks, their number is 0."""
    racks = instance.racks
    if racks is None:
        return instance.member_class, instance.topic_offsets, _NO_REPLICAS, 0, NONE
    empty = 0 if racks.names[:1] == ("",) else NONE
    return racks.member, racks.offsets, racks.replicas, len(racks.names), empty


@kernel
def rack_locality_of(columns: RackColumns) -> RackLocality:
    """Encode the racks of a group."""
    rack, offsets, replicas, n_racks, empty = columns
    if n_racks == 0:
        nothing = np.empty(0, dtype=np.int64)
        return RackLocality(nothing, nothing, nothing, 0)
    member = rack.astype(np.int64)
    # For a replica, an empty name is a rack; for a consumer, it is not a rack.
    member[(rack == NONE) | (rack == empty)] = n_racks
    racks = np.full(replicas.size + offsets.size - 1, n_racks, dtype=np.int64)
    for p in range(offsets.size - 1):
        start, end = offsets[p], offsets[p + 1]
        racks[start + p : end + p] = replicas[start:end]
    each = np.arange(offsets.size, dtype=np.int64)
    return RackLocality(member, offsets + each, racks, n_racks)


@kernel
def is_informative(locality: RackLocality, group: GroupColumns) -> bool:
    """Return whether racks can matter.

    They can matter if a member is on the rack of a replica, and if the subscribed
    partitions do not all have replicas on the same racks.
    """
    if locality.n_racks == 0:
        return False
    eligible = eligible_members_of(group)
    of_members = np.zeros(locality.n_racks + 1, dtype=np.bool_)
    of_members[locality.member] = True
    of_rows = np.zeros(locality.n_racks + 1, dtype=np.bool_)
    n_entries, n_rows = 0, 0
    for t in np.flatnonzero(eligible.first < eligible.last):
        start, end = group.topic_offsets[t], group.topic_offsets[t + 1]
        entries = locality.racks[locality.offsets[start] : locality.offsets[end]]
        of_rows[entries] = True
        n_entries += entries.size
        n_rows += end - start
    of_members[locality.n_racks] = False
    if not (of_members & of_rows).any():
        return False
    return bool(n_entries < of_rows.sum() * n_rows)


@borrowing_kernel
def is_near(locality: RackLocality, member: int, row: int) -> bool:
    """Return whether a member is on a rack of the row; without a rack, it always is."""
    rack = locality.member[member]
    for near in locality.racks[locality.offsets[row] : locality.offsets[row + 1]]:
        if near == rack:
            return True
    return False


@kernel
def near_owners(owner: Int32, locality: RackLocality) -> Int32:
    """Remove owners without a replica of the owned partition on their rack."""
    near = owner.copy()
    for row in range(owner.size):
        if owner[row] != NOBODY and not is_near(locality, owner[row], row):
            near[row] = NOBODY
    return near
