"""Who has the largest lag of a topic has the least count of the others beside it.

That is ``topic-crowd`` with K the largest lag of one topic. With K from all topics at
once (`terms`) a larger lag of another topic may hide it, though that one
lies beside less.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from solver.peak_lag.kinds import load_bounds_of
from solver.peak_lag.room import Room
from solver.peak_lag.terms import member_kinds

_UNSEATED: Final = np.iinfo(np.int64).max


class Beside(NamedTuple):
    """A topic of the room, its largest lag, and what that proves."""

    topic: int
    at_least: int
    bound: int


def best_beside(room: Room) -> Beside | None:
    """Find the topic whose largest lag proves most.

    Returns
    -------
    Beside or None
        None if counts are not limited topic by topic, or there are no two topics.
    """
    n_topics = room.topic_first.size - 1
    if not room.by_topic or n_topics < 2 or not room.lag.size:
        return None
    ascending = room.lag[np.lexsort((room.lag, room.topic))]
    until = np.r_[0, np.cumsum(ascending)]
    ends = np.searchsorted(room.topic, np.arange(n_topics + 1))
    lowest = np.full(n_topics, _UNSEATED)
    for c, _ in member_kinds(room):
        k = int(room.member_class[c])
        topics = room.open[room.first[k] : room.first[k + 1]]
        cells = load_bounds_of(room, c)
        least, first, end = room.least[cells], ends[topics], ends[topics + 1]
        smallest = until[first + least] - until[first]
        own = until[first + np.maximum(least - 1, 0)] - until[first]
        held = (smallest.sum() - smallest + own + ascending[end - 1]) * room.unit[c]
        may = (room.most[cells] > 0) & (end > first)
        lowest[topics[may]] = np.minimum(lowest[topics[may]], held[may])
    lowest[lowest == _UNSEATED] = 0
    best = int(lowest.argmax())
    at_least = int(ascending[ends[best + 1] - 1])
    return Beside(best, at_least, int(lowest[best]))
