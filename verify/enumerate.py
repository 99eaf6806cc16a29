"""Brute force: every assignment of a tiny rebalance, and the best of them all.

`every_assignment` lists them one by one. `best` deals partition after partition to
each subscriber in turn and lays hands that are equal in all that counts on one
heap, so it reaches further. Both refuse what would take them too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import lcm
from operator import mul
from typing import Any

from verify.case import Case, understand
from verify.keys import is_weighted
from verify.room import served

MEMBERS_MAX = 20
PARTITIONS_MAX = 200
ASSIGNMENTS_MAX = 200_000
DEALS_MAX = 500_000

Hand = tuple[tuple[int, ...], tuple[int, ...], int]  # loads, lags, kept


class TooLarge(ValueError):  # noqa: N818 - a refusal, not a fault
    """A rebalance that brute force cannot settle in reasonable time."""


def every_assignment(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every complete valid assignment as an ``assignment/1`` document.

    Raises
    ------
    TooLarge
        If there are more than `ASSIGNMENTS_MAX`, `MEMBERS_MAX` members or
        `PARTITIONS_MAX` partitions.
    """
    case = understand(instance)
    dealt = _dealt(case)
    ways = 1
    for topic, _ in dealt:
        ways *= len(case.subscribers[topic])
        if ways > ASSIGNMENTS_MAX:
            raise TooLarge(f"more than {ASSIGNMENTS_MAX} assignments to list")
    for takers in product(*(case.subscribers[topic] for topic, _ in dealt)):
        given: dict[str, dict[str, list[int]]] = {name: {} for name in case.wants}
        for taker, (topic, number) in zip(takers, dealt, strict=True):
            given[taker].setdefault(topic, []).append(number)
        yield {"format": "assignment/1", "members": given}


def best(
    instance: dict[str, Any], *, claim_rule: str = "newest-claim", lag: bool = True
) -> dict[str, Any]:
    """Return the best figures of all complete valid assignments.

    Parameters
    ----------
    lag : bool
        Without, lags count 0: far fewer hands differ, far larger cases are settled.

    Returns
    -------
    dict
        ``loads`` : the counts, largest first, of the dec-min assignments (by load
        over capacity: their fractions are the least); under them
        ``kept`` : the most kept,
        ``peak_lag_at_kept`` : the least peak lag of those that keep the most,
        ``peak_lag`` : the least peak lag,
        ``kept_at_peak_lag`` : the most kept of those with the least peak lag; and
        ``any_kept``, ``any_peak_lag`` : the best under any load vector;
        ``shares`` : with capacities, the dec-min fractions, largest first, over the
        least common multiple of the capacities.

    Raises
    ------
    TooLarge
        If so many hands differ that one more partition takes over `DEALS_MAX`
        steps, or as for `every_assignment`.
    """
    case = understand(instance, claim_rule=claim_rule)
    units = _units(case)
    scores = [
        (_shares(n, units), sorted(n, reverse=True), max(b, default=0), kept)
        for n, b, kept in _hands(case, lag=lag)
    ]
    shares, loads, _, _ = min(scores)
    even = [(peak, kept) for vector, _, peak, kept in scores if vector == shares]
    kept, peak = max(kept for _, kept in even), min(peak for peak, _ in even)
    return {
        **({"shares": shares} if is_weighted(case) else {}),
        "loads": loads,
        "kept": kept,
        "peak_lag_at_kept": min(b for b, keeps in even if keeps == kept),
        "peak_lag": peak,
        "kept_at_peak_lag": max(keeps for b, keeps in even if b == peak),
        "any_kept": max(kept for *_, kept in scores),
        "any_peak_lag": min(peak for *_, peak, _ in scores),
    }


def settle(
    instance: dict[str, Any], verdict: Mapping[str, Any], *, claim_rule: str
) -> dict[str, Any]:
    """Return what brute force says to each claim of optimality, and the best found."""
    found, figures = best(instance, claim_rule=claim_rule), verdict["figures"]
    complete = verdict["verdict"] == "valid" and not figures.get("withheld")
    dec_min = complete and figures["loads"] == found["loads"]
    if "shares" in found:  # counts alone do not tell who has them
        dec_min = dec_min and figures["dec_min_balanced"]
    return {
        "dec_min": dec_min,
        "stickiness": dec_min and figures["kept"] == found["kept"],
        "peak_lag": complete and figures["peak_lag"] == found["any_peak_lag"],
        "best": found,
    }


def refuse_large(case: Case) -> None:
    """Refuse what no dealing could ever get through, before any of it."""
    count = sum(case.partitions[topic] for topic in served(case))
    if len(case.wants) > MEMBERS_MAX or count > PARTITIONS_MAX:
        found = f"{len(case.wants)} members and {count} partitions"
        limit = f"{MEMBERS_MAX} and {PARTITIONS_MAX}"
        raise TooLarge(f"{found}; brute force goes up to {limit}")


def plus(values: tuple[int, ...], at: int, more: int) -> tuple[int, ...]:
    """Return the values with one of them raised."""
    return (*values[:at], values[at] + more, *values[at + 1 :])


def _dealt(case: Case) -> list[tuple[str, int]]:
    """Return the partitions that somebody subscribes to, as (topic, number)."""
    refuse_large(case)
    topics = sorted(served(case))
    return [(t, number) for t in topics for number in range(case.partitions[t])]


def _hands(case: Case, *, lag: bool) -> set[Hand]:
    """Deal every partition in every way; return the hands that differ."""
    seat = {name: position for position, name in enumerate(case.wants)}
    nothing = (0,) * len(seat)
    hands: set[Hand] = {(nothing, nothing, 0)}
    for topic, number in _dealt(case):
        behind = case.lag[topic][number] if lag and topic in case.lag else 0
        takers = [
            (seat[name], int(number in case.owned.get((name, topic), ())))
            for name in case.subscribers[topic]
        ]
        if len(hands) * len(takers) > DEALS_MAX:
            raise TooLarge(f"more than {DEALS_MAX} different hands to deal")
        hands = {
            (plus(loads, at, 1), plus(lags, at, behind), kept + keeps)
            for loads, lags, kept in hands
            for at, keeps in takers
        }
    return hands


def _units(case: Case) -> list[int]:
    """Return what one partition weighs on each member, in common parts."""
    if not is_weighted(case):
        return [1] * len(case.wants)
    capacities = [case.capacity[name] for name in case.wants]
    common = lcm(*capacities)
    return [common // capacity for capacity in capacities]


def _shares(loads: tuple[int, ...], units: list[int]) -> list[int]:
    """Return loads over capacity, largest first."""
    return sorted(map(mul, loads, units), reverse=True)
