"""Racks of members and of replicas (KIP-881), for all rack-aware assignors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rebalance import NOBODY, Bools, Instance, Int32, Int64, Racks, kernel

NONE = -1


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


def rack_locality_of(racks: Racks) -> RackLocality:
    """Encode the racks of an instance."""
    n_racks = len(racks.names)
    member = racks.member.astype(np.int64)
    # For a replica, an empty name is a rack; for a consumer, it is none.
    is_none = (member == NONE) | (member == _code_of_empty(racks))
    each = np.arange(racks.offsets.size, dtype=np.int64)
    return RackLocality(
        np.where(is_none, n_racks, member),
        racks.offsets + each,
        np.insert(racks.replicas.astype(np.int64), racks.offsets[1:], n_racks),
        n_racks,
    )


def _code_of_empty(racks: Racks) -> int:
    return 0 if racks.names[:1] == ("",) else NONE


def informative_rack_locality(instance: Instance) -> RackLocality | None:
    """Encode the racks of an instance, or return None if they cannot matter.

    They can matter if a member is on the rack of a replica, and if the subscribed
    partitions do not all have replicas on the same racks.
    """
    if instance.racks is None:
        return None
    locality = rack_locality_of(instance.racks)
    is_served = instance.topic_subscribed[instance.partition_topic]
    return locality if _is_informative(locality, is_served) else None


@kernel
def _is_informative(locality: RackLocality, is_served: Bools) -> bool:
    of_members = np.zeros(locality.n_racks + 1, dtype=np.bool_)
    of_members[locality.member] = True
    of_rows = np.zeros(locality.n_racks + 1, dtype=np.bool_)
    n_entries = 0
    for row in np.flatnonzero(is_served):
        entries = locality.racks[locality.offsets[row] : locality.offsets[row + 1]]
        of_rows[entries] = True
        n_entries += entries.size
    of_members[locality.n_racks] = False
    if not (of_members & of_rows).any():
        return False
    return bool(n_entries < of_rows.sum() * is_served.sum())


@kernel
def is_near(locality: RackLocality, member: int, row: int) -> bool:
    """Return whether a member is on a rack of the row; without a rack, it always is."""
    rack = locality.member[member]
    for one in locality.racks[locality.offsets[row] : locality.offsets[row + 1]]:
        if one == rack:
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
