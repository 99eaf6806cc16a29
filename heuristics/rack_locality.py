"""Where members read and replicas are: what every rack-aware assignor looks up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance import NOBODY, Bools, Instance, Int32, Int64, Racks

NONE = -1


class Reach(NamedTuple):
    """Members' and replicas' racks, with one rack more that is everywhere.

    Attributes
    ----------
    member : int64 (M,)
        Rack of each member; one that tells none is on rack ``n_racks``.
    offsets, racks : int64
        Row p is on ``racks[offsets[p]:offsets[p+1]]``; the last is ``n_racks``.
    n_racks : int
    """

    member: Int64
    offsets: Int64
    racks: Int64
    n_racks: int


def reach_of(racks: Racks) -> Reach:
    """Lay racks out."""
    n_racks = len(racks.names)
    member = racks.member.astype(np.int64)
    # An empty name is a rack to a replica, but none to a consumer.
    is_none = (member == NONE) | (member == _code_of_empty(racks))
    each = np.arange(racks.offsets.size, dtype=np.int64)
    return Reach(
        np.where(is_none, n_racks, member),
        racks.offsets + each,
        np.insert(racks.replicas.astype(np.int64), racks.offsets[1:], n_racks),
        n_racks,
    )


def _code_of_empty(racks: Racks) -> int:
    return 0 if racks.names[:1] == ("",) else NONE


def telling_reach(instance: Instance) -> Reach | None:
    """Lay racks out if they tell something about the group as a whole.

    They do if a member is on a rack of a replica, and not every partition that is
    served has replicas on the same racks. None: they do not, or there are none.
    """
    if instance.racks is None:
        return None
    reach = reach_of(instance.racks)
    is_served = instance.topic_subscribed[instance.partition_topic]
    return reach if _tells(reach, is_served) else None


@njit(cache=True)
def _tells(reach: Reach, is_served: Bools) -> bool:
    of_members = np.zeros(reach.n_racks + 1, dtype=np.bool_)
    of_members[reach.member] = True
    of_rows = np.zeros(reach.n_racks + 1, dtype=np.bool_)
    n_entries = 0
    for row in np.flatnonzero(is_served):
        entries = reach.racks[reach.offsets[row] : reach.offsets[row + 1]]
        of_rows[entries] = True
        n_entries += entries.size
    of_members[reach.n_racks] = False
    if not (of_members & of_rows).any():
        return False
    return bool(n_entries < of_rows.sum() * is_served.sum())


@njit(cache=True)
def is_near(reach: Reach, member: int, row: int) -> bool:
    """Tell whether a member is on a rack of the row; who tells none is near all."""
    rack = reach.member[member]
    for one in reach.racks[reach.offsets[row] : reach.offsets[row + 1]]:
        if one == rack:
            return True
    return False


@njit(cache=True)
def near_owners(owner: Int32, reach: Reach) -> Int32:
    """Leave out the owners that are far from what they own."""
    near = owner.copy()
    for row in range(owner.size):
        if owner[row] != NOBODY and not is_near(reach, owner[row], row):
            near[row] = NOBODY
    return near
