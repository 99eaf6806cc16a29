"""``chain-sticky``: dec-min by shortest chains of transfers (breadth-first)."""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np

from heuristics.assignment_state import AssignmentState, empty_state, give, take
from heuristics.balancing_step import assign_free, balancing_state_of
from heuristics.eligible_members import (
    EligibleMembers,
    by_subscribers,
    eligible_members_of,
    is_eligible,
)
from heuristics.group_columns import Columns, GroupColumns, columns_of
from heuristics.order import looked_up, places_of
from rebalance import (
    NOBODY,
    Assignment,
    Instance,
    Int32,
    Int64,
    borrowing_kernel,
    kernel,
)

_DONE: Final = 2**62


class ChainStickyAssignor:
    """Dec-min loads for any subscriptions, sticky but not optimal in moves.

    Our own; not published elsewhere. It adds to KIP-54's sticky assignor a step for
    heterogeneous subscriptions: KIP-54 transfers a partition directly from one member
    to another; here A can pass one to B so that B can pass another one to C.

    1. Every owner keeps its claims on topics of its subscription.
    2. The rest is assigned greedily: topics with the fewest subscribers first, each
       partition to the subscriber with the smallest load.
    3. From the most loaded member, a breadth-first search alternates between members
       and the topics they hold, until it reaches a member with at least two partitions
       less. One partition is passed along each step: this is a shortest chain. Without
       a chain, all members reached are closed: their loads differ by at most one, and
       they hold nothing that other members could take.
    4. A moved partition returns home if its owner has a smaller load than its holder,
       or can give a partition of another owner in exchange, until nothing changes.

    It terminates: each chain lowers the sum of squares of the loads, and each return
    lowers the number of moves. Loads are dec-min, because a chain exists wherever they
    are not. Moves are few but not minimal. Of the partitions that a step can pass on,
    it selects one that returns to its owner, else one that has already moved.

    Ties: members by id, topics by name, partitions by number. Capacities, racks, and
    lag do not count.
    """

    name = "chain-sticky"

    def refuses(self, instance: Instance) -> str | None:  # noqa: ARG002
        """Refuse nothing."""
        return None

    def assign(self, instance: Instance) -> Assignment:
        """Keep, assign greedily, and transfer along chains."""
        columns, topic = columns_of(instance), instance.partition_topic
        return Assignment(assignee=chain_sticky(columns, topic, instance.owner))


@kernel
def chain_sticky(columns: Columns, topic: Int32, owner: Int32) -> Int32:
    """Keep, assign greedily, and transfer along chains."""
    group = GroupColumns(*columns)
    eligible = eligible_members_of(group)
    topics = by_subscribers(group.topics, eligible)
    home = places_of(group.members, owner)
    state = balancing_state_of(home.copy(), group.members.size)
    assign_free(state, topics, eligible, group.topic_offsets)
    return looked_up(group.members, _levelled(home, state.holder, topic, eligible))


class _ChainState(NamedTuple):
    """Owners and holders; M members by place, P partitions.

    Attributes
    ----------
    owner : int32 (P,)
        -1 nobody.
    topic : int32 (P,)
    load : int64 (M,)
    state : AssignmentState
    """

    owner: Int32
    topic: Int32
    load: Int64
    state: AssignmentState


class _Walk(NamedTuple):
    """State of breadth-first searches, each with a number; `_DONE` closes a member.

    Attributes
    ----------
    queue : int32 (M,)
        Members met, in order.
    giver : int32 (M,)
        Member that passes a partition to it; -1: none.
    via : int32 (M,)
        Topic of that partition.
    met : int64 (M,)
    seen : int64 (T,)
    """

    queue: Int32
    giver: Int32
    via: Int32
    met: Int64
    seen: Int64


@kernel
def _levelled(
    owner: Int32, holder: Int32, topic: Int32, eligible: EligibleMembers
) -> Int32:
    members, partitions = eligible.order.size, owner.size
    state = empty_state(members, partitions)
    group = _ChainState(owner, topic, np.zeros(members, np.int64), state)
    for p in range(partitions - 1, -1, -1):
        if holder[p] != NOBODY:
            _give(group, p, holder[p])
    _level(group, eligible)
    while _go_home(group, eligible):
        pass
    return group.state.holder


@borrowing_kernel
def _give(group: _ChainState, p: int, member: int) -> None:
    give(group.state, p, member)
    group.load[member] += 1


@borrowing_kernel
def _take(group: _ChainState, p: int) -> None:
    group.load[group.state.holder[p]] -= 1
    take(group.state, p)


@kernel
def _level(group: _ChainState, eligible: EligibleMembers) -> None:
    """Transfer along chains, always from the most loaded member that is not closed.

    If no chain starts there, all members reached have its load or one less, so no chain
    of a member with at most that load can end among them.
    """
    members = group.load.size
    walk = _Walk(
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.empty(members, np.int32),
        np.zeros(members, np.int64),
        np.zeros(eligible.first.size, np.int64),
    )
    most_first = [(-group.load[m], m) for m in range(members)]
    heapq.heapify(most_first)
    number = 0
    while len(most_first) > 0:
        load, m = heapq.heappop(most_first)
        if -load != group.load[m] or walk.met[m] == _DONE:
            continue  # an outdated entry: the load has changed
        number += 1
        receiver, count = _reach(group, eligible, walk, m, number)
        if receiver == NOBODY:
            _finish(group, walk, count)
            continue
        _hand_on(group, walk, receiver)
        heapq.heappush(most_first, (-group.load[m], m))
        heapq.heappush(most_first, (-group.load[receiver], receiver))


@borrowing_kernel
def _reach(
    group: _ChainState, eligible: EligibleMembers, walk: _Walk, start: int, number: int
) -> tuple[int, int]:
    """Return the nearest member with two partitions less, and how many were reached."""
    walk.queue[0], walk.giver[start], walk.met[start] = start, NOBODY, number
    count, at = 1, 0
    while at < count:
        giver = walk.queue[at]
        at += 1
        p = group.state.first[giver]
        while p != NOBODY:
            t = group.topic[p]
            p = group.state.after[p]
            if walk.seen[t] >= number:
                continue
            walk.seen[t] = number
            for m in eligible.places[eligible.first[t] : eligible.last[t]]:
                if walk.met[m] >= number:
                    continue
                walk.met[m], walk.giver[m], walk.via[m] = number, giver, t
                if group.load[m] <= group.load[start] - 2:
                    return m, count
                walk.queue[count] = m
                count += 1
    return NOBODY, count


@borrowing_kernel
def _finish(group: _ChainState, walk: _Walk, count: int) -> None:
    """Close the members reached for all later searches."""
    for m in walk.queue[:count]:
        walk.met[m] = _DONE
        p = group.state.first[m]
        while p != NOBODY:
            walk.seen[group.topic[p]] = _DONE
            p = group.state.after[p]


@borrowing_kernel
def _hand_on(group: _ChainState, walk: _Walk, receiver: int) -> None:
    """Transfer one partition along each step of a path, the last step first."""
    while walk.giver[receiver] != NOBODY:
        giver = walk.giver[receiver]
        p = _choice(group, giver, walk.via[receiver], receiver)
        _take(group, p)
        _give(group, p, receiver)
        receiver = giver


@borrowing_kernel
def _choice(group: _ChainState, giver: int, topic: int, receiver: int) -> int:
    """Select a partition: the receiver's own, else one the giver does not own."""
    best, best_rank = NOBODY, 3
    p = group.state.first[giver]
    while p != NOBODY:
        if group.topic[p] == topic:
            owner = group.owner[p]
            rank = 0 if owner == receiver else 2 if owner == giver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = group.state.after[p]
    return best


@kernel
def _go_home(group: _ChainState, eligible: EligibleMembers) -> int:
    """Return partitions to their owners, and return their number."""
    count = 0
    for p in range(group.owner.size):
        home, holder = group.owner[p], group.state.holder[p]
        if home == NOBODY:
            continue
        if home == holder:
            continue
        if group.load[holder] <= group.load[home]:
            other = _foreign(group, eligible, home, holder)
            if other == NOBODY:
                continue
            _take(group, other)
            _give(group, other, holder)
        _take(group, p)
        _give(group, p, home)
        count += 1
    return count


@kernel
def _foreign(
    group: _ChainState, eligible: EligibleMembers, member: int, receiver: int
) -> int:
    """Return a held partition that is not owned and that the other member can take."""
    best, best_rank = NOBODY, 2
    p = group.state.first[member]
    while p != NOBODY:
        owner = group.owner[p]
        if owner != member and is_eligible(eligible, group.topic[p], receiver):
            rank = 0 if owner == receiver else 1
            if rank < best_rank or (rank == best_rank and p < best):
                best, best_rank = p, rank
        p = group.state.after[p]
    return best
