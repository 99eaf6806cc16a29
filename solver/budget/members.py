"""Members as their hands need them, partitions as bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebalance.claims import Int64
from solver.peak_lag.bits import Counts, counts_of, mask_of
from solver.peak_lag.room import place_of
from solver.peak_lag.setting import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member; partitions as bits.

    Attributes
    ----------
    items : int64
        Partitions that it may hold.
    own, foreign : int
        Those it owns; those that others own.
    unit : int
        What a record weighs with it.
    """

    items: Int64
    own: int
    foreign: int
    unit: int
    counts: Counts


def members_of(setting: Setting, rows: Int64) -> list[Member]:
    """Lay out the members; bit k is partition ``rows[k]`` of the setting."""
    room = setting.room
    topic, owner = room.topic[rows], setting.owner[rows]
    members = []
    for c in range(room.unit.size):
        takes = np.array([place_of(room, int(t), c) >= 0 for t in topic], np.bool_)
        items = np.flatnonzero(takes).astype(np.int64)
        members.append(
            Member(
                items=items,
                own=mask_of(np.flatnonzero(takes & (owner == c))),
                foreign=mask_of(np.flatnonzero(takes & (owner >= 0) & (owner != c))),
                unit=int(room.unit[c]),
                counts=counts_of(room, c, rows),
            )
        )
    return members
