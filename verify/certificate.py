"""Certificates of optimality: a level and a price per member, checked by addition.

Whatever integers a certificate holds, what is accepted here is true: docs/method.md,
"The certificate", has the proofs. The conditions are:

Balance. Every partition is held by a subscriber of the lowest level, and every load is
level or level + 1. With capacities, a *threshold* per member, any key (`verify.keys`),
takes the place of the level: a member holds its keys below it, perhaps an equal one.

Stickiness. In every assignment as balanced, for any prices u, moves are the sum over
partitions of (1 if moved, plus u) of the member that holds it, less the sum over
members of u * load. The first is at least that of the cheapest subscriber of the lowest
level; the second is bounded level by level, because the least loads leave as many units
as the level has partitions beyond them, at most one per member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from verify.case import Case, Row, count_owned
from verify.figures import loads_of
from verify.keys import count_keys, is_weighted, ranks

Certificate = Mapping[str, Mapping[str, Any]]
Reason = dict[str, Any]
Limits = Mapping[str, tuple[int, int]]  # member -> least and most, both included
Placed = tuple[str, str, Sequence[int], int]  # a row, and the lowest place for it


class LoadBounds(NamedTuple):
    """The load bounds that a certificate of balance gives, per member."""

    place: Mapping[str, int]  # rank of the level: a partition goes to the lowest
    low: Mapping[str, int]  # partitions held at least
    high: Mapping[str, int]  # partitions held at most


def load_bounds(case: Case, certificate: Certificate) -> LoadBounds:
    """Read the levels of a certificate, or its thresholds where it has them."""
    level = certificate["level"]
    if "threshold" not in certificate:
        high = {name: low + 1 for name, low in level.items()}
        return LoadBounds(level, level, high)
    keys = {name: (key[0], key[1]) for name, key in certificate["threshold"].items()}
    rank = ranks(keys.values())
    held = {name: count_keys(case.capacity[name], key) for name, key in keys.items()}
    return LoadBounds(
        place={name: rank[key] for name, key in keys.items()},
        low={name: low for name, (low, _) in held.items()},
        high={name: high for name, (_, high) in held.items()},
    )


def lowest_places(case: Case, bounds: LoadBounds) -> dict[str, int]:
    """Return topic -> lowest place of its subscribers, of topics with both."""
    return {
        topic: min(map(bounds.place.__getitem__, subscribers))
        for topic, subscribers in case.subscribers.items()
        if subscribers and case.partitions[topic]
    }


def balance_fails(
    case: Case,
    rows: Sequence[Row],
    certificate: Certificate,
    place_rows: Callable[[LoadBounds], Iterable[Placed]] | None = None,
) -> Reason | None:
    """Return where a certificate fails to prove the load vector least, or None.

    ``place_rows`` gives the lowest places where not all subscribers are eligible.
    """
    by_key = is_weighted(case) or "threshold" in certificate
    for part in ("level", "price", "threshold") if by_key else ("level", "price"):
        odd = min(certificate.get(part, {}).keys() ^ case.wants.keys(), default=None)
        if odd is not None:
            return {"fails": "members", "part": part, "member": odd}
    bounds = load_bounds(case, certificate)
    for member, level in certificate["level"].items():
        if bounds.low[member] != level:
            found = {"level": level, "keys": bounds.low[member]}
            return {"fails": "threshold", "member": member, **found}
    for member, load in loads_of(case, rows).items():
        if not bounds.low[member] <= load <= bounds.high[member]:
            found = {"level": certificate["level"][member], "load": load}
            return {"fails": "load", "member": member, **found}
    if place_rows is not None:
        return _misplaced(bounds, place_rows(bounds))
    lowest = lowest_places(case, bounds)
    return _misplaced(bounds, ((*row, lowest[row[1]]) for row in rows if row[2]))


def kept_bound(case: Case, certificate: Certificate) -> int:
    """Return the most partitions that a dec-min assignment can keep, by prices."""
    per_move = certificate.get("weights", {"stickiness": 1}).get("stickiness", 0)
    bounds = load_bounds(case, certificate)
    bound = moves_bound(case, bounds, certificate["price"], per_move)
    moves = max(0, -(-bound // per_move)) if per_move else 0
    owned = count_owned(case)
    return owned - (moves if moves <= owned else 0)


def moves_bound(
    case: Case, bounds: LoadBounds, price: Mapping[str, int], per_move: int
) -> int:
    """Return a lower bound on ``per_move`` times the moves of dec-min assignments."""
    bound = 0
    supply: dict[int, int] = {}
    eligible: set[str] = set()
    cheapest: dict[str, int] = {}
    lowest = lowest_places(case, bounds)
    for topic, place in lowest.items():
        count = case.partitions[topic]
        names = [m for m in case.subscribers[topic] if bounds.place[m] == place]
        cheapest[topic] = min(map(price.__getitem__, names))
        bound += cheapest[topic] * count
        eligible.update(names)
        supply[place] = supply.get(place, 0) + count
    for (owner, topic), numbers in case.owned.items():
        more = per_move
        if bounds.place[owner] == lowest[topic]:
            more = min(more, price[owner] - cheapest[topic])
        bound += more * len(numbers)
    return bound - most_paid(bounds, price, supply, eligible)


def most_paid(
    bounds: LoadBounds,
    price: Mapping[str, int],
    supply: Mapping[int, int],
    eligible: Iterable[str],
) -> int:
    """Return the most that prices * loads can be, place by place."""
    limits: dict[int, dict[str, tuple[int, int]]] = {}
    for name in eligible:
        of_place = limits.setdefault(bounds.place[name], {})
        of_place[name] = bounds.low[name], bounds.high[name]
    ask = price.__getitem__
    return sum(most_paid_within(limits[at], ask, supply[at]) for at in limits)


def most_paid_within(limits: Limits, price: Callable[[str], int], units: int) -> int:
    """Return the most that prices * loads can be, of loads that add up to units.

    All hold their least; the rest goes to the largest prices, each up to its most.
    """
    total, left = 0, units - sum(least for least, _ in limits.values())
    for name in sorted(limits, key=price, reverse=True):
        least, most = limits[name]
        more = min(most - least, left)
        total += price(name) * (least + more)
        left -= more
    return total


def peak_lag_bound(case: Case) -> int | None:
    """Return the larger of mean and largest lag, a lower bound; None without lag."""
    assigned = {topic for topic, names in case.subscribers.items() if names}
    lags = [case.lag[topic] for topic in assigned & case.lag.keys()]
    if not lags:
        return None
    members = sum(1 for wanted in case.wants.values() if wanted)
    mean = -(-sum(map(sum, lags)) // members)
    return max(mean, *(max(listed, default=0) for listed in lags))


def _misplaced(bounds: LoadBounds, placed: Iterable[Placed]) -> Reason | None:
    """Return the first partition whose member's place is not the lowest."""
    misplaced = [
        (member, topic, min(numbers), bounds.place[member], least)
        for member, topic, numbers, least in placed
        if bounds.place[member] != least
    ]
    if not misplaced:
        return None
    member, topic, number, place, least = min(misplaced)
    where = {"member": member, "topic": topic, "partition": number}
    return {"fails": "place", **where, "level": place, "least": least}
