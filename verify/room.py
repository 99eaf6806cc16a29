"""Where partitions may sit and how many a member may hold, under each balance.

What a balance allows keeps to its *room*, so whatever is argued from the room holds of
all that is allowed. A room is made of pools. A pool has some topics, the members that
their partitions may sit on, and limits for how many of them each of these holds. No
topic is in two pools.

- ``per-topic``: each topic is a pool. All its subscribers can have any of its
  partitions, so the even way to deal n of them is the n least keys (`verify.keys`),
  and which keys these are is no choice, except that equal ones stand for each other.
- ``dec-min``: if all members in play want the same, everything is one such pool.
  Otherwise a certificate that proves the balance tells the pools: topics and members
  of one level (`verify.certificate`).
- other balances, and dec-min without certificate: anything may sit on any subscriber.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from math import lcm

from verify.case import Case
from verify.keys import limits
from verify.seats import Certificate, face_of, least_places

Limits = Mapping[str, tuple[int, int]]  # member -> least and most, both included


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Topics, and how many of their partitions together each member may hold.

    Attributes
    ----------
    topics : those of the pool
    units : how many partitions they have
    limits : member -> least and most; no narrower limits hold for any one of them
    """

    topics: Sequence[str]
    units: int
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a balance leaves open.

    Attributes
    ----------
    pools : what is shared out together
    seats : topic -> members that its partitions may sit on
    is_open : whether every valid assignment keeps to it
    """

    pools: Sequence[Pool]
    seats: Mapping[str, Sequence[str]]
    is_open: bool


def room_of(case: Case, balance: str, certificate: Certificate | None = None) -> Room:
    """Return the room of a balance; the certificate, if any, has proved it."""
    topics = served(case)
    if balance == "per-topic":
        return _room(case, [_even_pool(case, [topic]) for topic in topics])
    if balance == "dec-min" and _is_one_crowd(case, topics):
        return _room(case, [_even_pool(case, topics)] if topics else [])
    if balance == "dec-min" and certificate is not None:
        return _room(case, _level_pools(case, topics, certificate))
    return _room(case, [_open_pool(case, topic) for topic in topics], is_open=True)


def of_topic(case: Case, room: Room, topic: str) -> Room:
    """Return what is left of a room for one topic; nothing for what nobody gets."""
    pools = [pool for pool in room.pools if topic in pool.topics]
    seats = {topic: room.seats[topic]} if pools else {}
    if pools and len(pools[0].topics) > 1:
        most = {name: pools[0].limits[name][1] for name in seats[topic]}
        limits = {name: (0, number) for name, number in most.items()}
        pools = [Pool(topics=[topic], units=case.partitions[topic], limits=limits)]
    return Room(pools=pools, seats=seats, is_open=room.is_open)


def served(case: Case) -> list[str]:
    """Return the topics that have partitions and subscribers."""
    subscribed = case.subscribers.items()
    return [topic for topic, names in subscribed if names and case.partitions[topic]]


def even_limits(units: int, capacities: Mapping[str, int]) -> Limits:
    """Share equal units out among members who may all have any of them.

    All keys at or below the fair share, units * w / W, come before all above it, and
    fewer units than members are then left; they are dealt one by one.
    """
    if not units or not capacities:
        return dict.fromkeys(capacities, (0, 0))
    together = sum(capacities.values())
    common = lcm(*capacities.values())
    held = {name: units * w // together for name, w in capacities.items()}
    # A key in whole numbers: n / w times the common multiple; the larger w first.
    part = {name: common // w for name, w in capacities.items()}
    last = max((held[name] * part[name], part[name], name) for name in held)
    following = [((held[m] + 1) * part[m], part[m], m) for m in held]
    heapify(following)
    for _ in range(units - sum(held.values())):
        last = following[0]
        heapreplace(following, (last[0] + last[1], *last[1:]))
    threshold = (last[0] // last[1], capacities[last[2]])
    return {name: limits(w, threshold) for name, w in capacities.items()}


def dearest(limits: Limits, price: Callable[[str], int], units: int) -> int:
    """Return the most that prices * loads can be, of loads that add up to units.

    All hold their least; what is left goes to the dearest, each up to its most.
    """
    total = sum(price(name) * least for name, (least, _) in limits.items())
    left = units - sum(least for least, _ in limits.values())
    for name in sorted(limits, key=price, reverse=True):
        least, most = limits[name]
        more = min(most - least, left)
        total += price(name) * more
        left -= more
    return total


def _is_one_crowd(case: Case, topics: Sequence[str]) -> bool:
    """Tell whether all members in play want all topics to be given out."""
    return all(len(case.subscribers[topic]) == len(case.in_play) for topic in topics)


def _even_pool(case: Case, topics: Sequence[str]) -> Pool:
    units = sum(map(case.partitions.__getitem__, topics))
    names = case.subscribers[topics[0]]
    shares = even_limits(units, {name: case.capacity[name] for name in names})
    return _pool(case, topics, shares)


def _open_pool(case: Case, topic: str) -> Pool:
    anything = (0, case.partitions[topic])
    return _pool(case, [topic], dict.fromkeys(case.subscribers[topic], anything))


def _level_pools(
    case: Case, topics: Sequence[str], certificate: Certificate
) -> list[Pool]:
    """Return a pool a level: topics of which it is the least, members who get them."""
    face = face_of(case, certificate)
    least = least_places(case, face)
    pools: dict[int, tuple[list[str], dict[str, tuple[int, int]]]] = {}
    for topic in topics:
        mine, shares = pools.setdefault(least[topic], ([], {}))
        mine.append(topic)
        for name in case.subscribers[topic]:
            if face.place[name] == least[topic]:
                shares[name] = face.low[name], face.high[name]
    return [_pool(case, mine, shares) for mine, shares in pools.values()]


def _pool(case: Case, topics: Sequence[str], given: Limits) -> Pool:
    """Return a pool; where all or none must reach their most, the limits say so."""
    units = sum(map(case.partitions.__getitem__, topics))
    if units == sum(most for _, most in given.values()):
        given = {name: (most, most) for name, (_, most) in given.items()}
    elif units == sum(least for least, _ in given.values()):
        given = {name: (least, least) for name, (least, _) in given.items()}
    return Pool(topics=topics, units=units, limits=given)


def _room(case: Case, pools: Sequence[Pool], *, is_open: bool = False) -> Room:
    seats = {
        topic: [name for name in case.subscribers[topic] if name in pool.limits]
        for pool in pools
        for topic in pool.topics
    }
    return Room(pools=pools, seats=seats, is_open=is_open)
