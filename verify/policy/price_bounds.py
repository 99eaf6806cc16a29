"""Lower bounds on moves and rack mismatches: by partition, by prices.

`verify.certificate` shows why prices bound the moves of dec-min assignments. The same
argument holds for any weighted sum of moves and mismatches, with that cost in the place
of moves; where objectives before the balance leave each partition only the members that
are best for it; and where each topic is even by itself: there prices go by topic and
member, and the load bounds by topic are those of `verify.policy.feasible_region`.

The bound says a*moves + b*mismatches >= B. Of all pairs of counts that this leaves, the
first in the policy's order is what no assignment beats, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verify.case import Case, Row, count_owned
from verify.certificate import (
    Certificate,
    LoadBounds,
    Placed,
    load_bounds,
    most_paid,
    most_paid_within,
    moves_bound,
)
from verify.policy.eligible import Eligibility, MemberClass, added_values
from verify.policy.feasible_region import assignable_topics, even_limits
from verify.policy.notation import LOAD, Level, Policy
from verify.policy.objectives import Tally, value_of
from verify.policy.work import Work, steps_of_pass

Weights = Mapping[str, int]
MOVES: Weights = {"stickiness": 1}
LINEAR = frozenset({"stickiness", "rack"})
KINDS = frozenset({"separate", "prices"})


def split(policy: Policy) -> tuple[list[str], list[str]]:
    """Return the sums of moves and mismatches before and after balance is settled.

    Balance is settled by ``load``, or by dec-min from the start; a level of another
    sort ends both lists.
    """
    before: list[str] = []
    after: list[str] = []
    balanced = policy.balance == "dec-min"
    for name, level in policy.levels.items():
        if level == LOAD:
            balanced = True
        elif _is_linear(level):
            (after if balanced else before).append(name)
        else:
            break
    return before, after


def certified(
    case: Case, policy: Policy, certificate: Certificate
) -> dict[str, int] | None:
    """Return what a certificate proves of the levels after balance, by level.

    Each bound holds of assignments as good in the levels before. None: no assignment
    is within the budget.
    """
    before, after = split(policy)
    weights = certificate.get("weights", MOVES)
    levels = [policy.levels[name] for name in before]
    bound = priced_bound(case, certificate, weights, levels)
    asked = [policy.levels[name] for name in after]
    least = least_values(case, asked, weights, bound, policy.max_moves)
    return None if least is None else dict(zip(after, least, strict=True))


def kept_bound_with_racks(case: Case, certificate: Certificate) -> int:
    """Return the most that a dec-min assignment can keep, by prices for racks too."""
    weights = certificate.get("weights", MOVES)
    bound = priced_bound(case, certificate, weights)
    least = least_values(case, [((1, "stickiness"),)], weights, bound)
    return count_owned(case) - (least[0] if least else 0)


def place_rows(
    case: Case, rows: Sequence[Row], before: Sequence[Level], bounds: LoadBounds
) -> Iterator[Placed]:
    """Yield the partitions held, each with the lowest place that ``before`` leaves."""
    eligibility = Eligibility(
        case,
        racks=asks_racks(before),
        place=lambda _, member: bounds.place[member],
        before=before,
    )
    for member, topic, numbers in rows:
        for number in numbers:
            found = eligibility.eligible(eligibility.class_of(topic, number))
            yield member, topic, [number], found[0].place


def separate_values(case: Case, levels: Sequence[Level]) -> tuple[int, ...]:
    """Sum what each partition costs at least by itself, level by level.

    Of its members a partition takes one that is best in the first level, of those one
    that is best in the second, and so on. No assignment is better in the first level
    than all of these together, none that is as good there is better in the second.
    """
    eligibility = Eligibility(case, racks=asks_racks(levels))
    total = [0] * len(levels)
    for partitions, count in eligibility.partition_classes().items():
        found = eligibility.eligible(partitions)
        least = min(added_values(levels, one) for one in found)
        total = [n + count * one for n, one in zip(total, least, strict=True)]
    return tuple(total)


def priced_term_fails(
    case: Case,
    policy: Policy,
    tally: Tally,
    of: str,
    term: Mapping[str, Any],
    work: Work,
) -> dict[str, Any] | None:
    """Return why a term of moves and mismatches does not prove its bound, or None.

    ``separate``: what partitions cost alone; ``prices``: by prices, under per-topic.
    A level after others is bounded for assignments as good in these, or else by itself.
    """
    level = policy.levels[of]
    if not _is_linear(level) or (
        term["kind"] == "prices" and policy.balance != "per-topic"
    ):
        return {"fails": "kind"}
    refused = work.refuse(2 * steps_of_pass(case))
    if refused is not None:
        return refused
    names = [name for name, one in policy.levels.items() if _is_linear(one)]
    levels = [policy.levels[name] for name in names[: names.index(of) + 1]]
    found = _bounds_by(case, policy, levels, term)
    before = tuple(value_of(case, tally, one) for one in levels[:-1])
    if found is None or found[:-1] != before:
        found = _bounds_by(case, policy, [level], term)
    if found is None:
        return {"fails": "budget"}
    return (
        None if term["bound"] <= found[-1] else {"fails": "bound", "found": found[-1]}
    )


def _bounds_by(
    case: Case, policy: Policy, levels: Sequence[Level], term: Mapping[str, Any]
) -> tuple[int, ...] | None:
    if term["kind"] == "separate":
        return separate_values(case, levels)
    weights = term.get("weight", {})
    bound = priced_topics_bound(case, term.get("price", {}), weights)
    return least_values(case, levels, weights, bound, policy.max_moves)


def _is_linear(level: Level) -> bool:
    return LINEAR.issuperset(one for _, one in level)


def priced_bound(
    case: Case,
    certificate: Certificate,
    weights: Weights,
    before: Sequence[Level] = (),
) -> int:
    """Return a lower bound on weighted moves and mismatches after balance."""
    bounds, price = load_bounds(case, certificate), certificate["price"]
    if not weights.get("rack") and not before:
        return moves_bound(case, bounds, price, weights.get("stickiness", 0))
    eligibility = Eligibility(
        case,
        racks=bool(weights.get("rack")) or asks_racks(before),
        place=lambda _, member: bounds.place[member],
        price=lambda _, member: price[member],
        before=before,
    )
    bound = 0
    supply: dict[int, int] = {}
    members: set[str] = set()
    known: set[tuple[str, frozenset[str], str]] = set()
    for partitions, count in eligibility.partition_classes().items():
        eligible = eligibility.eligible(partitions)
        bound += count * _cheapest(eligible, weights)
        place = eligible[0].place
        supply[place] = supply.get(place, 0) + count
        for one in eligible:
            key = partitions.topic, partitions.racks, one.who
            if one.who == "owner" or key not in known:
                known.add(key)
                members.update(eligibility.members(partitions, one))
    return bound - most_paid(bounds, price, supply, members)


def priced_topics_bound(
    case: Case, price: Mapping[str, Mapping[str, int]], weights: Weights
) -> int:
    """Return the same where each topic is even by itself, under prices by topic.

    Eligible are the subscribers that may hold any: with capacities some hold none.
    """
    held = {
        topic: even_limits(
            case.partitions[topic],
            {m: case.capacity[m] for m in case.subscribers[topic]},
        )
        for topic in assignable_topics(case)
    }
    eligibility = Eligibility(
        case,
        racks=bool(weights.get("rack")),
        place=lambda topic, member: int(held[topic][member][1] == 0),
        price=lambda topic, member: price.get(topic, {}).get(member, 0),
    )
    bound = sum(
        count * _cheapest(eligibility.eligible(one), weights)
        for one, count in eligibility.partition_classes().items()
    )
    for topic in held.keys() & price.keys():
        asked = {name: price[topic].get(name, 0) for name in held[topic]}
        units = case.partitions[topic]
        bound -= most_paid_within(held[topic], asked.__getitem__, units)
    return bound


def least_values(
    case: Case,
    levels: Sequence[Level],
    weights: Weights,
    bound: int,
    max_moves: int | None = None,
) -> tuple[int, ...] | None:
    """Return the first in order of all pairs of counts that a bound leaves.

    Moves are at most those owned and the budget, mismatches at most one per partition.
    More mismatches make no level less, so the fewest are enough for each number of
    moves; and so are the fewest moves where mismatches do not depend on them.
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
            found = added_values(levels, MemberClass(moves, mismatches, 0, 0, ""))
            best = found if best is None else min(best, found)
        if missing <= 0 or not per_move:
            break
    return best


def asks_racks(levels: Sequence[Level]) -> bool:
    """Return whether some level counts rack mismatches."""
    return any(one == "rack" for level in levels for _, one in level)


def _cheapest(eligible: Sequence[MemberClass], weights: Weights) -> int:
    """Return the least cost of some members, price included."""
    per_move, per_mismatch = weights.get("stickiness", 0), weights.get("rack", 0)
    return min(
        per_move * one.moved + per_mismatch * one.mismatched + one.price
        for one in eligible
    )
