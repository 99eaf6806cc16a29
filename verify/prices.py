"""What moves and rack mismatches cannot be less than: alone, on a face, by topic.

`verify.certificate` tells why prices bound what an assignment costs. They do so where
each topic is even by itself as well: there the seats of a partition are all the
subscribers of its topic, prices go by topic and member, and how many partitions of a
topic its subscribers have at least and at most is told by `verify.room`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case
from verify.objectives import Tally, value_of
from verify.policy import Level, Policy
from verify.room import dearest, even_limits, served
from verify.seats import (
    Certificate,
    Face,
    Seat,
    Seating,
    face_of,
    least_places,
    values,
)

Weights = Mapping[str, int]
MOVES: Weights = {"stickiness": 1}
LINEAR = frozenset({"stickiness", "rack"})
LOAD: Level = ((1, "load"),)
TERMS = frozenset({"separate", "prices"})


def split(policy: Policy) -> tuple[list[str], list[str]]:
    """Return the levels that each partition settles alone, and those on the face.

    Names of sums of moves and mismatches: before and after ``load``, up to the first
    level that is another sort. Under dec-min there is a face from the start.
    """
    before: list[str] = []
    after: list[str] = []
    on_face = policy.balance == "dec-min"
    for name, level in policy.levels.items():
        if level == LOAD:
            on_face = True
        elif _is_linear(level):
            (after if on_face else before).append(name)
        else:
            break
    return before, after


def certified(
    case: Case, policy: Policy, certificate: Certificate
) -> dict[str, int] | None:
    """Return what a certificate of balance proves of the levels on its face.

    Returns
    -------
    dict or None
        Level -> what no assignment has less of that is as good in the levels before;
        None if no assignment is within the budget.
    """
    before, after = split(policy)
    weights = certificate.get("weights", MOVES)
    levels = [policy.levels[name] for name in before]
    bound = priced_bound(case, certificate, weights, levels)
    asked = [policy.levels[name] for name in after]
    least = least_values(case, asked, weights, bound, policy.max_moves)
    return None if least is None else dict(zip(after, least, strict=True))


def separate_values(case: Case, levels: Sequence[Level]) -> tuple[int, ...]:
    """Add up what each partition costs at least when it is alone, level by level.

    Of its seats a partition takes one that is best in the first level, of those one
    that is best in the second, and so on. No assignment is better in the first level
    than all of these together, none that is as good there is better in the second.
    """
    seating = Seating(case, racks=asks_racks(levels))
    total = [0] * len(levels)
    for kind, count in seating.kinds().items():
        least = min(values(levels, seat) for seat in seating.seats(kind))
        total = [n + count * one for n, one in zip(total, least, strict=True)]
    return tuple(total)


def term_fails(
    case: Case, policy: Policy, tally: Tally, of: str, term: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return why a term of moves and mismatches does not prove its bound, or None.

    ``separate``: what partitions cost alone (`separate_values`). ``prices``: under
    ``per-topic``, by prices (`priced_topics_bound`). Both speak of the sums of moves
    and mismatches up to the level, in order; so of a level after others only to who is
    as good in these, and else of the level by itself.
    """
    level = policy.levels[of]
    if not _is_linear(level) or (
        term["kind"] == "prices" and policy.balance != "per-topic"
    ):
        return {"fails": "kind"}
    names = [name for name, one in policy.levels.items() if _is_linear(one)]
    levels = [policy.levels[name] for name in names[: names.index(of) + 1]]
    found = _argued(case, policy, levels, term)
    before = tuple(value_of(case, tally, one) for one in levels[:-1])
    if found is None or found[:-1] != before:
        found = _argued(case, policy, [level], term)
    if found is None:
        return {"fails": "budget"}
    return (
        None if term["bound"] <= found[-1] else {"fails": "bound", "found": found[-1]}
    )


def _argued(
    case: Case, policy: Policy, levels: Sequence[Level], term: Mapping[str, Any]
) -> tuple[int, ...] | None:
    if term["kind"] == "separate":
        return separate_values(case, levels)
    weights, price = term.get("weight", {}), term.get("price", {})
    by_topic = {t: one for t, one in price.items() if isinstance(one, Mapping)}
    bound = priced_topics_bound(case, by_topic, weights)
    return least_values(case, levels, weights, bound, policy.max_moves)


def _is_linear(level: Level) -> bool:
    return LINEAR.issuperset(one for _, one in level)


def priced_bound(
    case: Case,
    certificate: Certificate,
    weights: Weights,
    before: Sequence[Level] = (),
) -> int:
    """Return what weighted moves and mismatches cannot be less than, on a face."""
    face, price = face_of(case, certificate), certificate["price"]
    if not weights.get("rack") and not before:
        return moves_bound(case, face, price, weights.get("stickiness", 0))
    seating = Seating(
        case,
        racks=bool(weights.get("rack")) or asks_racks(before),
        place=lambda _, member: face.place[member],
        price=lambda _, member: price[member],
        before=before,
    )
    bound = 0
    supply: dict[int, int] = {}
    seated: set[str] = set()
    known: set[tuple[str, frozenset[str], str]] = set()
    for kind, count in seating.kinds().items():
        seats = seating.seats(kind)
        bound += count * _cheapest(seats, weights)
        place = seats[0].place
        supply[place] = supply.get(place, 0) + count
        for seat in seats:
            sort = kind.topic, kind.racks, seat.who
            if seat.who == "owner" or sort not in known:
                known.add(sort)
                seated.update(seating.members(kind, seat))
    return bound - _most_by_place(face, price, supply, seated)


def moves_bound(case: Case, face: Face, price: Mapping[str, int], per_move: int) -> int:
    """Return the same for moves alone, topic by topic and owner by owner: quicker."""
    bound = 0
    supply: dict[int, int] = {}
    seated: set[str] = set()
    cheapest: dict[str, int] = {}
    least = least_places(case, face)
    for topic, place in least.items():
        count = case.partitions[topic]
        seats = [name for name in case.subscribers[topic] if face.place[name] == place]
        cheapest[topic] = min(map(price.__getitem__, seats))
        bound += cheapest[topic] * count
        seated.update(seats)
        supply[place] = supply.get(place, 0) + count
    for (owner, topic), numbers in case.owned.items():
        more = per_move
        if face.place[owner] == least[topic]:
            more = min(more, price[owner] - cheapest[topic])
        bound += more * len(numbers)
    return bound - _most_by_place(face, price, supply, seated)


def priced_topics_bound(
    case: Case, price: Mapping[str, Mapping[str, int]], weights: Weights
) -> int:
    """Return the same where each topic is even by itself, under prices by topic.

    Seats are the subscribers that hold any at most: with capacities some may hold none.
    """
    held = {
        topic: even_limits(
            case.partitions[topic],
            {m: case.capacity[m] for m in case.subscribers[topic]},
        )
        for topic in served(case)
    }
    seating = Seating(
        case,
        racks=bool(weights.get("rack")),
        place=lambda topic, member: int(held[topic][member][1] == 0),
        price=lambda topic, member: price.get(topic, {}).get(member, 0),
    )
    bound = sum(
        count * _cheapest(seating.seats(kind), weights)
        for kind, count in seating.kinds().items()
    )
    for topic in held.keys() & price.keys():
        asked = {name: price[topic].get(name, 0) for name in held[topic]}
        bound -= dearest(held[topic], asked.__getitem__, case.partitions[topic])
    return bound


def least_values(
    case: Case,
    levels: Sequence[Level],
    weights: Weights,
    bound: int,
    max_moves: int | None = None,
) -> tuple[int, ...] | None:
    """Return the first in order of all pairs of counts that a bound leaves.

    Of moves, at most those owned and the budget, and mismatches, at most one a
    partition, with a*moves + b*mismatches no less than the bound. More mismatches
    make no level less, so for each number of moves the fewest will do; and so will
    the fewest moves where mismatches do not depend on them.
    """
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    partitions = sum(case.partitions.values())
    most = count_owned(case) if max_moves is None else min(count_owned(case), max_moves)
    best: tuple[int, ...] | None = None
    short = bound - per_mismatch * partitions
    first = max(0, -(-short // per_move)) if per_move else 0
    for moves in range(first, most + 1):
        missing = bound - per_move * moves
        mismatches = max(0, -(-missing // per_mismatch)) if per_mismatch else 0
        if missing <= per_mismatch * mismatches and mismatches <= partitions:
            found = values(levels, Seat(moves, mismatches, 0, 0, ""))
            best = found if best is None else min(best, found)
        if missing <= 0 or not per_move:
            break
    return best


def count_owned(case: Case) -> int:
    """Count the partitions that have an owner."""
    return sum(map(len, case.owned.values()))


def asks_racks(levels: Sequence[Level]) -> bool:
    """Tell whether some level counts rack mismatches."""
    return any(one == "rack" for level in levels for _, one in level)


def _cheapest(seats: Sequence[Seat], weights: Weights) -> int:
    """Return what the best of some seats costs, price included."""
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    costs = [
        per_move * seat.moved + per_mismatch * seat.mismatched + seat.price
        for seat in seats
    ]
    return min(costs)


def _most_by_place(
    face: Face, price: Mapping[str, int], supply: Mapping[int, int], seated: set[str]
) -> int:
    """Add up, place by place, the most that prices times loads can be."""
    by_place: dict[int, dict[str, tuple[int, int]]] = {}
    for name in seated:
        held = by_place.setdefault(face.place[name], {})
        held[name] = face.low[name], face.high[name]
    ask = price.__getitem__
    return sum(dearest(held, ask, supply[at]) for at, held in by_place.items())
