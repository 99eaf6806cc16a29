"""What no assignment is below: the terms of a bound, added up from the documents.

A *term* is one argument. Whatever integers it holds, what is accepted here is true of
all assignments that keep to the room of the balance (`verify.room`). Values are in
units of 1 / scale; peak lag is at most T when unit * lag <= T for every member, where
unit = scale / capacity is a whole number.

``zero``. No value is below 0.

``average``. Partitions whose seats are all among some members are held by these, so
together they are at least as much behind as those partitions are. With peak lag T each
of them is behind by at most T * capacity / scale.

``crowd``. Let K be the partitions, of some topics or all, that are at least so far
behind. Who holds j of them is behind by no less than the j least of K that have a seat
with it and, if it must hold more than j, that many of the least of the others. With
peak lag T - 1, a member that is behind by more than (T - 1) / unit is one too many;
so each holds at most the largest j for which that sum is not more. If these come to
less than K, or some member has no such j, peak lag is at least T.

``duals``. Give each member a weight, at least 0, and a price. Then

    T * sum of weights  >=  sum over members of weight * unit * lag
        =  sum over partitions of (weight * unit * lag + price), of who holds them,
           less the sum over members of price * load
        >=  sum over partitions of the least such number of all their seats,
            less the most that prices * loads can be within the limits.

Prices may be told topic by topic for members whose limits are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from verify.case import Case
from verify.objectives import common_capacity
from verify.policy import Level
from verify.room import Pool, Room

Reason = dict[str, Any]
Term = Mapping[str, Any]
Prices = Mapping[str, int | Mapping[str, int]]
Line = tuple[int, int]  # slope, offset

PEAK_LAG: Level = ((1, "peak-lag"),)


def term_fails(case: Case, room: Room, level: Level, term: Term) -> Reason | None:
    """Return why a term does not prove its bound for a level, or None."""
    kind = term["kind"]
    if kind == "zero" and level != ((1, "load"),):
        return _compared(term, 0)
    if kind not in _KINDS or level != PEAK_LAG:
        return {"fails": "kind"}
    stranger = _stranger(case, term)
    return stranger if stranger is not None else _KINDS[kind](case, room, term)


def _stranger(case: Case, term: Term) -> Reason | None:
    """Return who or what a term names that there is not."""
    for part in ("members", "weight", "price"):
        for name in term.get(part, ()):
            if name not in case.wants:
                return {"fails": part, "member": name}
    for topic in term.get("topics", ()):
        if topic not in case.partitions:
            return {"fails": "topics", "topic": topic}
    return None


def _compared(term: Term, found: int) -> Reason | None:
    return None if term["bound"] <= found else {"fails": "bound", "found": found}


def _average(case: Case, room: Room, term: Term) -> Reason | None:
    members = set(term.get("members", case.in_play))
    capacity = sum(case.capacity[name] for name in members)
    behind = sum(
        sum(case.lag.get(topic, ()))
        for topic, seats in room.seats.items()
        if members.issuperset(seats)
    )
    return _compared(term, -(-common_capacity(case) * behind // max(1, capacity)))


def _crowd(case: Case, room: Room, term: Term) -> Reason | None:
    at_least, topics = term.get("at_least", 0), set(term.get("topics", room.seats))
    inside: dict[str, list[int]] = {}
    outside: dict[str, list[int]] = {}
    for topic in room.seats:
        lags = sorted(_lags(case, topic))
        first = bisect_left(lags, at_least) if topic in topics else len(lags)
        inside[topic], outside[topic] = lags[first:], lags[:first]
    room_left = 0
    for topics_open, members in _alike(room).items():
        crowd = _sums(lag for topic in topics_open for lag in inside[topic])
        others = _sums(lag for topic in topics_open for lag in outside[topic])
        for name, (least, most) in members.items():
            limit = (term["bound"] - 1) * case.capacity[name] // common_capacity(case)
            fits = _fitting(crowd, others, least, most, limit)
            if fits is None:
                return None
            room_left += fits
    size = sum(map(len, inside.values()))
    if room_left < size:
        return None
    return {"fails": "bound", "crowd": size, "fitting": room_left}


def _fitting(
    crowd: Sequence[int], others: Sequence[int], least: int, most: int, limit: int
) -> int | None:
    """Return how many of a crowd a member may hold within a limit of lag, or None.

    ``crowd`` and ``others`` are the sums of the so many least, from 0 on.
    """
    number = min(bisect_right(crowd, limit) - 1, most)
    while 0 <= number < least:
        rest = least - number
        if rest < len(others) and crowd[number] + others[rest] <= limit:
            break
        number -= 1
    return None if number < 0 else number


def _alike(room: Room) -> dict[tuple[str, ...], dict[str, tuple[int, int]]]:
    """Group members by the topics they have seats for, with their limits."""
    topics: dict[str, list[str]] = {}
    for topic, seats in room.seats.items():
        for name in seats:
            topics.setdefault(name, []).append(topic)
    total: dict[str, tuple[int, int]] = dict.fromkeys(topics, (0, 0))
    for pool in room.pools:
        for name, (least, most) in pool.limits.items():
            total[name] = (total[name][0] + least, total[name][1] + most)
    alike: dict[tuple[str, ...], dict[str, tuple[int, int]]] = {}
    for name, held in topics.items():
        alike.setdefault(tuple(held), {})[name] = total[name]
    return alike


def _duals(case: Case, room: Room, term: Term) -> Reason | None:
    weight, price = term.get("weight", {}), term.get("price", {})
    together = sum(weight.values())
    if not together:
        return {"fails": "weight"}
    common = common_capacity(case)
    total = 0
    for pool in room.pools:
        if len(pool.topics) > 1:
            listed = [m for m in pool.limits if isinstance(price.get(m), Mapping)]
            if listed:
                return {"fails": "price", "member": listed[0]}
        total -= _dearest(pool, _of_topic(price, pool.topics[0]))
        for topic in pool.topics:
            prices = _of_topic(price, topic)
            lines = {
                (weight.get(m, 0) * (common // case.capacity[m]), prices(m))
                for m in room.seats[topic]
            }
            total += _least_total(lines, _lags(case, topic))
    return _compared(term, -(-total // together))


def _of_topic(price: Prices, topic: str) -> Callable[[str], int]:
    """Return who asks how much for a partition of a topic; who tells none, 0."""

    def ask(name: str) -> int:
        found = price.get(name, 0)
        return found if isinstance(found, int) else found.get(topic, 0)

    return ask


def _dearest(pool: Pool, price: Callable[[str], int]) -> int:
    """Return the most that prices * loads can be: what is left goes to the dearest."""
    left = pool.units - sum(least for least, _ in pool.limits.values())
    total = sum(price(name) * least for name, (least, _) in pool.limits.items())
    for name in sorted(pool.limits, key=price, reverse=True):
        least, most = pool.limits[name]
        total += price(name) * min(most - least, left)
        left -= min(most - least, left)
    return total


def _least_total(lines: Iterable[Line], lags: Sequence[int]) -> int:
    """Add up, over all lags, the least of slope * lag + offset."""
    lowest = _lowest(lines)
    total = at = 0
    for lag in sorted(lags):
        here = lowest[at][0] * lag + lowest[at][1]
        while at + 1 < len(lowest):
            after = lowest[at + 1][0] * lag + lowest[at + 1][1]
            if after > here:
                break
            at, here = at + 1, after
        total += here
    return total


def _lowest(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that are lowest somewhere, the steepest first.

    Of three in a row the middle one is, unless the outer two cross before it.
    """
    kept: list[Line] = []
    for slope, offset in sorted(lines, key=lambda line: (-line[0], line[1])):
        if kept and kept[-1][0] == slope:
            continue
        while len(kept) > 1:
            (steep, first), (middle, second) = kept[-2:]
            if (offset - first) * (steep - middle) > (second - first) * (steep - slope):
                break
            kept.pop()
        kept.append((slope, offset))
    return kept


def _lags(case: Case, topic: str) -> Sequence[int]:
    return case.lag.get(topic) or [0] * case.partitions[topic]


def _sums(lags: Iterable[int]) -> list[int]:
    return list(accumulate(sorted(lags), initial=0))


_KINDS: Mapping[str, Callable[[Case, Room, Term], Reason | None]] = {
    "average": _average,
    "crowd": _crowd,
    "duals": _duals,
}
