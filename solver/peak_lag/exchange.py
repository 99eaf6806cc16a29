"""Exchange: two members release partitions and share them out anew, near a target.

The destroy and repair step of a large neighbourhood search (Shaw, *Using constraint
programming and local search methods to solve vehicle routing problems*, 1998): draw a
few partitions of two members, then choose who receives which by `subset_sum`, exactly.
Eligibility and limits of counts hold after every exchange if they held before.
Partitions without lag are interchangeable and are not drawn: they fill up the counts.

Random numbers follow Steele, Lea and Flood, *Fast splittable pseudorandom number
generators*, 2014 (SplitMix64): one word of state, the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebalance import Int32, Int64, always_compiled
from solver.peak_lag.feasible_region import (
    END,
    FeasibleRegion,
    MemberLists,
    cell_of,
    reassign,
    topic_position,
)
from solver.peak_lag.subset_sum import NO_SUBSET, nearest_sums

RandomState = NDArray[np.uint64]
"""uint64 (1,); the seed at first."""


@always_compiled
def random_below(rng: RandomState, end: int) -> int:
    """Draw an integer from 0 to ``end`` - 1; 0 if there is none."""
    if end <= 1:
        return 0
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(z % np.uint64(end))  # type: ignore[return-value]


class SearchState(NamedTuple):
    """An assignment that a local search changes, and its constraints."""

    region: FeasibleRegion
    lists: MemberLists
    owner: Int32  # (P,): if moves and counts of members are fixed; else empty
    cap: Int64  # (M,): lag that each member may hold
    rng: RandomState


class Released(NamedTuple):
    """N partitions that members have released, in G groups, and F without lag.

    A group is a topic where counts are limited by topic; partitions that one of the
    members owns, or none of them, where moves are fixed; else there is one group.
    """

    item: Int64  # (N,): partitions, group by group
    group: Int64  # (N,)
    topic: Int64  # (G,): of a group's first partition; determines its cells
    filler: (
        Int64  # (F,): all that the members hold without lag; none if moves are fixed
    )
    filler_offsets: Int64  # (G+1,)


@always_compiled
def excess_of(state: SearchState, members: Int64) -> int:
    """Return the lag of some members above their caps."""
    excess = 0
    for c in members:
        excess += max(state.lists.total[c] - state.cap[c], 0)
    return excess


@always_compiled
def release(state: SearchState, members: Int64, items: int) -> Released:
    """Draw up to ``items`` partitions that any of the members may hold.

    By topic, whole topics are drawn, so that members can swap.
    """
    region, lists, owner = state.region, state.lists, state.owner
    found = np.empty(lists.load[members].sum(), np.int64)
    filler = np.empty(found.size, np.int64)
    offsets = np.zeros(members.size + 1, np.int64)
    end, fillers = 0, 0
    for i in range(members.size):
        p = lists.head[members[i]]
        while p != END:
            if _are_eligible(region, members, region.topic[p]):
                if region.lag[p] > 0 or owner.size:
                    found[end] = p
                    end += 1
                else:
                    filler[fillers] = p
                    fillers += 1
            p = lists.after[p]
        offsets[i + 1] = end
    filler = filler[:fillers]
    if region.by_topic:
        return _draw_topics(state, found[:end], filler, items)
    drawn = _draw_evenly(found, offsets, items, state.rng)
    if owner.size:
        return _group_by_owner(drawn, owner, members)
    group, topic = np.zeros(drawn.size, np.int64), region.topic[drawn[:1]]
    return Released(
        drawn, group, topic.astype(np.int64), filler, np.array([0, fillers])
    )


@always_compiled
def _group_by_owner(drawn: Int64, owner: Int32, members: Int64) -> Released:
    group = np.zeros(drawn.size, np.int64)
    for i in range(drawn.size):
        for n in range(members.size):
            if owner[drawn[i]] == members[n]:
                group[i] = n + 1
    order = np.argsort(group, kind="mergesort")
    topic = np.zeros(members.size + 1, np.int64)
    nothing = np.zeros(members.size + 2, np.int64)
    return Released(drawn[order], group[order], topic, nothing[:0], nothing)


@always_compiled
def _are_eligible(region: FeasibleRegion, members: Int64, topic: int) -> bool:
    if region.class_offsets.size == 2:
        return True  # there is one class
    eligible = True
    for c in members:
        eligible &= topic_position(region, topic, c) >= 0
    return eligible


@always_compiled
def _draw_to_front(
    values: Int64, start: int, end: int, wanted: int, rng: RandomState
) -> None:
    """Draw ``wanted`` of ``values[start:end]`` at random; move them to its front."""
    for i in range(start, min(start + wanted, end - 1)):
        j = i + random_below(rng, end - i)
        values[i], values[j] = values[j], values[i]


@always_compiled
def _draw_evenly(found: Int64, offsets: Int64, items: int, rng: RandomState) -> Int64:
    """Draw an equal number from each member, or all it has if that is less."""
    members = offsets.size - 1
    size = np.diff(offsets)
    wanted = np.zeros(members, np.int64)
    left = items
    for n, i in enumerate(np.argsort(size)):
        wanted[i] = min(size[i], left // (members - n))
        left -= wanted[i]
    drawn = np.empty(wanted.sum(), np.int64)
    end = 0
    for i in range(members):
        start = offsets[i]
        _draw_to_front(found, start, offsets[i + 1], wanted[i], rng)
        drawn[end : end + wanted[i]] = found[start : start + wanted[i]]
        end += wanted[i]
    return drawn


@always_compiled
def _draw_topics(
    state: SearchState, found: Int64, filler: Int64, items: int
) -> Released:
    """Draw topic after topic until there are ``items`` partitions."""
    region = state.region
    found = found[np.argsort(region.topic[found], kind="mergesort")]
    offsets = np.empty(found.size + 1, np.int64)
    topics = 0
    for i in range(found.size):
        if i == 0 or region.topic[found[i]] != region.topic[found[i - 1]]:
            offsets[topics] = i
            topics += 1
    offsets[topics] = found.size
    order = np.arange(topics)
    _draw_to_front(order, 0, topics, topics, state.rng)
    item = np.empty(items, np.int64)
    group = np.empty(items, np.int64)
    topic = np.empty(topics, np.int64)
    end, groups = 0, 0
    for g in order:
        if end == items:
            break
        start, stop = offsets[g], offsets[g + 1]
        # A large topic leaves a third of the places, two at least, to other topics.
        wanted = min(stop - start, items - end)
        if topics > 2 and stop - start > items // 2:
            wanted = min(wanted, max(items // 3, 2))
        _draw_to_front(found, start, stop, wanted, state.rng)
        topic[groups] = region.topic[found[start]]
        item[end : end + wanted] = found[start : start + wanted]
        group[end : end + wanted] = groups
        end += wanted
        groups += 1
    topic = topic[:groups].copy()
    drawn, filler_offsets = _filler_of_topics(region, filler, topic)
    return Released(item[:end].copy(), group[:end].copy(), topic, drawn, filler_offsets)


@always_compiled
def _filler_of_topics(
    region: FeasibleRegion, filler: Int64, topics: Int64
) -> tuple[Int64, Int64]:
    """Return the partitions of some topics, topic by topic, and their offsets."""
    filler = filler[np.argsort(region.topic[filler], kind="mergesort")]
    first = np.searchsorted(region.topic[filler], topics, side="left")
    last = np.searchsorted(region.topic[filler], topics, side="right")
    offsets = np.zeros(topics.size + 1, np.int64)
    offsets[1:] = np.cumsum(last - first)
    drawn = np.empty(offsets[-1], np.int64)
    for g in range(topics.size):
        drawn[offsets[g] : offsets[g + 1]] = filler[first[g] : last[g]]
    return drawn, offsets


@always_compiled
def _remaining_counts(state: SearchState, released: Released, c: int) -> Int64:
    """Count, group by group, the unreleased partitions of a member."""
    region, lists = state.region, state.lists
    counts = np.empty(released.topic.size, np.int64)
    for g in range(released.topic.size):
        counts[g] = lists.counts[cell_of(region, released.topic[g], c)]
        start, end = released.filler_offsets[g : g + 2]
        for p in released.filler[start:end]:
            counts[g] -= lists.holder[p] == c
    for i in range(released.item.size):
        counts[released.group[i]] -= lists.holder[released.item[i]] == c
    return counts


@always_compiled
def _allowed_counts(
    state: SearchState, released: Released, c: int, d: int
) -> tuple[Int64, Int64]:
    """Return how many of each group c may receive so that d can receive the rest.

    Counts include the filler.
    """
    region, lists = state.region, state.lists
    least = np.zeros(released.topic.size, np.int64)
    most = np.zeros(released.topic.size, np.int64)
    if state.owner.size:  # as many of each group as c released
        for i in range(released.item.size):
            least[released.group[i]] += lists.holder[released.item[i]] == c
        return least, least
    remaining = _remaining_counts(state, released, c)
    others = _remaining_counts(state, released, d)
    size = np.diff(released.filler_offsets)
    for g in released.group:
        size[g] += 1
    for g in range(released.topic.size):
        mine = cell_of(region, released.topic[g], c)
        theirs = cell_of(region, released.topic[g], d)
        low = max(region.least[theirs] - others[g], 0)
        high = region.most[theirs] - others[g]
        least[g] = max(region.least[mine] - remaining[g], 0, size[g] - high)
        most[g] = min(region.most[mine] - remaining[g], size[g] - low)
    return least, most


@always_compiled
def exchange(
    state: SearchState, released: Released, c: int, d: int, target: int
) -> None:
    """Share the partitions released by c and d, c's total as near the target as can be.

    Of the two subsets next to it the one that leaves less above the caps is chosen,
    unless the assignment as it is leaves even less.
    """
    if released.item.size == 0:
        return
    cap, total = state.cap, state.lists.total
    lag = state.region.lag[released.item]
    remaining = total[c] - lag[state.lists.holder[released.item] == c].sum()
    least, most = _allowed_counts(state, released, c, d)
    filler = np.diff(released.filler_offsets)
    found = nearest_sums(lag, released.group, least - filler, most, target - remaining)
    best, least_excess = NO_SUBSET, excess_of(state, np.array([c, d]))
    for chosen, chosen_sum in ((found[0], found[1]), (found[2], found[3])):
        if chosen == NO_SUBSET:
            continue
        mine = remaining + chosen_sum
        theirs = total[c] + total[d] - mine
        excess = max(mine - cap[c], 0) + max(theirs - cap[d], 0)
        if excess < least_excess or (excess == least_excess and best == NO_SUBSET):
            best, least_excess = chosen, excess
    if best == NO_SUBSET:
        return
    for i in range(released.item.size):
        is_mine = (best >> i) & 1
        least[released.group[i]] -= is_mine
        most[released.group[i]] -= is_mine
        reassign(state.region, state.lists, released.item[i], c if is_mine else d)
    _share_filler(state, released, c, d, least, most)


@always_compiled
def _share_filler(
    state: SearchState, released: Released, c: int, d: int, least: Int64, most: Int64
) -> None:
    """Move as few partitions without lag as needed for c's count of each group."""
    for g in range(released.topic.size):
        start, end = released.filler_offsets[g : g + 2]
        held = 0
        for p in released.filler[start:end]:
            held += state.lists.holder[p] == c
        for p in released.filler[start:end]:
            holder = state.lists.holder[p]
            if held < least[g] and holder == d:
                reassign(state.region, state.lists, p, c)
                held += 1
            elif held > most[g] and holder == c:
                reassign(state.region, state.lists, p, d)
                held -= 1
