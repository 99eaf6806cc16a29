"""Terms of bounds that say what cannot all be held at once by who is little behind.

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

``packing``. Give each partition a weight, at least 0, by where its lag is among some
steps. Some member holds its share of all weight or more, that is U / m rounded up of U
in all, m the members that have a seat for any of it. So it is behind by no less than
the least lag that so much weight can have, of whatever partitions; how many it must
hold does not matter.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from verify.case import Case
from verify.objectives import common_capacity
from verify.room import Room

Reason = dict[str, Any]
Term = Mapping[str, Any]
Chairs = tuple[tuple[str, ...], int, int]  # topics, least and most of their partitions

PACKED_MAX = 20_000_000
"""Partitions times weight that are looked at, a few seconds' work."""


def crowd(case: Case, room: Room, term: Term) -> Reason | None:
    """Return why members with less than a bound could hold all of a crowd."""
    at_least, topics = term.get("at_least", 0), set(term.get("topics", room.seats))
    inside: dict[str, list[int]] = {}
    outside: dict[str, list[int]] = {}
    for topic in room.seats:
        lags = sorted(lags_of(case, topic))
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


def company(case: Case, room: Room, term: Term) -> Reason | None:
    """Return why large lags need not sit together as a bound says."""
    at_least, topics = term.get("at_least", 0), set(term.get("topics", room.seats))
    crowd: list[int] = []
    others: list[int] = []
    takers: set[str] = set()
    for topic, seats in room.seats.items():
        lags = sorted(lags_of(case, topic))
        first = bisect_left(lags, at_least) if topic in topics else len(lags)
        crowd += lags[first:]
        others += lags[:first]
        takers |= set(seats if lags[first:] else ())
    if not crowd:
        return compared(term, 0)
    fewest = min(map(_fewest(room).__getitem__, takers))
    unit = common_capacity(case) // max(case.capacity[name] for name in takers)
    behind = _in_company(sorted(crowd), sorted(others), len(takers), fewest)
    return compared(term, unit * behind)


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


def packing(case: Case, room: Room, term: Term) -> Reason | None:
    """Return why the least lag of a share of all weight is not what a bound says."""
    steps = sorted((least, weight) for least, weight in term.get("steps", ()))
    starts, topics = [least for least, _ in steps], set(term.get("topics", room.seats))
    items: list[tuple[int, int]] = []
    takers: set[str] = set()
    for topic, seats in room.seats.items():
        lags = lags_of(case, topic) if topic in topics else ()
        places = [(bisect_right(starts, lag), lag) for lag in lags]
        mine = [
            (steps[at - 1][1], lag) for at, lag in places if at and steps[at - 1][1]
        ]
        items += mine
        takers |= set(seats if mine else ())
    if not items:
        return compared(term, 0)
    share = -(-sum(weight for weight, _ in items) // len(takers))
    if share * len(items) > PACKED_MAX:
        return {"fails": "size", "partitions": len(items), "weight": share}
    unit = common_capacity(case) // max(case.capacity[name] for name in takers)
    return compared(term, unit * _lightest(items, share))


def _lightest(items: Iterable[tuple[int, int]], share: int) -> int:
    """Return the least lag of partitions that weigh ``share`` together, or more."""
    items = sorted(items)
    beyond = 1 + sum(lag for _, lag in items)
    least = [0] + [beyond] * share  # by weight
    for weight, lag in items:
        shifted = [lag] * min(weight, share)
        shifted += [lag + n for n in least[1 : share - min(weight, share) + 1]]
        least[1:] = map(min, least[1:], shifted)
    return least[share]


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


def compared(term: Term, found: int) -> Reason | None:
    """Return why a bound is not proved by what was found, if it is less."""
    return None if term["bound"] <= found else {"fails": "bound", "found": found}


def lags_of(case: Case, topic: str) -> Sequence[int]:
    """Return the lag of each partition of a topic, 0 where it tells none."""
    return case.lag.get(topic) or [0] * case.partitions[topic]
