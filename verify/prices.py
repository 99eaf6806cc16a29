"""What moves and rack mismatches cannot be less than: alone, on a face, by topic.

`verify.certificate` tells why prices bound what an assignment costs. They do so where
each topic is even by itself as well: there the seats of a partition are all the
subscribers of its topic, prices go by topic and member, and how many partitions of a
topic its subscribers have at least and at most is told by `verify.room`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verify.case import Case
from verify.policy import Level, Policy
from verify.room import even_limits
from verify.seats import Certificate, Kind, Seat, Seating, face_of, values

Weights = Mapping[str, int]
MOVES: Weights = {"stickiness": 1}
LINEAR = frozenset({"stickiness", "rack"})
LOAD: Level = ((1, "load"),)


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
        elif LINEAR.issuperset(one for _, one in level):
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


def priced_bound(
    case: Case,
    certificate: Certificate,
    weights: Weights,
    before: Sequence[Level] = (),
) -> int:
    """Return what weighted moves and mismatches cannot be less than, on a face."""
    face, price = face_of(case, certificate), certificate["price"]
    seating = Seating(
        case,
        racks=bool(weights.get("rack")) or asks_racks(before),
        place=face.place,
        price=lambda _, member: price[member],
        before=before,
    )
    bound = 0
    supply: dict[int, int] = {}
    sorts: dict[tuple[Kind, Seat], None] = {}
    for kind, count in seating.kinds().items():
        seats = seating.seats(kind)
        bound += count * _cheapest(seats, weights)
        place = seats[0].place
        supply[place] = supply.get(place, 0) + count
        for seat in seats:
            shared = kind if seat.who == "owner" else kind._replace(owner=None)
            sorts[shared, seat._replace(moved=0)] = None
    seated = {name for pair in sorts for name in seating.members(*pair)}
    by_place: dict[int, list[str]] = {}
    for name in seated:
        by_place.setdefault(face.place[name], []).append(name)
    return bound - sum(
        _most(
            {name: (face.low[name], face.high[name]) for name in names},
            price,
            supply[place],
        )
        for place, names in by_place.items()
    )


def priced_topics_bound(
    case: Case, price: Mapping[str, Mapping[str, int]], weights: Weights
) -> int:
    """Return the same where each topic is even by itself, under prices by topic."""
    seating = Seating(
        case,
        racks=bool(weights.get("rack")),
        price=lambda topic, member: price.get(topic, {}).get(member, 0),
    )
    bound = sum(
        count * _cheapest(seating.seats(kind), weights)
        for kind, count in seating.kinds().items()
    )
    for topic, prices in price.items():
        names = case.subscribers.get(topic, ())
        if any(prices.values()):
            shares = {name: case.capacity[name] for name in names}
            held = even_limits(case.partitions[topic], shares)
            all_prices = {name: prices.get(name, 0) for name in names}
            bound -= _most(held, all_prices, case.partitions[topic])
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
    return min(
        per_move * seat.moved + per_mismatch * seat.mismatched + seat.price
        for seat in seats
    )


def _most(
    held: Mapping[str, tuple[int, int]], price: Mapping[str, int], total: int
) -> int:
    """Return the most that prices times loads can add up to, loads adding to total."""
    extra = total - sum(low for low, _ in held.values())
    free = sorted(price[name] for name, (low, high) in held.items() if high > low)
    sure = sum(low * price[name] for name, (low, _) in held.items())
    return sure + sum(free[max(0, len(free) - extra) :])
