"""``chain-sticky``: keep everything, then move along chains until none helps."""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from heuristics.assignment_state import Held, give, nothing_held, take
from heuristics.balancing_step import give_out, standing_of
from heuristics.order import looked_up, places_of, text_order
from heuristics.takers import Takers, by_subscribers, is_taker, takers_of
from rebalance import NOBODY, Assignment, Instance, Int32, Int64

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
        now = standing_of(places_of(order, instance.owner), members=order.size)
        owner = now.holder.copy()
        topics = by_subscribers(instance, takers)
        give_out(now, topics, takers, instance.topic_offsets)
        holder = _levelled(owner, now.holder, instance.partition_topic, takers)
        return Assignment(assignee=looked_up(order.astype(np.int32), holder))


class _Group(NamedTuple):
    """Who owns and who holds what; M members by place, P partitions.

    Attributes
    ----------
    owner : int32 (P,)
        -1 nobody.
    topic : int32 (P,)
    load : int64 (M,)
    held : Held
    """

    owner: Int32
    topic: Int32
    load: Int64
    held: Held


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
def _levelled(owner: Int32, holder: Int32, topic: Int32, takers: Takers) -> Int32:
    members, partitions = takers.order.size, owner.size
    held = nothing_held(members, partitions)
    group = _Group(owner, topic, np.zeros(members, np.int64), held)
    for p in range(partitions - 1, -1, -1):
        if holder[p] != NOBODY:
            _give(group, p, holder[p])
    _level(group, takers)
    while _go_home(group, takers):
        pass
    return group.held.holder


@njit(cache=True)
def _give(group: _Group, p: int, member: int) -> None:
    give(group.held, p, member)
    group.load[member] += 1


@njit(cache=True)
def _take(group: _Group, p: int) -> None:
    group.load[group.held.holder[p]] -= 1
    take(group.held, p)


@njit(cache=True)
def _level(group: _Group, takers: Takers) -> None:
    """Move along chains, always from the most laden member that is not done.

    Where there is no chain all that were met have its load or one less, so no chain
    of a member with no more load than it could end among them.
    """
    members = group.load.size
    walk = _Walk(
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.zeros(members, np.int64),
        np.zeros(takers.first.size, np.int64),
    )
    most_first = [(-group.load[m], m) for m in range(members)]
    heapq.heapify(most_first)
    number = 0
    while len(most_first) > 0:
        load, m = heapq.heappop(most_first)
        if -load != group.load[m] or walk.met[m] == _DONE:
            continue  # an entry from before its load changed
        number += 1
        receiver, count = _reach(group, takers, walk, m, number)
        if receiver == NOBODY:
            _finish(group, walk, count)
            continue
        _hand_on(group, walk, receiver)
        heapq.heappush(most_first, (-group.load[m], m))
        heapq.heappush(most_first, (-group.load[receiver], receiver))


@njit(cache=True)
def _reach(
    group: _Group, takers: Takers, walk: _Walk, start: int, number: int
) -> tuple[int, int]:
    """Find the nearest member that has two partitions less; and how many were met."""
    walk.queue[0], walk.giver[start], walk.met[start] = start, NOBODY, number
    count, at = 1, 0
    while at < count:
        giver = walk.queue[at]
        at += 1
        p = group.held.first[giver]
        while p != NOBODY:
            t = group.topic[p]
            p = group.held.after[p]
            if walk.seen[t] >= number:
                continue
            walk.seen[t] = number
            for m in takers.places[takers.first[t] : takers.last[t]]:
                if walk.met[m] >= number:
                    continue
                walk.met[m], walk.giver[m], walk.via[m] = number, giver, t
                if group.load[m] <= group.load[start] - 2:
                    return m, count
                walk.queue[count] = m
                count += 1
    return NOBODY, count


@njit(cache=True)
def _finish(group: _Group, walk: _Walk, count: int) -> None:
    """Let no walk come here again."""
    for m in walk.queue[:count]:
        walk.met[m] = _DONE
        p = group.held.first[m]
        while p != NOBODY:
            walk.seen[group.topic[p]] = _DONE
            p = group.held.after[p]


@njit(cache=True)
def _hand_on(group: _Group, walk: _Walk, receiver: int) -> None:
    """Hand a partition on along each step of a walk, the last step first."""
    while walk.giver[receiver] != NOBODY:
        giver = walk.giver[receiver]
        p = _choice(group, giver, walk.via[receiver], receiver)
        _take(group, p)
        _give(group, p, receiver)
        receiver = giver


@njit(cache=True)
def _choice(group: _Group, giver: int, topic: int, receiver: int) -> int:
    """Choose a partition: the receiver's own, else not the giver's; of the least."""
    best, best_rank = NOBODY, 3
    p = group.held.first[giver]
    while p != NOBODY:
        if group.topic[p] == topic:
            owner = group.owner[p]
            rank = 0 if owner == receiver else 2 if owner == giver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = group.held.after[p]
    return best


@njit(cache=True)
def _go_home(group: _Group, takers: Takers) -> int:
    """Let partitions return to their owners; return how many did."""
    count = 0
    for p in range(group.owner.size):
        home, holder = group.owner[p], group.held.holder[p]
        if home == NOBODY:
            continue
        if home == holder:
            continue
        if group.load[holder] <= group.load[home]:
            other = _foreign(group, takers, home, holder)
            if other == NOBODY:
                continue
            _take(group, other)
            _give(group, other, holder)
        _take(group, p)
        _give(group, p, home)
        count += 1
    return count


@njit(cache=True)
def _foreign(group: _Group, takers: Takers, member: int, receiver: int) -> int:
    """Find what a member holds without owning it and another may have: the least."""
    best, best_rank = NOBODY, 2
    p = group.held.first[member]
    while p != NOBODY:
        owner = group.owner[p]
        if owner != member and is_taker(takers, group.topic[p], receiver):
            rank = 0 if owner == receiver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = group.held.after[p]
    return best
