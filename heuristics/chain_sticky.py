"""``chain-sticky``: keep everything, then move along chains until none helps."""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from heuristics.order import text_order
from heuristics.takers import Takers, takers_of
from rebalance import Assignment, Instance
from rebalance.claims import NOBODY, Int32, Int64

_DONE: Final = 2**62


class ChainStickyAssignor:
    """Balanced as well as it can be, whoever subscribes to what, and sticky.

    Ours, and published nowhere else: the least that KIP-54's sticky assignor lacks
    where subscriptions are mixed. KIP-54 moves a partition from one member straight to
    another; here A may hand one to B so that B can hand another one to C.

    1. Every owner keeps what it owns and subscribes to.
    2. The rest goes topic by topic, those with the fewest subscribers first, each
       partition to the subscriber with the fewest so far.
    3. From the most laden member on, a breadth-first walk goes from member to the
       topics it holds, and from topic to their subscribers, until it meets one with at
       least two partitions less than where it began. One partition is handed on along
       each step of the way: that is the shortest chain there is. If there is none,
       whoever was met is done: all of them are level, and they hold nothing that
       others could take.

    4. What has moved goes home where its owner has fewer than its holder, or has
       another's partition to give in exchange, until nothing can.

    It ends: each chain lowers Σ load², and each return the number of moves. Loads are
    decreasingly minimal, so no assignment beats them: a chain exists wherever one
    does. Moves are few but not the fewest. Of the partitions that a step may hand on it
    takes one that returns to its owner, else one that has moved already.

    Ties: members by id, topics by name, partitions by number. Capacities, racks and
    lag do not count.
    """

    name = "chain-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, deal, and move along chains."""
        order = text_order(instance.members)
        takers = takers_of(instance, order)
        place = np.empty(order.size + 1, np.int32)
        place[order] = np.arange(order.size)
        place[NOBODY] = NOBODY
        owner = place[instance.owner]
        topics = text_order(instance.topics)
        wanted = (takers.last - takers.first)[topics]
        rarest_first = topics[np.argsort(wanted, kind="stable")]
        holder = _assigned(
            owner,
            takers,
            instance.topic_offsets,
            instance.partition_topic,
            rarest_first,
        )
        return Assignment(assignee=np.r_[order, NOBODY].astype(np.int32)[holder])


class _Held(NamedTuple):
    """Who holds what; M members by place, P partitions.

    Attributes
    ----------
    owner, holder : int32 (P,)
        -1 nobody.
    topic : int32 (P,)
    load : int64 (M,)
    first : int32 (M,)
        A partition that the member holds, -1 none.
    after, before : int32 (P,)
        The next one and the one before that its holder holds.
    """

    owner: Int32
    holder: Int32
    topic: Int32
    load: Int64
    first: Int32
    after: Int32
    before: Int32


class _Walk(NamedTuple):
    """Where walks have been, each with its number; `_DONE` where no more need go.

    Attributes
    ----------
    queue : int32 (M,)
        Members met, in order.
    giver : int32 (M,)
        Who hands the member a partition, -1 nobody.
    via : int32 (M,)
        Of which topic.
    met : int64 (M,)
    seen : int64 (T,)
    """

    queue: Int32
    giver: Int32
    via: Int32
    met: Int64
    seen: Int64


@njit(cache=True)
def _assigned(
    owner: Int32, takers: Takers, topic_offsets: Int64, topic: Int32, topics: Int64
) -> Int32:
    members, partitions = takers.order.size, owner.size
    held = _Held(
        owner,
        np.full(partitions, NOBODY, np.int32),
        topic,
        np.zeros(members, np.int64),
        np.full(members, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
        np.full(partitions, NOBODY, np.int32),
    )
    for p in range(partitions - 1, -1, -1):
        if owner[p] != NOBODY:
            _give(held, p, owner[p])
    _deal_rest(held, takers, topic_offsets, topics)
    _level(held, takers)
    while _go_home(held, takers):
        pass
    return held.holder


@njit(cache=True)
def _give(held: _Held, p: int, member: int) -> None:
    held.holder[p] = member
    held.load[member] += 1
    first = held.first[member]
    held.after[p], held.before[p] = first, NOBODY
    if first != NOBODY:
        held.before[first] = p
    held.first[member] = p


@njit(cache=True)
def _take(held: _Held, p: int) -> None:
    member, after, before = held.holder[p], held.after[p], held.before[p]
    held.load[member] -= 1
    if before == NOBODY:
        held.first[member] = after
    else:
        held.after[before] = after
    if after != NOBODY:
        held.before[after] = before


@njit(cache=True)
def _deal_rest(
    held: _Held, takers: Takers, topic_offsets: Int64, topics: Int64
) -> None:
    """Give what nobody owns to the least laden, topic by topic, from a heap of them.

    While a topic is dealt only the load of who receives changes, which stands first.
    """
    for t in topics:
        places = takers.places[takers.first[t] : takers.last[t]]
        free = [
            p
            for p in range(topic_offsets[t], topic_offsets[t + 1])
            if held.holder[p] == NOBODY
        ]
        if places.size == 0 or len(free) == 0:
            continue
        heap = places[np.argsort(held.load[places], kind="mergesort")].copy()
        for p in free:
            _give(held, p, heap[0])
            _sift_down(heap, held.load)


@njit(cache=True)
def _sift_down(heap: Int32, load: Int64) -> None:
    """Let the first of a heap by load, then place, sink to where it belongs."""
    at, member = 0, heap[0]
    while True:
        child = 2 * at + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size and _is_less(heap[child + 1], heap[child], load):
            child += 1
        if not _is_less(heap[child], member, load):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = member


@njit(cache=True)
def _is_less(one: int, other: int, load: Int64) -> bool:
    return load[one] < load[other] or (load[one] == load[other] and one < other)


@njit(cache=True)
def _level(held: _Held, takers: Takers) -> None:
    """Move along chains, always from the most laden member that is not done.

    Where there is no chain all that were met have its load or one less, so no chain
    of a member with no more load than it could end among them.
    """
    members = held.load.size
    walk = _Walk(
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.zeros(members, np.int64),
        np.zeros(takers.first.size, np.int64),
    )
    most_first = [(-held.load[m], m) for m in range(members)]
    heapq.heapify(most_first)
    number = 0
    while len(most_first) > 0:
        load, m = heapq.heappop(most_first)
        if -load != held.load[m] or walk.met[m] == _DONE:
            continue  # an entry from before its load changed
        number += 1
        receiver, count = _reach(held, takers, walk, m, number)
        if receiver == NOBODY:
            _finish(held, walk, count)
            continue
        _hand_on(held, walk, receiver)
        heapq.heappush(most_first, (-held.load[m], m))
        heapq.heappush(most_first, (-held.load[receiver], receiver))


@njit(cache=True)
def _reach(
    held: _Held, takers: Takers, walk: _Walk, start: int, number: int
) -> tuple[int, int]:
    """Find the nearest member that has two partitions less; and how many were met."""
    walk.queue[0], walk.giver[start], walk.met[start] = start, NOBODY, number
    count, at = 1, 0
    while at < count:
        giver = walk.queue[at]
        at += 1
        p = held.first[giver]
        while p != NOBODY:
            t = held.topic[p]
            p = held.after[p]
            if walk.seen[t] >= number:
                continue
            walk.seen[t] = number
            for m in takers.places[takers.first[t] : takers.last[t]]:
                if walk.met[m] >= number:
                    continue
                walk.met[m], walk.giver[m], walk.via[m] = number, giver, t
                if held.load[m] <= held.load[start] - 2:
                    return m, count
                walk.queue[count] = m
                count += 1
    return NOBODY, count


@njit(cache=True)
def _finish(held: _Held, walk: _Walk, count: int) -> None:
    """Let no walk come here again."""
    for m in walk.queue[:count]:
        walk.met[m] = _DONE
        p = held.first[m]
        while p != NOBODY:
            walk.seen[held.topic[p]] = _DONE
            p = held.after[p]


@njit(cache=True)
def _hand_on(held: _Held, walk: _Walk, receiver: int) -> None:
    """Hand a partition on along each step of a walk, the last step first."""
    while walk.giver[receiver] != NOBODY:
        giver = walk.giver[receiver]
        p = _choice(held, giver, walk.via[receiver], receiver)
        _take(held, p)
        _give(held, p, receiver)
        receiver = giver


@njit(cache=True)
def _choice(held: _Held, giver: int, topic: int, receiver: int) -> int:
    """Choose a partition: the receiver's own, else not the giver's; of the least."""
    best, best_rank = NOBODY, 3
    p = held.first[giver]
    while p != NOBODY:
        if held.topic[p] == topic:
            owner = held.owner[p]
            rank = 0 if owner == receiver else 2 if owner == giver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = held.after[p]
    return best


@njit(cache=True)
def _go_home(held: _Held, takers: Takers) -> int:
    """Let partitions return to their owners; return how many did."""
    count = 0
    for p in range(held.owner.size):
        home, holder = held.owner[p], held.holder[p]
        if home == NOBODY:
            continue
        if home == holder:
            continue
        if held.load[holder] <= held.load[home]:
            other = _foreign(held, takers, home, holder)
            if other == NOBODY:
                continue
            _take(held, other)
            _give(held, other, holder)
        _take(held, p)
        _give(held, p, home)
        count += 1
    return count


@njit(cache=True)
def _foreign(held: _Held, takers: Takers, member: int, receiver: int) -> int:
    """Find what a member holds without owning it and another may have: the least."""
    best, best_rank = NOBODY, 2
    p = held.first[member]
    while p != NOBODY:
        owner = held.owner[p]
        if owner != member and _subscribes(takers, receiver, held.topic[p]):
            rank = 0 if owner == receiver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = held.after[p]
    return best


@njit(cache=True)
def _subscribes(takers: Takers, member: int, topic: int) -> bool:
    places = takers.places[takers.first[topic] : takers.last[topic]]
    at = np.searchsorted(places, member)
    return bool(at < places.size and places[at] == member)
