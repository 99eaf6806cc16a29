"""Certificates of optimality: a level and a price per member, checked by addition.

Whatever integers a certificate holds, every accepted bound is true: docs/method.md,
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

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, cast

from verify.case import Case
from verify.columns import Columns
from verify.figures import is_far
from verify.keys import count_keys, is_weighted, ranks

Certificate = Mapping[str, Mapping[str, Any]]
Reason = dict[str, Any]
Limits = Mapping[str, tuple[int, int]]  # member -> least and most, both included
Prices = Mapping[str, int]  # by member, 0 where it has none

MOVES: Mapping[str, int] = {"stickiness": 1}


class Levels(NamedTuple):
    """The levels of a certificate, or its thresholds where it has them."""

    place: Mapping[str, int]  # member -> rank of its level
    limits: Limits  # how many partitions each member holds at least and at most
    lowest: Mapping[str, int]  # topic -> place of the subscribers that may hold it


class Pool(NamedTuple):
    """Topics whose partitions go to the same members, and how many to each."""

    topics: Sequence[str]
    units: int  # how many partitions they have together
    limits: Limits  # of eligible members, and no others


class Checked(NamedTuple):
    """The bounds that a certificate proves of an assignment."""

    fails: Reason | None  # why it does not prove the balance
    cost: int  # lower bound on moves and rack mismatches by its weights; if it does


def levels_of(case: Case, certificate: Certificate) -> Levels:
    """Read the levels of a certificate that has those of all members."""
    place = certificate["level"]
    limits = {name: (level, level + 1) for name, level in place.items()}
    if "threshold" in certificate:
        keys = {
            name: (key[0], key[1]) for name, key in certificate["threshold"].items()
        }
        rank = ranks(keys.values())
        place = {name: rank[key] for name, key in keys.items()}
        limits = {
            name: count_keys(case.capacity[name], key) for name, key in keys.items()
        }
    return Levels(place, limits, _lowest_places(case, place))


def level_pools(case: Case, levels: Levels) -> list[Pool]:
    """Return a pool per level: topics whose lowest it is, and their members there."""
    pools: dict[int, list[str]] = {}
    for topic, lowest in levels.lowest.items():
        pools.setdefault(lowest, []).append(topic)
    found = []
    for lowest, topics in pools.items():
        different = {case.audience[topic] for topic in topics}
        names = set().union(*[case.subscribers[topic] for topic in different])
        limits = {
            name: levels.limits[name]
            for name in case.wants
            if name in names and levels.place[name] == lowest
        }
        found.append(pool_of(case, topics, limits))
    return found


def pool_of(case: Case, topics: Sequence[str], limits: Limits) -> Pool:
    """Return a pool; where all or none must reach their most, its limits say so."""
    units = sum(map(case.partitions.__getitem__, topics))
    if units == sum([most for _, most in limits.values()]):
        limits = {name: (most, most) for name, (_, most) in limits.items()}
    elif units == sum([least for least, _ in limits.values()]):
        limits = {name: (least, least) for name, (least, _) in limits.items()}
    return Pool(
        topics, units, {name: limit for name, limit in limits.items() if limit[1]}
    )


def members_fail(case: Case, certificate: Certificate) -> Reason | None:
    """Return where the members of a certificate are not those of the case, or None."""
    by_key = is_weighted(case) or "threshold" in certificate
    for part in ("level", "price", "threshold") if by_key else ("level", "price"):
        stated = certificate.get(part, {}).keys()
        if stated != case.wants.keys():
            odd = min(stated ^ case.wants.keys())
            return {"fails": "members", "part": part, "member": odd}
    return None


def balance_fails(
    columns: Columns,
    certificate: Certificate,
    levels: Levels,
    loads: Mapping[str, int],
) -> Reason | None:
    """Return where a certificate fails to prove the load vector least, or None."""
    stated, place = certificate["level"], levels.place
    for member, level in stated.items():
        low, high = levels.limits[member]
        if low != level:
            found = {"level": level, "keys": low}
            return {"fails": "threshold", "member": member, **found}
    for member, load in loads.items():
        low, high = levels.limits[member]
        if not low <= load <= high:
            found = {"level": stated[member], "load": load}
            return {"fails": "load", "member": member, **found}
    if len(set(place.values())) == 1:  # nothing can be misplaced
        return None
    holders = cast("Mapping[str, Sequence[str]]", columns.holders)  # it is complete
    misplaced = [
        (member, topic, number, place[member], least)
        for topic, least in levels.lowest.items()
        if set(map(place.__getitem__, holders[topic])) != {least}
        for number, member in enumerate(holders[topic])
        if place[member] != least
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
    loads: Mapping[str, int],
) -> Checked:
    """Check the balance that a certificate claims and, if it is proved, bound costs.

    The assignment is complete.
    """
    fails = members_fail(case, certificate)
    if fails is None:
        levels = levels_of(case, certificate)
        fails = balance_fails(columns, certificate, levels, loads)
    if fails is not None:
        return Checked(fails, 0)
    return Checked(None, _least_cost(case, certificate, levels))


def kept_bound(case: Case, certificate: Certificate, cost: int | None = None) -> int:
    """Return the most partitions that a dec-min assignment can keep, by prices.

    ``cost`` is the bound of `checked`, if it is known.
    """
    if cost is None:
        cost = _least_cost(case, certificate, levels_of(case, certificate))
    weights = certificate.get("weights", MOVES)
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    mismatched = per_mismatch * sum(case.partitions.values())  # at most
    bound = cost - mismatched
    moves = max(0, -(-bound // per_move)) if per_move else 0
    owned = case.owned_count
    return owned - (moves if moves <= owned else 0)


def _least_cost(case: Case, certificate: Certificate, levels: Levels) -> int:
    weights = certificate.get("weights", MOVES)
    priced = [(pool, certificate["price"]) for pool in level_pools(case, levels)]
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
    bound = 0
    for pool, price in priced:
        bound -= most_paid(pool, price)
        eligible = {name: price.get(name, 0) for name in pool.limits}
        alike: dict[tuple[str, frozenset[str]], list[str | None]] = {}
        for topic in pool.topics:
            of_racks = _by_racks(racks_of.get(topic), case.owners[topic])
            for racks, owners in of_racks.items():
                alike.setdefault((case.audience[topic], racks), []).extend(owners)
        for (topic, racks), owners in alike.items():
            subscribers = case.subscribers[topic]
            costs = {name: eligible[name] for name in subscribers if name in eligible}
            for name in costs if racks else ():
                costs[name] += per_mismatch * is_far(case, name, racks)
            least = min(costs.values())
            most = least + per_move
            added: dict[str | None, int] = {  # to the least, by owner
                name: cost - least if cost < most else per_move
                for name, cost in costs.items()
            }
            added[None] = 0
            bound += len(owners) * least
            bound += sum(map(added.get, owners, repeat(per_move)))
    return bound


def most_paid(pool: Pool, price: Prices) -> int:
    """Return the most that prices * loads can be, of loads within a pool's limits.

    All hold their least; the rest goes to the largest prices, each up to its most.
    """
    limits = [(price.get(name, 0), *limit) for name, limit in pool.limits.items()]
    total, left = 0, pool.units - sum([least for _, least, _ in limits])
    for paid, least, most in sorted(limits, reverse=True):
        more = min(most - least, left)
        total += paid * (least + more)
        left -= more
    return total


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
    lowest = {
        first: min(map(place.__getitem__, case.subscribers[first]))
        for first in set(case.audience.values())
    }
    return {topic: lowest[first] for topic, first in case.audience.items()}
