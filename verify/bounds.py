"""What no assignment is below: the terms of a bound, added up from the documents.

A *term* is one argument. Whatever integers it holds, what is accepted here is true of
all assignments that keep to the room of the balance (`verify.room`). Values are in
units of 1 / scale; peak lag is at most T when unit * lag <= T for every member, where
unit = scale / capacity is a whole number.

``zero``. No value is below 0, and no load in a list of them.

``average``. Partitions whose seats are all among some members are held by these, so
together they are at least as much behind as those partitions are. With peak lag T each
of them is behind by at most T * capacity / scale.

``crowd``, ``topic-crowd``. Let K be the partitions, of some topics or all, that are at
least so far behind. Who holds i of them in a pool holds the i least of K it has seats
for and, if it must hold more, that many of the least of the others. One more adds one
of K and leaves one of the others, if any; the first adds least and each next one no
less, so over all its pools a member that holds j is behind by no less than it starts
with and the j least of all it can add. With peak lag T - 1 it may not be behind by
more than (T - 1) / unit, so it holds at most the largest j for which that sum is not
more. If these come to less than K, or some member has no such j, peak lag is at least
T. (Engines that count one limit over all topics, and those that count one for each,
prove no more than this.)

``company``. Let K be as before, m the members that have a seat for any of it, its size
(h - 1) * m + j with 1 <= j <= m, and every one of them hold `fewest` partitions or
more. Either somebody holds h + 1 of K: at least the h + 1 least, and what it lacks to
`fewest` of the least of all that are left. Or nobody does. Then j of them at least hold
h, and the others, with h - 1 or fewer, hold (m - j) * (h - 1) of K at most; so of the
(m - j) * (h - 1) + 1 that are furthest behind one is with somebody who holds h of K:
that one, h - 1 more, and what lacks to `fewest` of those not in K. Whoever it is, a
record weighs no less on it than on the member of most capacity.

``duals``. Give each member a weight, at least 0, and a price. Then

    T * sum of weights  >=  sum over members of weight * unit * lag
        =  sum over partitions of (weight * unit * lag + price), of who holds them,
           less the sum over members of price * load
        >=  sum over partitions of the least such number of all their seats,
            less the most that prices * loads can be within the limits.

Prices may be told topic by topic for members whose limits are.

``topic-peak-lag`` is a sum over topics. A term for it speaks of one topic, as if there
were no other; of each topic the largest counts, and these add up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from verify.case import Case
from verify.objectives import Value, common_capacity
from verify.policy import Level
from verify.room import Pool, Room, of_topic

Reason = dict[str, Any]
Term = Mapping[str, Any]
Prices = Mapping[str, int | Mapping[str, int]]
Line = tuple[int, int]  # slope, offset
Chairs = tuple[tuple[str, ...], int, int]  # topics, least and most of their partitions

LOAD: Level = ((1, "load"),)
PEAK_LAG: Level = ((1, "peak-lag"),)
TOPIC_PEAK_LAG: Level = ((1, "topic-peak-lag"),)


def term_fails(case: Case, room: Room, level: Level, term: Term) -> Reason | None:
    """Return why a term does not prove its bound for a level, or None."""
    kind = term["kind"]
    if kind == "zero":
        return _compared(term, 0)
    if kind not in _KINDS or level not in {PEAK_LAG, TOPIC_PEAK_LAG}:
        return {"fails": "kind"}
    stranger = _stranger(case, term)
    if stranger is not None:
        return stranger
    if level == TOPIC_PEAK_LAG:
        if len(term.get("topics", ())) != 1:
            return {"fails": "topics"}
        room = of_topic(case, room, term["topics"][0])
    return _KINDS[kind](case, room, term)


def together(case: Case, level: Level, terms: Iterable[Term]) -> Value | None:
    """Return what terms that hold prove together; None for none."""
    most: dict[str, int] = {}
    for term in terms:
        about = (term.get("topics") or [""])[0] if level == TOPIC_PEAK_LAG else ""
        most[about] = max(term["bound"], most.get(about, term["bound"]))
    if not most:
        return None
    return [0] * len(case.in_play) if level == LOAD else sum(most.values())


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
    seated = {name for seats in room.seats.values() for name in seats}
    members = set(term.get("members", seated))
    topics = set(term.get("topics", room.seats))
    capacity = sum(case.capacity[name] for name in members)
    behind = sum(
        sum(case.lag.get(topic, ()))
        for topic, seats in room.seats.items()
        if topic in topics and members.issuperset(seats)
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
    fitting = 0
    for chairs, members in _alike(room).items():
        hand = _hand(chairs, inside, outside)
        for name in members:
            limit = (term["bound"] - 1) * case.capacity[name] // common_capacity(case)
            fits = hand.within(limit)
            if fits is None:
                return None
            fitting += fits
    size = sum(map(len, inside.values()))
    if fitting < size:
        return None
    return {"fails": "bound", "crowd": size, "fitting": fitting}


def _company(case: Case, room: Room, term: Term) -> Reason | None:
    at_least, topics = term.get("at_least", 0), set(term.get("topics", room.seats))
    crowd: list[int] = []
    others: list[int] = []
    takers: set[str] = set()
    for topic, seats in room.seats.items():
        lags = sorted(_lags(case, topic))
        first = bisect_left(lags, at_least) if topic in topics else len(lags)
        crowd += lags[first:]
        others += lags[:first]
        takers |= set(seats if lags[first:] else ())
    if not crowd:
        return _compared(term, 0)
    fewest = min(map(_fewest(room).__getitem__, takers))
    unit = common_capacity(case) // max(case.capacity[name] for name in takers)
    behind = _in_company(sorted(crowd), sorted(others), len(takers), fewest)
    return _compared(term, unit * behind)


def _in_company(
    crowd: Sequence[int], others: Sequence[int], members: int, fewest: int
) -> int:
    """Return how far behind somebody is at least; both lists ascend."""
    most = -(-len(crowd) // members)
    number = len(crowd) - (most - 1) * members
    above = crowd[-1 - (members - number) * (most - 1)]
    least = above + sum(crowd[: most - 1]) + sum(others[: max(0, fewest - most)])
    if most == len(crowd):
        return least
    left = sorted([*crowd[most + 1 :], *others])[: max(0, fewest - most - 1)]
    return min(least, sum(crowd[: most + 1]) + sum(left))


def _fewest(room: Room) -> Counter[str]:
    """Return how many partitions each member must hold, over all pools."""
    found: Counter[str] = Counter()
    for pool in room.pools:
        found.update({name: least for name, (least, _) in pool.limits.items()})
    return found


class _Hand(NamedTuple):
    """How far behind a member is at least, by how many of a crowd it holds."""

    fewest: int
    behind: Sequence[int]  # with the fewest, with one more, and so on
    turn: int  # before this each is less than the one before

    def within(self, limit: int) -> int | None:
        """Return how many it may hold and be no further behind; None: it is anyway."""
        number = bisect_right(self.behind, limit, lo=self.turn) - 1
        return None if number < self.turn else self.fewest + number


def _hand(
    chairs: Iterable[Chairs],
    inside: Mapping[str, Sequence[int]],
    outside: Mapping[str, Sequence[int]],
) -> _Hand:
    fewest = start = 0
    steps: list[int] = []
    for topics, least, most in chairs:
        crowd = sorted(lag for topic in topics for lag in inside[topic])
        others = sorted(lag for topic in topics for lag in outside[topic])[:least]
        first = least - len(others)
        fewest += first
        start += sum(crowd[:first]) + sum(others)
        for number in range(first, min(most, len(crowd))):
            left = others[least - number - 1] if number < least else 0
            steps.append(crowd[number] - left)
    steps.sort()
    turn = bisect_left(steps, 0)
    return _Hand(fewest, list(accumulate(steps, initial=start)), turn)


def _alike(room: Room) -> dict[tuple[Chairs, ...], list[str]]:
    """Group members by what they may hold: of which topics together, how many."""
    chairs: dict[str, list[Chairs]] = {}
    for pool in room.pools:
        topics: dict[str, list[str]] = {}
        for topic in pool.topics:
            for name in room.seats[topic]:
                topics.setdefault(name, []).append(topic)
        for name, mine in topics.items():
            chairs.setdefault(name, []).append((tuple(mine), *pool.limits[name]))
    alike: dict[tuple[Chairs, ...], list[str]] = {}
    for name, held in chairs.items():
        alike.setdefault(tuple(held), []).append(name)
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


_KINDS: Mapping[str, Callable[[Case, Room, Term], Reason | None]] = {
    "average": _average,
    "crowd": _crowd,
    "topic-crowd": _crowd,
    "company": _company,
    "duals": _duals,
}
