"""Proof that no assignment has a lower peak lag, where counts are balanced by topic.

Some members must receive at least a part of each topic (`heuristics.lowest_peak`,
argument 3): the partitions that remain if the other subscribers receive as many as they
can, with the largest lags. If the members cannot share that part so that all stay below
the peak, no assignment of the group is below it: if one was, each of its partitions in
excess could be left out, and the others exchanged for those of the part, of which none
has a larger lag. A search tries all ways to share the part, the largest lag first. It
turns back where

1. a member exceeds the limit with the smallest lags that it must still receive;
2. members remain so far below the limit, whatever they still receive, that the others
   exceed it;
3. more partitions of a topic must go to some members than are small enough for them.

Of equal members, and of equal partitions, one order is tried. The search is limited: it
proves that a peak is the least, or nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from heuristics.group_columns import GroupColumns
from heuristics.lowest_peak import LagSums, class_sets, lag_sums
from rebalance import NOBODY, Bools, Int64, borrowing_kernel, inlined_kernel, kernel

_SETS: Final = 2
"""Sets of classes that are tried before all members: those with the least slack."""
_EFFORT: Final = 40_000
"""Pairs of a member and a topic that a search looks at, about."""
_LEAST_STEPS: Final = 50
"""Groups of which a search could not even take so many steps are left out."""


class _Part(NamedTuple):
    """N members, and the partitions that they must share; T topics with lag.

    Attributes
    ----------
    kind : int64 (N,)
        Subscription class of each member.
    wants : bool (N, T)
    until : int64
        Sums of lags, as in `LagSums`.
    start, least : int64 (T,)
        The lags of a topic begin at ``until[start]``; partitions that each subscriber
        must receive.
    lag, topic : int64
        The partitions, largest lag first; those without lag are left out.
    limit, slack : int
        Largest lag of a member; how much the members remain below it together.
    """

    kind: Int64
    wants: Bools
    until: Int64
    start: Int64
    least: Int64
    lag: Int64
    topic: Int64
    limit: int
    slack: int


class _Shared(NamedTuple):
    """The partitions given so far.

    Attributes
    ----------
    held : int64 (N, T)
        Number of partitions of each member.
    total : int64 (N,)
        Lag of each member.
    due : int64 (N,)
        The same with the smallest lags that it must still receive.
    left : int64 (T,)
        Partitions that remain: those with the smallest lags.
    extra : int64 (T,)
        How many of these go to a member that has the least count already.
    """

    held: Int64
    total: Int64
    due: Int64
    left: Int64
    extra: Int64


@kernel
def is_least_peak(
    group: GroupColumns,
    lag: Int64,
    least: Int64,
    wanted: Int64,
    peak: int,
    most_classes: int,
) -> bool:
    """Return whether it is proved that no peak lag is below ``peak``.

    The other parameters are those of `heuristics.lowest_peak.lowest_peak`.
    """
    n_members = group.member_class.size
    if n_members * least.size * _LEAST_STEPS > _EFFORT:
        return False
    if n_members == 0 or peak > np.iinfo(np.int64).max // n_members:
        return False  # sums of limits would exceed 64 bits
    topics = lag_sums(group, lag, least, wanted)
    is_chosen = np.ones(group.class_offsets.size - 1, np.bool_)
    if is_chosen.size <= most_classes:
        sets = class_sets(group, topics)
        slack = sets.members[1:] * (peak - 1) - sets.total[1:]
        for chosen in np.argsort(slack, kind="mergesort")[:_SETS] + 1:
            is_chosen[:] = False
            for i in range(sets.classes.size):
                is_chosen[sets.classes[i]] = (chosen >> i) & 1
            if _exceeds(group, topics, is_chosen, peak - 1):
                return True
        is_chosen[:] = True
    return _exceeds(group, topics, is_chosen, peak - 1)


@kernel
def _exceeds(group: GroupColumns, topics: LagSums, chosen: Bools, limit: int) -> bool:
    """Return whether the members of some classes are proved to exceed a limit."""
    wants = _subscriptions(group, chosen)
    n_topics = topics.least.size
    left, extra = np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64)
    has_lag = np.zeros(n_topics, np.bool_)
    slack = wants.shape[0] * limit
    for t in range(n_topics):
        start, inside = topics.offsets[t], np.count_nonzero(wants[:, t])
        outside = topics.subscribers[t] - inside
        if inside == 0:
            continue
        more = topics.offsets[t + 1] - start - topics.subscribers[t] * topics.least[t]
        extra[t] = max(0, more - outside)
        left[t] = inside * topics.least[t] + extra[t]
        lag = topics.until[start + left[t]] - topics.until[start]
        has_lag[t] = lag > 0
        slack -= lag
    kept = np.flatnonzero(has_lag)
    start, least = topics.offsets[kept], topics.least[kept]
    kind = group.member_class[chosen[group.member_class]].astype(np.int64)
    lag, topic = _largest_first(topics.until, start, left[kept])
    wants = wants[:, kept]
    until = topics.until
    part = _Part(kind, wants, until, start, least, lag, topic, limit, slack)
    return _cannot_share(part, _nothing_shared(part, left[kept], extra[kept]))


@kernel
def _subscriptions(group: GroupColumns, chosen: Bools) -> Bools:
    """Return which members of some classes subscribe to each topic."""
    members = np.flatnonzero(chosen[group.member_class])
    wants = np.zeros((members.size, group.topics.size), np.bool_)
    for i in range(members.size):
        k = group.member_class[members[i]]
        for t in group.class_topics[
            group.class_offsets[k] : group.class_offsets[k + 1]
        ]:
            wants[i, t] = True
    return wants


@kernel
def _largest_first(until: Int64, start: Int64, left: Int64) -> tuple[Int64, Int64]:
    """Return the lags above 0 of the partitions to share, and their topics."""
    lag, topic = np.zeros(left.sum(), np.int64), np.zeros(left.sum(), np.int64)
    n = 0
    for t in range(start.size):
        for row in range(start[t], start[t] + left[t]):
            if until[row + 1] > until[row]:
                lag[n], topic[n] = until[row + 1] - until[row], t
                n += 1
    order = np.argsort(-lag[:n], kind="mergesort")
    return lag[order], topic[order]


@kernel
def _nothing_shared(part: _Part, left: Int64, extra: Int64) -> _Shared:
    """Return the state before any partition is given."""
    held = np.zeros(part.wants.shape, np.int64)
    total, due = np.zeros(part.kind.size, np.int64), np.zeros(part.kind.size, np.int64)
    for i in range(due.size):
        for t in range(part.start.size):
            if part.wants[i, t]:
                due[i] += _smallest(part, t, 0, part.least[t])
    return _Shared(held, total, due, left, extra)


@kernel
def _cannot_share(part: _Part, shared: _Shared) -> bool:
    """Search for a way to share the partitions; return whether none is proved to exist.

    Depth first: the next partition goes to the next member that can take it.
    """
    takers = np.full(part.lag.size, NOBODY, np.int64)
    steps, at = _EFFORT // part.wants.size if part.wants.size else 0, 0
    while at < takers.size and steps > 0:
        t, lag, i = part.topic[at], part.lag[at], takers[at]
        if i != NOBODY:
            _take_back(part, shared, t, lag, i)
            i += 1
        elif at > 0 and part.topic[at - 1] == t and part.lag[at - 1] == lag:
            i = takers[at - 1]
        else:
            i = 0
        takers[at] = i = _next_taker(part, shared, t, lag, i)
        if i != NOBODY:
            _hand_out(part, shared, t, lag, i)
            steps -= 1
            if not _wastes(part, shared) and not _starves(part, shared, i):
                at += 1
        elif at == 0:
            return True
        else:
            at -= 1
    return False


@inlined_kernel
def _smallest(part: _Part, t: int, first: int, last: int) -> int:
    """Add up the lags of a topic from rank ``first`` up to ``last``, ascending."""
    start = part.start[t]
    return int(part.until[start + last] - part.until[start + first])


@inlined_kernel
def _more_due(part: _Part, shared: _Shared, t: int, lag: int, i: int) -> int:
    """Return how much more is due to a member with a further partition."""
    short = part.least[t] - shared.held[i, t]
    return int(lag - _smallest(part, t, short - 1, short)) if short > 0 else int(lag)


@borrowing_kernel
def _hand_out(part: _Part, shared: _Shared, t: int, lag: int, i: int) -> None:
    shared.due[i] += _more_due(part, shared, t, lag, i)
    shared.extra[t] -= shared.held[i, t] >= part.least[t]
    shared.held[i, t] += 1
    shared.total[i] += lag
    shared.left[t] -= 1


@borrowing_kernel
def _take_back(part: _Part, shared: _Shared, t: int, lag: int, i: int) -> None:
    shared.held[i, t] -= 1
    shared.total[i] -= lag
    shared.left[t] += 1
    shared.extra[t] += shared.held[i, t] >= part.least[t]
    shared.due[i] -= _more_due(part, shared, t, lag, i)


@borrowing_kernel
def _next_taker(part: _Part, shared: _Shared, t: int, lag: int, first: int) -> int:
    """Return the next member that can take a partition; `NOBODY`: none."""
    for i in range(first, part.kind.size):
        had = shared.held[i, t] - part.least[t]
        if (
            part.wants[i, t]
            and (had < 0 or (had == 0 and shared.extra[t] > 0))
            and shared.due[i] + _more_due(part, shared, t, lag, i) <= part.limit
            and not _equals_another(part, shared, i)
        ):
            return i
    return NOBODY


@inlined_kernel
def _equals_another(part: _Part, shared: _Shared, i: int) -> bool:
    """Return whether a member before this one is in the same state."""
    for j in range(i):
        if part.kind[j] == part.kind[i] and shared.total[j] == shared.total[i]:
            is_equal = True
            for t in range(part.start.size):
                is_equal &= shared.held[j, t] == shared.held[i, t]
            if is_equal:
                return True
    return False


@borrowing_kernel
def _wastes(part: _Part, shared: _Shared) -> bool:
    """Return whether members remain so far below the limit that others exceed it."""
    wasted = 0
    for i in range(part.kind.size):
        most = shared.total[i]
        for t in range(part.start.size):
            if part.wants[i, t]:
                short = part.least[t] - shared.held[i, t] + (shared.extra[t] > 0)
                left = shared.left[t]
                most += _smallest(part, t, left - min(max(short, 0), left), left)
        wasted += max(0, part.limit - most)
        if wasted > part.slack:
            return True
    return False


@borrowing_kernel
def _starves(part: _Part, shared: _Shared, i: int) -> bool:
    """Return whether too few partitions are small enough for those that need them.

    Examines the topics of the member that received a partition last.
    """
    for t in range(part.start.size):
        if part.wants[i, t]:
            narrow, rank = _least_room(part, shared, t), shared.left[t] - 1
            while rank >= 0 and _smallest(part, t, rank, rank + 1) > narrow:
                if _needed_below(part, shared, t, rank) > rank:
                    return True
                rank -= 1
    return False


@inlined_kernel
def _least_room(part: _Part, shared: _Shared, t: int) -> int:
    """Return the least `_room` of the members that must still receive partitions."""
    least = part.limit
    for i in range(part.kind.size):
        if part.wants[i, t] and shared.held[i, t] < part.least[t]:
            least = min(least, _room(part, shared, t, i))
    return least


@inlined_kernel
def _room(part: _Part, shared: _Shared, t: int, i: int) -> int:
    """Return the largest lag of a topic that a member can take, if it must take one.

    Of all that it must still receive, the others of the topic are the smallest.
    """
    short = part.least[t] - shared.held[i, t]
    return int(part.limit - shared.due[i] + _smallest(part, t, short - 1, short))


@inlined_kernel
def _needed_below(part: _Part, shared: _Shared, t: int, rank: int) -> int:
    """Return how many partitions go to members that can only take smaller ones."""
    needed, lag = 0, _smallest(part, t, rank, rank + 1)
    for i in range(part.kind.size):
        short = part.least[t] - shared.held[i, t]
        if part.wants[i, t] and short > 0:
            needed += short if _room(part, shared, t, i) < lag else 0
    return needed
