"""A room with nothing but partitions that have lag, where that loses little.

Where most partitions have none, exchanges would mostly move what weighs nothing. The
others are exchanged by themselves, within limits that leave a place for all the rest;
`solver.peak_lag.fill` finds those places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebalance.claims import NOBODY, Int32, Int64
from solver.peak_lag.fill import fill
from solver.peak_lag.room import FREE, Room


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """The partitions with lag, and the room they are in.

    Attributes
    ----------
    whole, room : Room
    rows : int64
        Where they are in the whole.
    """

    whole: Room
    room: Room
    rows: Int64

    def may_hold(self, holder: Int32) -> bool:
        """Tell whether holders of the whole keep to the limits here."""
        counts = np.bincount(
            self._cells(holder[self.rows]), minlength=self.room.most.size
        )
        return bool((counts <= self.room.most).all())

    def filled(self, held: Int32) -> Int32 | None:
        """Return holders of the whole from those here; None if there is no place."""
        holder = np.full(self.whole.lag.size, NOBODY, np.int32)
        holder[self.rows] = held
        return holder if fill(self.whole, holder) else None

    def _cells(self, held: Int32) -> Int64:
        room = self.room
        if not room.by_topic:
            return room.cell[held]
        # Topics of a class are ascending, so class and topic together are too.
        topics = room.topic_first.size - 1
        classes = np.repeat(np.arange(room.first.size - 1), np.diff(room.first))
        wanted = room.member_class[held].astype(np.int64)
        at = np.searchsorted(classes * topics + room.open, wanted * topics + room.topic)
        return np.asarray(room.cell[held] + at - room.first[wanted])


def busy_of(room: Room) -> Busy | None:
    """Leave out what has no lag; None if that is not most, or its places may be taken.

    A pool with as many extras as partitions with lag has a place for whatever they do;
    of others they may have no extras.
    """
    rows = np.flatnonzero(room.lag > 0)
    is_alone = room.by_topic or room.first.size == 2 or bool((room.most == FREE).all())
    if not is_alone or 2 * rows.size > room.lag.size:
        return None
    behind = np.zeros(room.extra.size, np.int64)
    if room.by_topic:
        np.add.at(behind, room.topic[rows], 1)
    else:
        behind[:] = rows.size
    enough = behind <= room.extra
    most = np.where(enough[room.pool], room.most, room.least)
    places = np.zeros(room.extra.size, np.int64)
    np.add.at(places, room.pool, most)
    if (places < behind).any():
        return None
    small = room._replace(
        lag=room.lag[rows],
        topic=room.topic[rows],
        least=np.zeros_like(room.least),
        most=most,
    )
    return Busy(whole=room, room=small, rows=rows)
