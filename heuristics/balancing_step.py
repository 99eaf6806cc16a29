"""Greedy assignment to the least loaded member, then balancing by single transfers.

Both steps of the general path of ``AbstractStickyAssignor`` (KIP-54). Members are
places in an order of members (`heuristics.eligible_members`); among equal loads, the
first place counts as the least loaded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.eligible_members import EligibleMembers
from rebalance import NOBODY, Bools, Int32, Int64, borrowing_kernel, kernel


class BalancingState(NamedTuple):
    """Holder of each partition, and where it was before it moved.

    Attributes
    ----------
    holder : int32 (P,)
        Place of the member that holds the partition, or `NOBODY`.
    load : int64 (M,)
        Partitions at each place.
    source : int32 (P,)
        Place that held the partition before its moves; `NOBODY` if it has not moved.
    """

    holder: Int32
    load: Int64
    source: Int32


@kernel
def balancing_state_of(holder: Int32, members: int) -> BalancingState:
    """Return the state before any move."""
    load = np.zeros(members, dtype=np.int64)
    for place in holder:
        if place != NOBODY:
            load[place] += 1
    return BalancingState(holder, load, np.full_like(holder, NOBODY))


@kernel
def assign_free(
    state: BalancingState,
    topics: Int64,
    eligible: EligibleMembers,
    topic_offsets: Int64,
) -> None:
    """Assign each free partition to its subscriber with the least load.

    One heap per topic, with keys load · M + place: only the least entry ever changes.
    """
    holder, load = state.holder, state.load
    for t in topics:
        places = eligible.places[eligible.first[t] : eligible.last[t]]
        rows = range(topic_offsets[t], topic_offsets[t + 1])
        if places.size == 0 or (holder[rows.start : rows.stop] != NOBODY).all():
            continue
        heap = np.sort(load[places] * load.size + places)  # sorted: a heap
        for row in rows:
            if holder[row] == NOBODY:
                place = heap[0] % load.size
                holder[row] = place
                load[place] += 1
                heap[0] += load.size
                sink(heap)


@borrowing_kernel
def sink(heap: Int64) -> None:
    """Restore the heap order after its root has grown (sift down)."""
    value, i, child = heap[0], 0, 1
    while child < heap.size:
        if child + 1 < heap.size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = value


@kernel
def balance_loads(
    state: BalancingState,
    previous: Int32,
    is_movable: Bools,
    topics: Int64,
    eligible: EligibleMembers,
    topic_offsets: Int64,
) -> None:
    """Move partitions topic by topic until no single transfer improves balance.

    Terminates: the giver of a move has at least two partitions more than the receiver,
    so each move lowers the sum of squares of the loads by at least two.

    Parameters
    ----------
    state : BalancingState
        Changed in place.
    previous : int32 (P,)
        Place of the previous owner, which is the preferred receiver; or `NOBODY`.
    is_movable : bool (P,)
    topics : int64
        In processing order.
    """
    sent = np.zeros(state.load.size, dtype=np.int64)
    has_moved = True
    while has_moved:
        has_moved = False
        for t in topics:
            first, last = topic_offsets[t], topic_offsets[t + 1]
            places = eligible.places[eligible.first[t] : eligible.last[t]]
            if places.size < 2:
                continue
            for place in state.source[first:last]:
                if place != NOBODY:
                    sent[place] += 1
            if _balance_topic(state, previous, is_movable, first, last, places, sent):
                has_moved = True
            for place in state.source[first:last]:
                if place != NOBODY:
                    sent[place] = 0


@kernel
def _balance_topic(
    state: BalancingState,
    previous: Int32,
    is_movable: Bools,
    first: int,
    last: int,
    places: Int32,
    sent: Int64,
) -> bool:
    """Balance one topic in one pass; return whether a partition has moved.

    ``sent`` counts, per place, the topic's partitions that moved away from it.
    """
    load, has_moved = state.load, False
    least = places[np.argmin(load[places])]
    for row in range(first, last):
        if not is_movable[row]:
            continue
        most, before = load[state.holder[row]] - 1, previous[row]
        if before != NOBODY and load[before] < most:
            receiver = before
        elif load[least] < most:
            receiver = least
        else:
            continue
        _move(
            state, _substitute(state, row, receiver, first, last, sent), receiver, sent
        )
        least = places[np.argmin(load[places])]
        has_moved = True
    return has_moved


@borrowing_kernel
def _substitute(
    state: BalancingState, row: int, receiver: int, first: int, last: int, sent: Int64
) -> int:
    """Return the row to move: a partition that returns home is preferred to ``row``.

    Such a partition is held by the origin of ``row`` and originates from the receiver;
    among several, the lowest number. The origin must have at least two partitions more
    than the receiver: otherwise the move would not improve balance, and the passes need
    not terminate.
    """
    origin = state.source[row]
    if origin == NOBODY:
        origin = state.holder[row]
    if sent[receiver] > 0 and state.load[origin] > state.load[receiver] + 1:
        for other in range(first, last):
            if state.source[other] == receiver and state.holder[other] == origin:
                return other
    return row


@borrowing_kernel
def _move(state: BalancingState, row: int, receiver: int, sent: Int64) -> None:
    """Move a partition; keep its place before its first move."""
    giver, origin = state.holder[row], state.source[row]
    if origin == NOBODY:
        origin = giver
    else:
        sent[origin] -= 1
    if origin == receiver:
        state.source[row] = NOBODY
    else:
        state.source[row] = origin
        sent[origin] += 1
    state.holder[row] = receiver
    state.load[giver] -= 1
    state.load[receiver] += 1
