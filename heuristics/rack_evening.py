"""Mixed subscriptions, racks first (KIP-881): the step that ``sticky`` adds.

Follows ``GeneralAssignmentBuilder`` of ``AbstractStickyAssignor`` where members and
replicas tell racks (Kafka 4.4.0 and 3.9.2).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.balancing_step import Standing, sink
from heuristics.rack_locality import Reach
from heuristics.takers import Takers
from rebalance import NOBODY, Int32, Int64


@njit(cache=True)
def give_out_near(
    now: Standing, topics: Int64, takers: Takers, topic_offsets: Int64, reach: Reach
) -> None:
    """Give each partition that nobody has to its near subscriber with the least load.

    What has no near subscriber stays free. A heap of load · M + place for each rack of
    a topic's subscribers, in one array: only the least entry of one ever changes.
    """
    holder, load = now.holder, now.load
    first = np.empty(reach.n_racks + 2, dtype=np.int64)
    for t in topics:
        places = takers.places[takers.first[t] : takers.last[t]]
        start, end = topic_offsets[t], topic_offsets[t + 1]
        if places.size == 0 or (holder[start:end] != NOBODY).all():
            continue
        heaps = _heaps(places, load, takers, reach, first)
        for row in range(start, end):
            if holder[row] != NOBODY:
                continue
            rack = _rack_of_least(heaps, first, row, reach)
            if rack == NOBODY:
                continue
            place = heaps[first[rack]] % load.size
            holder[row] = place
            load[place] += 1
            heaps[first[rack]] += load.size
            sink(heaps[first[rack] : first[rack + 1]])


@njit(cache=True)
def _heaps(
    places: Int32, load: Int64, takers: Takers, reach: Reach, first: Int64
) -> Int64:
    """Lay the racks' heaps out one behind the other; ``first`` tells where."""
    rack = reach.member[takers.order[places]]
    first[:] = 0
    for one in rack:
        first[one + 1] += 1
    first[:] = np.cumsum(first)
    heaps = np.empty(places.size, dtype=np.int64)
    fill = first.copy()
    for i in range(places.size):
        heaps[fill[rack[i]]] = load[places[i]] * load.size + places[i]
        fill[rack[i]] += 1
    for one in range(reach.n_racks + 1):
        heaps[first[one] : first[one + 1]].sort()  # sorted: a heap
    return heaps


@njit(cache=True)
def _rack_of_least(heaps: Int64, first: Int64, row: int, reach: Reach) -> int:
    """Find the row's rack whose heap has the least entry of all the row's."""
    best = NOBODY
    for rack in reach.racks[reach.offsets[row] : reach.offsets[row + 1]]:
        if first[rack] == first[rack + 1]:
            continue
        if best == NOBODY or heaps[first[rack]] < heaps[first[best]]:
            best = rack
    return int(best)
