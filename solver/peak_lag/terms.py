"""What no assignment's peak lag is below: the terms, by the columns of a `Setting`.

docs/bounds.md tells what each kind means and why it holds. ``average`` and ``crowd``
are worked out here for all in play at once; `subset` finds better sets of members where
subscriptions differ.

The kind ``topic-crowd`` is the crowd argument with limits topic by topic, for balance
``per-topic``: K and x as for ``crowd``. For member c and topic t let k be the lags of
K's partitions of t, ascending, and o those of t's other partitions, ascending, followed
by as many x as one likes. With lo(t, c) and hi(t, c) the limits of c's count of t::

    base_c  = sum over t of the first lo(t, c) of o
    step    = for every t and i = 1 .. min(hi(t, c), |k|):
              k[i] - (o[lo(t, c) - i + 1] if i <= lo(t, c) else 0)      (from 1 on)
    f_c(j)  = base_c + the j smallest steps

``bound`` T holds iff the number of pairs (c, j), j from 1 to the number of steps, with
s(c) · f_c(j) <= T - 1 is less than the size of K. It is true because a member that
holds j of K takes some number i_t of each topic, and must still fill lo(t, c) of each;
steps grow with i, so the least way is to take the j smallest. Where others of t run
out, the member must take more of K, none of which is below x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from rebalance.claims import Int64
from solver.peak_lag.kinds import load_bounds_of
from solver.peak_lag.room import Room
from solver.peak_lag.setting import Setting
from solver.peak_lag.work import Work

_STEPS = 48  # thresholds that are tried where no formula tells the best
_PAIRS = 40_000_000  # partitions looked at for all thresholds and kinds of member
_CELLS = 5_000_000  # of them, kept at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """One threshold and what it proves."""

    at_least: int
    bound: int
    kind: str = "crowd"


def average(setting: Setting) -> int:
    """Share all lag out over all members, ⌈scale · Σ lag ÷ Σ capacity⌉."""
    room = setting.room
    weights = sum(setting.scale // unit for unit in room.unit.tolist())
    total = int(room.lag.sum())
    return -(-setting.scale * total // weights) if weights else 0


def best_crowd(setting: Setting, work: Work) -> list[Crowd]:
    """Find the threshold that proves most, among those worth trying.

    One at least is tried, whatever limit has struck. Where members are of many kinds
    only large lags are looked at, which prove nearly as much.

    Returns
    -------
    list of Crowd
        The best of ``crowd``; the best of ``topic-crowd`` if it proves more. None if
        there are too many kinds of member for any.
    """
    room = setting.room
    lags = np.sort(room.lag)[::-1]
    alike = member_kinds(room)
    floor = _floor(lags, len(alike))
    if floor is None:
        return []
    kinds = list(_kinds(room, alike, floor))
    seen = len(kinds) * int((lags >= floor).sum())
    thresholds = [x for x in _thresholds(room, lags, kinds) if x >= floor]
    thresholds = thresholds[: max(1, _PAIRS // seen)]
    found = [_best("crowd", thresholds, partial(_crowd, room, kinds), work)]
    if room.by_topic and room.topic_first.size > 2:
        by_topic = partial(_topic_crowd, room, kinds, _lags_of_topics(room))
        best = _best("topic-crowd", thresholds, by_topic, work)
        if best.bound > found[0].bound:
            found.append(best)
    return found


def _best(
    kind: str, thresholds: list[int], prove: Callable[[int], int], work: Work
) -> Crowd:
    best = Crowd(at_least=thresholds[0], bound=prove(thresholds[0]), kind=kind)
    for x in thresholds[1:]:
        if work.exceeded() is not None:
            break
        bound = prove(x)
        if bound > best.bound:
            best = Crowd(at_least=x, bound=bound, kind=kind)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """Members that are alike: seats, capacity and limits; how many there are."""

    unit: int
    count: int
    least: Int64  # by open topic if limits are by topic, else one
    most: Int64
    open: Int64  # topics
    is_whole: bool  # whether what follows leaves out no small lag
    lags: Int64  # of partitions it has a seat for, ascending
    sums: Int64  # of the so many least, from 0 on


def member_kinds(room: Room) -> list[tuple[int, int]]:
    """Find members that are alike; return one of each kind, and how many they are."""
    count: dict[tuple[int, int, bytes], int] = {}
    first: dict[tuple[int, int, bytes], int] = {}
    for c, k in enumerate(room.member_class.tolist()):
        cells = load_bounds_of(room, c)
        limits = room.least[cells].tobytes() + room.most[cells].tobytes()
        key = (k, int(room.unit[c]), limits)
        first.setdefault(key, c)
        count[key] = count.get(key, 0) + 1
    return [(first[key], count[key]) for key in first]


def _floor(lags: Int64, kinds: int) -> int | None:
    """Return the least lag to look at; None if even the largest are too many."""
    if not lags.size:
        return None
    kept = _CELLS // kinds
    if lags.size <= kept:
        return int(lags[-1])
    larger = lags[:kept][lags[:kept] > lags[kept]]  # of equal ones all or none
    return int(larger[-1]) if larger.size else None


def _kinds(room: Room, alike: list[tuple[int, int]], floor: int) -> Iterator[_Kind]:
    rows = np.flatnonzero(room.lag >= floor)
    rows = rows[np.argsort(room.lag[rows], kind="stable")]
    lag, topic = room.lag[rows], room.topic[rows]
    for c, count in alike:
        k = int(room.member_class[c])
        wanted = room.open[room.first[k] : room.first[k + 1]].astype(np.int64)
        seats = np.zeros(room.topic_first.size - 1, np.bool_)
        seats[wanted] = True
        cells = load_bounds_of(room, c)
        lags = lag[seats[topic]]
        yield _Kind(
            lags=lags,
            sums=np.r_[0, np.cumsum(lags)],
            is_whole=rows.size == room.lag.size,
            unit=int(room.unit[c]),
            count=count,
            least=room.least[cells],
            most=room.most[cells],
            open=wanted,
        )


def _thresholds(room: Room, lags: Int64, kinds: list[_Kind]) -> list[int]:
    """List thresholds, the most promising first.

    The (m·j + 1)-th largest makes somebody hold j + 1; by a formula for members that
    are all alike, else by where those ranks lie.
    """
    members = room.unit.size
    ranks = np.arange(0, lags.size, members)
    sums = np.r_[0, np.cumsum(lags)]
    least = int(sum(kind.least.sum() * kind.count for kind in kinds)) // members
    j = np.arange(1, ranks.size + 1)
    held = sums[np.minimum(ranks + 1, lags.size)] - sums[ranks + 1 - j]
    held = held[: ranks.size]
    more = np.clip(least - j, 0, None)
    value = held + sums[-1] - sums[lags.size - np.minimum(more, lags.size)]
    best = np.argsort(-value, kind="stable")[:_STEPS]
    chosen = [0, *ranks[best].tolist()]
    near = range(1, min(members, lags.size, _STEPS // 2))
    return list(dict.fromkeys(int(lags[r]) for r in [*chosen, *near]))


def _rank(values: list[Int64], counts: list[int], wanted: int) -> int:
    """Return the ``wanted``-th least value, each list's counted so many times.

    Each list ascends.
    """
    if len(values) == 1:
        place = -(-wanted // counts[0]) - 1
        return int(values[0][place]) if place < values[0].size else 0
    every = np.concatenate(values)
    times = np.repeat(counts, [one.size for one in values])
    order = np.argsort(every, kind="stable")
    at = np.searchsorted(np.cumsum(times[order]), wanted)
    return int(every[order[at]]) if at < every.size else 0


def _crowd(room: Room, kinds: list[_Kind], x: int) -> int:
    """Work out what threshold x proves, K being all partitions with lag ≥ x."""
    values, counts, size = [], [], int((room.lag >= x).sum())
    for kind in kinds:
        lags, sums = kind.lags, kind.sums
        cut = int(np.searchsorted(lags, x))
        # Of one kind nobody need hold more than an even share.
        most = lags.size - cut if len(kinds) > 1 else -(-size // kind.count)
        j = np.arange(1, most + 1)
        least = int(kind.least.sum()) if kind.is_whole else 0
        fill = np.clip(least - j, 0, cut)
        values.append((sums[cut + j] - sums[cut] + sums[fill]) * kind.unit)
        counts.append(kind.count)
    return _rank(values, counts, size)


def _lags_of_topics(room: Room) -> list[Int64]:
    """Return the lags of each topic, ascending."""
    ends = np.searchsorted(room.topic, np.arange(room.topic_first.size))
    return [
        np.sort(room.lag[start:end])
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def _topic_crowd(
    room: Room, kinds: list[_Kind], sorted_lags: list[Int64], x: int
) -> int:
    """Work the same out with limits topic by topic."""
    values, counts = [], []
    for kind in kinds:
        base = 0
        steps = [np.zeros(0, np.int64)]
        for place, t in enumerate(kind.open.tolist()):
            lags, least = sorted_lags[t], int(kind.least[place])
            cut = int(np.searchsorted(lags, x))
            others = lags[: min(cut, least)]
            others = np.r_[others, np.full(least - others.size, x, np.int64)]
            base += int(others.sum())
            step = lags[cut : cut + int(kind.most[place])].copy()
            overlap = min(step.size, least)
            step[:overlap] -= others[::-1][:overlap]
            steps.append(step)
        each = np.sort(np.concatenate(steps))
        values.append((base + np.cumsum(each)) * kind.unit)
        counts.append(kind.count)
    return _rank(values, counts, int((room.lag >= x).sum()))
