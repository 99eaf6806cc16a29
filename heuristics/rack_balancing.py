"""Greedy assignment to the least loaded member on a rack of a replica (KIP-881).

The step that ``sticky`` adds for heterogeneous subscriptions. Follows
``GeneralAssignmentBuilder`` of ``AbstractStickyAssignor`` for members and replicas with
racks (Kafka 4.4.0 and 3.9.2).
"""

from __future__ import annotations

import numpy as np

from heuristics.balancing_step import BalancingState, sink
from heuristics.eligible_members import EligibleMembers
from heuristics.rack_locality import RackLocality
from rebalance import NOBODY, Int32, Int64, borrowing_kernel, kernel


@kernel
def assign_free_nearby(
    state: BalancingState,
    topics: Int64,
    eligible: EligibleMembers,
    topic_offsets: Int64,
    locality: RackLocality,
) -> None:
    """Assign each free partition to its nearby subscriber with the least load.

    A partition without a nearby subscriber stays free. One heap per rack of a topic's
    subscribers, with keys load · M + place, all in one array: only the least entry of a
    heap ever changes.
    """
    holder, load = state.holder, state.load
    first = np.empty(locality.n_racks + 2, dtype=np.int64)
    for t in topics:
        places = eligible.places[eligible.first[t] : eligible.last[t]]
        start, end = topic_offsets[t], topic_offsets[t + 1]
        if places.size == 0 or (holder[start:end] != NOBODY).all():
            continue
        heaps = _heaps(places, load, eligible, locality, first)
        for row in range(start, end):
            if holder[row] != NOBODY:
                continue
            rack = _rack_of_least(heaps, first, row, locality)
            if rack == NOBODY:
                continue
            place = heaps[first[rack]] % load.size
            holder[row] = place
            load[place] += 1
            heaps[first[rack]] += load.size
            sink(heaps[first[rack] : first[rack + 1]])


@kernel
def _heaps(
    places: Int32,
    load: Int64,
    eligible: EligibleMembers,
    locality: RackLocality,
    first: Int64,
) -> Int64:
    """Lay out the heaps of all racks in one array; rack r starts at ``first[r]``."""
    rack = locality.member[eligible.order[places]]
    first[:] = 0
    for number in rack:
        first[number + 1] += 1
    first[:] = np.cumsum(first)
    heaps = np.empty(places.size, dtype=np.int64)
    fill = first.copy()
    for i in range(places.size):
        heaps[fill[rack[i]]] = load[places[i]] * load.size + places[i]
        fill[rack[i]] += 1
    for number in range(locality.n_racks + 1):
        heaps[first[number] : first[number + 1]].sort()  # sorted: a heap
    return heaps


@borrowing_kernel
def _rack_of_least(heaps: Int64, first: Int64, row: int, locality: RackLocality) -> int:
    """Return the rack of a row whose heap has the least entry, or `NOBODY`."""
    best = NOBODY
    for rack in locality.racks[locality.offsets[row] : locality.offsets[row + 1]]:
        if first[rack] == first[rack + 1]:
            continue
        if best == NOBODY or heaps[first[rack]] < heaps[first[best]]:
            best = rack
    return int(best)
