"""Enumeration of the assignments of a tiny rebalance.

`every_assignment` lists them one by one. `states_of` is a dynamic program over
partitions that merges assignments equal in everything asked for, so it reaches further.
Both reject instances that would take too long.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from math import lcm, prod
from operator import add, mul
from typing import Any

from verify.case import Case, case_of
from verify.figures import is_far
from verify.keys import is_weighted
from verify.policy.feasible_region import assignable_topics
from verify.policy.objectives import (
    Pair,
    Tally,
)

MEMBERS_MAX = 20
PARTITIONS_MAX = 200
ASSIGNMENTS_MAX = 200_000
STEPS_MAX = 500_000


class TooLarge(ValueError):  # noqa: N818 - a refusal, not a fault
    """A rebalance that enumeration cannot settle in reasonable time."""


def every_assignment(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every complete valid assignment as an ``assignment/1`` document.

    Raises
    ------
    TooLarge
        If there are more than `ASSIGNMENTS_MAX`, `MEMBERS_MAX` members or
        `PARTITIONS_MAX` partitions.
    """
    case = case_of(instance)
    _refuse_large(case)
    topics = sorted(assignable_topics(case))
    partitions = [(t, number) for t in topics for number in range(case.partitions[t])]
    subscribers = [case.subscribers[topic] for topic, _ in partitions]
    if prod(map(len, subscribers)) > ASSIGNMENTS_MAX:
        raise TooLarge(f"more than {ASSIGNMENTS_MAX} assignments to list")
    for members in product(*subscribers):
        given: dict[str, dict[str, list[int]]] = {name: {} for name in case.wants}
        for member, (topic, number) in zip(members, partitions, strict=True):
            given[member].setdefault(topic, []).append(number)
        yield {"format": "assignment/1", "members": given}


def states_of(
    case: Case, counted: Collection[str], even: dict[str, list[int]] | None = None
) -> list[Tally]:
    """Assign every partition in every way; merge states that are equal where counted.

    ``counted`` are of loads, lags, moves, racks and topics; amounts are of topic "" if
    topics are not counted. With ``even`` only states in which each topic is even by
    itself are kept, and it receives the loads / capacity of each topic.

    Raises
    ------
    TooLarge
        If one more partition takes over `STEPS_MAX` steps, or as `every_assignment`.
    """
    _refuse_large(case)
    topics = assignable_topics(case)
    pairs = [(name, "") for name in case.wants]
    if "topics" in counted:
        pairs = [(name, topic) for topic in topics for name in case.subscribers[topic]]
    at = {pair: place for place, pair in enumerate(pairs)}
    # A state: loads and lags of the pairs, kept, mismatches; in a topic, its loads.
    size = 2 * len(pairs) + 2
    states = {(0,) * size}
    for topic in topics:
        names = case.subscribers[topic]
        states = {(*state, *[0] * len(names)) for state in states}
        for number in range(case.partitions[topic]):
            if len(states) * len(names) > STEPS_MAX:
                reason = f"too large for brute force: more than {STEPS_MAX} states"
                raise TooLarge(reason)
            ways = [
                _way(case, (topic, number), name, counted, at)
                + [even is not None and name == other for other in names]
                for name in names
            ]
            states = {tuple(map(add, state, way)) for state in states for way in ways}
        if even is not None:
            states, even[topic] = _most_even(case, names, states, size)
        states = {state[:size] for state in states}
    return [_tally(case, pairs, state) for state in states]


def _most_even(
    case: Case, names: Sequence[str], states: set[tuple[int, ...]], size: int
) -> tuple[set[tuple[int, ...]], list[int]]:
    """Keep the states in which a topic is even by itself; return its shares too."""
    shares = {state: shares_of(case, names, state[size:]) for state in states}
    even = min(shares.values())
    return {state for state in states if shares[state] == even}, even


def _way(
    case: Case,
    partition: tuple[str, int],
    name: str,
    counted: Collection[str],
    at: dict[tuple[str, str], int],
) -> list[int]:
    """Return the addition of a partition to a state, but for the topic."""
    topic, number = partition
    size, listed = 2 * len(at) + 2, case.replica_racks.get(topic)
    lag = case.lag[topic][number] if topic in case.lag else 0
    racks = () if listed is None else listed[number]
    pair = at[name, topic if "topics" in counted else ""]
    way = [0] * size
    way[pair] = "loads" in counted
    way[len(at) + pair] = lag * ("lags" in counted)
    way[size - 2] = (name == case.owners[topic][number]) * ("moves" in counted)
    way[size - 1] = is_far(case, name, racks) * ("racks" in counted)
    return way


def shares_of(case: Case, names: Collection[str], loads: Collection[int]) -> list[int]:
    """Return loads over capacity in common parts, largest first."""
    if not is_weighted(case):
        return sorted(loads, reverse=True)
    common = lcm(*case.capacity.values())
    units = (common // case.capacity[name] for name in names)
    return sorted(map(mul, loads, units), reverse=True)


def _refuse_large(case: Case) -> None:
    """Reject, before it begins, an enumeration that could not finish."""
    count = sum(case.partitions[topic] for topic in assignable_topics(case))
    if len(case.wants) > MEMBERS_MAX or count > PARTITIONS_MAX:
        found = f"{len(case.wants)} members and {count} partitions"
        limit = f"{MEMBERS_MAX} and {PARTITIONS_MAX}"
        raise TooLarge(f"{found}; brute force goes up to {limit}")


def _tally(case: Case, pairs: Sequence[Pair], state: Sequence[int]) -> Tally:
    def nonzero(amounts: Sequence[int]) -> dict[Pair, int]:
        return {
            pair: amount for pair, amount in zip(pairs, amounts, strict=False) if amount
        }

    return Tally(
        count_loads=lambda: nonzero(state),
        count_lags=lambda: nonzero(state[len(pairs) :]),
        moves=case.owned_count - state[-2],
        mismatches=state[-1],
    )
