"""Let two or three members share out anew what they hold, as near a target as can be.

A few partitions of theirs go on the table; `nearest` picks who takes which. Seats and
limits of counts hold after every exchange if they held before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from rebalance.claims import Int32, Int64
from solver.peak_lag.chance import Chance, below, shuffle
from solver.peak_lag.hands import END, Hands, hand_over
from solver.peak_lag.pick import NONE, nearest
from solver.peak_lag.room import FREE, Room, cell_of, place_of

ALIKE = 10  # of so many on the table one may be without lag, of each member


class Table(NamedTuple):
    """Partitions that members have put on the table, N of them, in G groups.

    A group is a topic where counts are limited by topic; what one of the members owns,
    or what none of them does, where moves are settled; else there is one.

    Attributes
    ----------
    item : int64 (N,)
        Partitions, group by group.
    group : int64 (N,)
    topic : int64 (G,)
        Of a group's first partition; tells the cells that count it.
    settled : bool
        Whether each member shall hold as many of each group after as before.
    """

    item: Int64
    group: Int64
    topic: Int64
    settled: bool


@njit(cache=True)
def excess_of(total: int, cap: int) -> int:
    """Return by how much a total is above its cap."""
    return max(total - cap, 0)


@njit(cache=True)
def lay_out(
    room: Room,
    hands: Hands,
    owner: Int32,
    people: Int64,
    items: int,
    chance: Chance,
) -> Table:
    """Put at most so many partitions on the table, drawn by chance.

    Only such as all these members may hold. By topic whole topics are drawn, so that
    what one gives another may take.

    Parameters
    ----------
    owner : int32 (P,)
        Empty, unless as many as now must stay with their owners.
    """
    found = np.empty(hands.load[people].sum(), np.int64)
    size = np.zeros(people.size + 1, np.int64)
    # Partitions without lag stand for each other, unless owners count.
    alike = items // ALIKE if owner.size == 0 and not room.by_topic else FREE
    end = 0
    for i in range(people.size):
        nothing = 0
        p = hands.head[people[i]]
        while p != END:
            if room.first.size == 2 or _all_may(room, people, room.topic[p]):
                nothing += room.lag[p] == 0
                if room.lag[p] > 0 or nothing <= alike:
                    found[end] = p
                    end += 1
            p = hands.after[p]
        size[i + 1] = end
    if room.by_topic:
        return _sample_topics(room, hands, found[:end], items, chance)
    chosen = _sample_evenly(found, size, items, chance)
    group = np.zeros(chosen.size, np.int64)
    if owner.size == 0:
        topic = room.topic[chosen[:1]].astype(np.int64)
        return Table(chosen, group, topic, False)
    for i in range(chosen.size):
        for n in range(people.size):
            if owner[chosen[i]] == people[n]:
                group[i] = n + 1
    order = np.argsort(group, kind="mergesort")
    topic = np.zeros(people.size + 1, np.int64)
    return Table(chosen[order], group[order], topic, True)


@njit(cache=True)
def _all_may(room: Room, people: Int64, topic: int) -> bool:
    may = True
    for c in people:
        may &= place_of(room, topic, c) >= 0
    return may


@njit(cache=True)
def _shuffle_front(
    values: Int64, start: int, end: int, wanted: int, chance: Chance
) -> None:
    """Bring ``wanted`` of ``values[start:end]``, drawn by chance, to its front."""
    for i in range(start, min(start + wanted, end - 1)):
        j = i + below(chance, end - i)
        values[i], values[j] = values[j], values[i]


@njit(cache=True)
def _sample_evenly(found: Int64, size: Int64, items: int, chance: Chance) -> Int64:
    """Draw as many from each member, or all it has if that is less."""
    people = size.size - 1
    take = np.zeros(people, np.int64)
    left = items
    order = np.argsort(np.diff(size))
    for n in range(people):
        i = order[n]
        take[i] = min(size[i + 1] - size[i], left // (people - n))
        left -= take[i]
    chosen = np.empty(take.sum(), np.int64)
    end = 0
    for i in range(people):
        _shuffle_front(found, size[i], size[i + 1], take[i], chance)
        chosen[end : end + take[i]] = found[size[i] : size[i] + take[i]]
        end += take[i]
    return chosen


@njit(cache=True)
def _without_surplus(room: Room, hands: Hands, found: Int64) -> Int64:
    """Leave out partitions without lag if there are two of the topic and member."""
    kept = np.empty(found.size, np.int64)
    end, run = 0, 0
    for i in range(found.size):
        p = found[i]
        same = (
            i > 0
            and room.topic[p] == room.topic[found[i - 1]]
            and hands.holder[p] == hands.holder[found[i - 1]]
        )
        run = (run if same else 0) + (room.lag[p] == 0)
        if room.lag[p] > 0 or run <= 2:
            kept[end] = p
            end += 1
    return kept[:end].copy()


@njit(cache=True)
def _sample_topics(
    room: Room, hands: Hands, found: Int64, items: int, chance: Chance
) -> Table:
    """Draw topic after topic until the table is full."""
    found = found[np.argsort(room.topic[found], kind="mergesort")]
    found = _without_surplus(room, hands, found)
    starts = np.empty(found.size + 1, np.int64)
    topics = 0
    for i in range(found.size):
        if i == 0 or room.topic[found[i]] != room.topic[found[i - 1]]:
            starts[topics] = i
            topics += 1
    starts[topics] = found.size
    turn = np.arange(topics)
    shuffle(chance, turn)
    item = np.empty(items, np.int64)
    group = np.empty(items, np.int64)
    topic = np.empty(topics, np.int64)
    end, groups = 0, 0
    for g in turn:
        if end == items:
            break
        start, stop = starts[g], starts[g + 1]
        # A large topic leaves room for two more, if there are any.
        wanted = min(stop - start, items - end)
        if topics > 2 and stop - start > items // 2:
            wanted = min(wanted, max(items // 3, 2))
        _shuffle_front(found, start, stop, wanted, chance)
        topic[groups] = room.topic[found[start]]
        for i in range(wanted):
            item[end] = found[start + i]
            group[end] = groups
            end += 1
        groups += 1
    return Table(item[:end].copy(), group[:end].copy(), topic[:groups].copy(), False)


@njit(cache=True)
def _fixed_counts(room: Room, hands: Hands, table: Table, c: int) -> Int64:
    """Count, group by group, what a member holds beside the table."""
    counts = np.empty(table.topic.size, np.int64)
    for g in range(table.topic.size):
        counts[g] = hands.counts[cell_of(room, table.topic[g], c)]
    for i in range(table.item.size):
        if hands.holder[table.item[i]] == c:
            counts[table.group[i]] -= 1
    return counts


@njit(cache=True)
def _fixed_total(room: Room, hands: Hands, table: Table, c: int) -> int:
    """Add up the lag that a member holds beside the table."""
    total = hands.total[c]
    for p in table.item:
        if hands.holder[p] == c:
            total -= room.lag[p]
    return int(total)


@njit(cache=True)
def _ranges(
    room: Room, hands: Hands, table: Table, taker: int, others: Int64
) -> tuple[Int64, Int64]:
    """Return how many of each group the taker may pick, so that others fit too."""
    groups = table.topic.size
    if table.settled:
        now = np.zeros(groups, np.int64)
        for i in range(table.item.size):
            now[table.group[i]] += hands.holder[table.item[i]] == taker
        return now, now
    size = np.zeros(groups, np.int64)
    for g in table.group:
        size[g] += 1
    fixed = _fixed_counts(room, hands, table, taker)
    least = np.empty(groups, np.int64)
    most = np.empty(groups, np.int64)
    for g in range(groups):
        i = cell_of(room, table.topic[g], taker)
        least[g] = max(room.least[i] - fixed[g], 0)
        most[g] = min(room.most[i] - fixed[g], size[g])
    low = np.zeros(groups, np.int64)
    high = np.zeros(groups, np.int64)
    for d in others:
        fixed = _fixed_counts(room, hands, table, d)
        for g in range(groups):
            i = cell_of(room, table.topic[g], d)
            low[g] += max(room.least[i] - fixed[g], 0)
            high[g] += room.most[i] - fixed[g]
    for g in range(groups):
        least[g] = max(least[g], size[g] - high[g])
        most[g] = min(most[g], size[g] - low[g])
    return least, most


@njit(cache=True)
def split(
    room: Room, hands: Hands, cap: Int64, table: Table, c: int, d: int, aim: int
) -> bool:
    """Share the table out between two members, one of them as near ``aim`` as can be.

    ``aim`` is a total of c. Of the two choices next to it the one that leaves less
    above the caps is taken, unless the hands as they are leave even less.

    Returns
    -------
    bool
        Whether anything changed hands.
    """
    if table.item.size < 2:
        return False
    lag = room.lag[table.item]
    fixed = _fixed_total(room, hands, table, c)
    least, most = _ranges(room, hands, table, c, np.array([d]))
    found = nearest(lag, table.group, least, most, aim - fixed)
    both = hands.total[c] + hands.total[d]
    kept = excess_of(hands.total[c], cap[c]) + excess_of(hands.total[d], cap[d])
    best, least_excess = NONE, kept
    for picked, total in ((found[0], found[1]), (found[2], found[3])):
        if picked == NONE:
            continue
        mine = total + fixed
        excess = excess_of(mine, cap[c]) + excess_of(both - mine, cap[d])
        if excess < least_excess or (excess == least_excess and best == NONE):
            best, least_excess = picked, excess
    if best == NONE:
        return False
    changed = False
    for i in range(table.item.size):
        taker = c if (best >> i) & 1 else d
        changed |= hands.holder[table.item[i]] != taker
        hand_over(room, hands, table.item[i], taker)
    return changed


@njit(cache=True)
def split_three(
    room: Room,
    hands: Hands,
    cap: Int64,
    people: Int64,
    items: int,
    aim: int,
    chance: Chance,
) -> bool:
    """Share out between three: the first gets near ``aim``, the others split the rest.

    What leaves more above the caps than before is undone.

    Returns
    -------
    bool
        Whether it was kept.
    """
    c, d, e = people
    table = lay_out(room, hands, np.empty(0, np.int32), people, items, chance)
    if table.item.size < 3:
        return False
    before = hands.holder[table.item]
    kept = 0
    for m in people:
        kept += excess_of(hands.total[m], cap[m])
    fixed = _fixed_total(room, hands, table, c)
    least, most = _ranges(room, hands, table, c, np.array([d, e]))
    lag = room.lag[table.item]
    found = nearest(lag, table.group, least, most, aim - fixed)
    picked = found[0] if found[0] != NONE else found[2]
    if picked == NONE:
        return False
    _fill(room, hands, table, picked, people)
    rest = _rest(table, picked)
    split(room, hands, cap, rest, d, e, cap[d])
    excess = 0
    for m in people:
        excess += excess_of(hands.total[m], cap[m])
    if excess <= kept:
        return True
    for i in range(table.item.size):
        hand_over(room, hands, table.item[i], before[i])
    return False


@njit(cache=True)
def _fill(room: Room, hands: Hands, table: Table, picked: int, people: Int64) -> None:
    """Give the first what it picked, and the others the rest within their limits."""
    c, d, e = people
    fixed = _fixed_counts(room, hands, table, d)
    for i in range(table.item.size):
        p = table.item[i]
        if (picked >> i) & 1:
            hand_over(room, hands, p, c)
    # Least first to d, then e takes up to its most, then d again.
    size = np.zeros(table.topic.size, np.int64)
    for i in range(table.item.size):
        if not (picked >> i) & 1:
            size[table.group[i]] += 1
    wants = np.empty(table.topic.size, np.int64)
    other = _fixed_counts(room, hands, table, e)
    for g in range(table.topic.size):
        mine = cell_of(room, table.topic[g], d)
        theirs = cell_of(room, table.topic[g], e)
        most = size[g] - max(room.least[theirs] - other[g], 0)
        wants[g] = min(room.most[mine] - fixed[g], most)
    for i in range(table.item.size):
        if (picked >> i) & 1:
            continue
        g = table.group[i]
        taker = d if wants[g] > 0 else e
        wants[g] -= 1
        hand_over(room, hands, table.item[i], taker)


@njit(cache=True)
def _rest(table: Table, picked: int) -> Table:
    left = np.empty(table.item.size, np.bool_)
    for i in range(table.item.size):
        left[i] = not (picked >> i) & 1
    return Table(table.item[left], table.group[left], table.topic, table.settled)
