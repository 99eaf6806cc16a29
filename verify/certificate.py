"""Certificates of optimality: a level and a price per member, checked by addition.

Whatever integers a certificate holds, what is accepted here is true: docs/method.md,
"The certificate", has the proofs. The conditions are:

Balance. Every partition is held by a subscriber of the lowest level, and every load is
level or level + 1. With capacities, a *threshold* per member, any key (`verify.keys`),
takes the place of the level: a member holds its keys below it, perhaps an equal one.

Cost, of moves or of any weighted sum of moves and rack mismatches. In every assignment
as balanced, for any prices u, it is the sum over partitions of (cost, plus u) of the
member that holds it, less the sum over members of u * load. The first is at least that
of the cheapest eligible member; the second is bounded level by level (`Pool`), because
the least loads leave as many units as the level has partitions beyond them, at most one
per member.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from verify.case import Case
from verify.columns import Columns
from verify.figures import is_far, loads_of
from verify.keys import count_keys, is_weighted, ranks

Certificate = Mapping[str, Mapping[str, Any]]
Reason = dict[str, Any]
Limits = Mapping[str, tuple[int, int]]  # member -> least and most, both included
Prices = Mapping[str, int]  # by member, 0 where it has none

MOVES: Mapping[str, int] = {"stickiness": 1}


class LoadBounds(NamedTuple):
    """The load bounds that a certificate of balance gives a member."""

    place: int  # rank of its level: a partition goes to the lowest
    low: int  # partitions held at least
    high: int  # partitions held at most


class Pool(NamedTuple):
    """Topics whose partitions go to the same members, and how many to each."""

    topics: Sequence[str]
    units: int  # how many partitions they have together
    limits: Limits  # of eligible members, and no others


class Staying(NamedTuple):
    """Of partitions of equal racks: the least cost, and what an owner adds to it."""

    cheapest: int
    added: Mapping[str | None, int]  # by eligible owner; of any other, it is a move


class Checked(NamedTuple):
    """What a certificate proves of an assignment."""

    fails: Reason | None  # why it does not prove the balance
    cost: int  # lower bound on moves and rack mismatches by its weights; if it does


def load_bounds(case: Case, certificate: Certificate) -> dict[str, LoadBounds]:
    """Read the levels of a certificate, or its thresholds where it has them."""
    if "threshold" not in certificate:
        levels = certificate["level"].items()
        return {name: LoadBounds(n, n, n + 1) for name, n in levels}
    keys = {name: (key[0], key[1]) for name, key in certificate["threshold"].items()}
    rank = ranks(keys.values())
    return {
        name: LoadBounds(rank[key], *count_keys(case.capacity[name], key))
        for name, key in keys.items()
    }


def level_pools(case: Case, certificate: Certificate) -> list[Pool]:
    """Return a pool per level: topics whose lowest it is, and their members there."""
    bounds = load_bounds(case, certificate)
    place = {name: one.place for name, one in bounds.items()}
    pools: dict[int, tuple[list[str], set[str]]] = {}
    known: set[int] = set()  # equal subscribers have the same lowest level
    for topic, lowest in _lowest_places(case, place).items():
        topics, names = pools.setdefault(lowest, ([], set()))
        topics.append(topic)
        if case.audience[topic] not in known:
            known.add(case.audience[topic])
            names.update(case.subscribers[topic])
    found = []
    for lowest, (topics, names) in pools.items():
        members = [name for name in case.wants if name in names]
        limits = {
            name: (bounds[name].low, bounds[name].high)
            for name in members
            if place[name] == lowest
        }
        found.append(pool_of(case, topics, limits))
    return found


def pool_of(case: Case, topics: Sequence[str], limits: Limits) -> Pool:
    """Return a pool; where all or none must reach their most, its limits say so."""
    units = sum(map(case.partitions.__getitem__, topics))
    if units == sum(most for _, most in limits.values()):
        limits = {name: (most, most) for name, (_, most) in limits.items()}
    elif units == sum(least for least, _ in limits.values()):
        limits = {name: (least, least) for name, (least, _) in limits.items()}
    return Pool(topics, units, {name: one for name, one in limits.items() if one[1]})


def balance_fails(
    case: Case,
    columns: Columns,
    certificate: Certificate,
    loads: Mapping[str, int] | None = None,
) -> Reason | None:
    """Return where a certificate fails to prove the load vector least, or None.

    ``loads`` are those of the columns, if they are known.
    """
    by_key = is_weighted(case) or "threshold" in certificate
    for part in ("level", "price", "threshold") if by_key else ("level", "price"):
        odd = min(certificate.get(part, {}).keys() ^ case.wants.keys(), default=None)
        if odd is not None:
            return {"fails": "members", "part": part, "member": odd}
    bounds = load_bounds(case, certificate)
    for member, level in certificate["level"].items():
        if bounds[member].low != level:
            found = {"level": level, "keys": bounds[member].low}
            return {"fails": "threshold", "member": member, **found}
    for member, load in (loads or loads_of(case, columns)).items():
        if not bounds[member].low <= load <= bounds[member].high:
            found = {"level": certificate["level"][member], "load": load}
            return {"fails": "load", "member": member, **found}
    place = {name: one.place for name, one in bounds.items()}
    if len(set(place.values())) == 1:  # nothing can be misplaced
        return None
    lowest = _lowest_places(case, place)
    misplaced = [
        (member, topic, number, place[member], lowest[topic])
        for topic, held in columns.items()
        if set(map(place.__getitem__, held.members)) - {lowest.get(topic)}
        for number, member in zip(*held, strict=True)
        if place[member] != lowest[topic]
    ]
    if not misplaced:
        return None
    member, topic, number, higher, least = min(misplaced)
    where = {"member": member, "topic": topic, "partition": number}
    return {"fails": "place", **where, "level": higher, "least": least}


def checked(
    case: Case,
    columns: Columns,
    certificate: Certificate,
    loads: Mapping[str, int] | None = None,
) -> Checked:
    """Check the balance that a certificate claims and, if it is proved, bound costs."""
    fails = balance_fails(case, columns, certificate, loads)
    return Checked(fails, 0 if fails is not None else _least_cost(case, certificate))


def kept_bound(case: Case, certificate: Certificate, cost: int | None = None) -> int:
    """Return the most partitions that a dec-min assignment can keep, by prices.

    ``cost`` is the bound of `checked`, if it is known.
    """
    cost = _least_cost(case, certificate) if cost is None else cost
    weights = certificate.get("weights", MOVES)
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    mismatched = per_mismatch * sum(case.partitions.values())  # at most
    bound = cost - mismatched
    moves = max(0, -(-bound // per_move)) if per_move else 0
    owned = case.owned_count
    return owned - (moves if moves <= owned else 0)


def _least_cost(case: Case, certificate: Certificate) -> int:
    weights = certificate.get("weights", MOVES)
    priced = [(pool, certificate["price"]) for pool in level_pools(case, certificate)]
    return cost_bound(case, priced, weights)


def cost_bound(
    case: Case, priced: Iterable[tuple[Pool, Prices]], weights: Mapping[str, int]
) -> int:
    """Return a lower bound on the weighted sum of moves and rack mismatches.

    It holds of all assignments within the pools, which share out all topics. Without
    owner, partitions of one topic and set of racks cost the same. An owned one costs a
    move more, unless it stays, if it may.
    """
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    racks_of = case.replica_racks if per_mismatch else {}

    def costs_of(
        names: Iterable[str], racks: Collection[str], price: Prices
    ) -> dict[str, int]:
        costs = {name: price[name] for name in names if name in price}
        if per_mismatch:
            for name in costs:
                costs[name] += per_mismatch * is_far(case, name, racks)
        return costs

    bound = 0
    for pool, price in priced:
        bound -= most_paid(pool, price)
        eligible = {name: price.get(name, 0) for name in pool.limits}
        # Topics with equal subscribers share the cheapest, and what staying adds.
        shared: dict[int, dict[frozenset[str], Staying]] = {}
        for topic in pool.topics:
            known = shared.setdefault(case.audience[topic], {})
            alike = _by_racks(racks_of.get(topic), case.owners[topic])
            for racks, owners in alike.items():
                if racks not in known:
                    costs = costs_of(case.subscribers[topic], racks, eligible)
                    known[racks] = _staying(costs, per_move)
                cheapest, added = known[racks]
                bound += len(owners) * cheapest
                bound += sum(map(added.get, owners, repeat(per_move)))
    return bound


def _staying(costs: Mapping[str, int], per_move: int) -> Staying:
    least = min(costs.values())
    most = least + per_move
    more: dict[str | None, int] = {
        name: cost - least if cost < most else per_move for name, cost in costs.items()
    }
    more[None] = 0
    return Staying(least, more)


def most_paid(pool: Pool, price: Prices) -> int:
    """Return the most that prices * loads can be, of loads within a pool's limits.

    All hold their least; the rest goes to the largest prices, each up to its most.
    """
    total, left = 0, pool.units - sum(least for least, _ in pool.limits.values())
    limits = [(price.get(name, 0), *one) for name, one in pool.limits.items()]
    for paid, least, most in sorted(limits, reverse=True):
        more = min(most - least, left)
        total += paid * (least + more)
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


def _by_racks(
    listed: Sequence[Sequence[str]] | None, owners: Sequence[str | None]
) -> Mapping[frozenset[str], Sequence[str | None]]:
    """Return the owners of partitions by the racks of replicas, if these matter."""
    if listed is None:
        return {frozenset(): owners}
    found: dict[frozenset[str], list[str | None]] = {}
    for racks, owner in zip(listed, owners, strict=True):
        found.setdefault(frozenset(racks), []).append(owner)
    return found


def _lowest_places(case: Case, place: Mapping[str, int]) -> dict[str, int]:
    """Return topic -> lowest place of its subscribers, of topics with both."""
    known: dict[int, int] = {}  # of topics with equal subscribers
    lowest: dict[str, int] = {}
    for topic, subscribers in case.subscribers.items():
        if subscribers and case.partitions[topic]:
            audience = case.audience[topic]
            if audience not in known:
                known[audience] = min(map(place.__getitem__, subscribers))
            lowest[topic] = known[audience]
    return lowest
