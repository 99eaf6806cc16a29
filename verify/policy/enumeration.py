"""Enumeration of the assignments of a tiny rebalance, and the best figures of them.

`every_assignment` lists them one by one. `states_of` is a dynamic program over
partitions that merges assignments equal in everything asked for, so it reaches further.
Both reject what would take too long.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import lcm
from operator import mul
from typing import Any, NamedTuple

from verify.case import Case, count_owned, understand
from verify.figures import is_far
from verify.keys import is_weighted
from verify.policy.feasible_region import assignable_topics
from verify.policy.objectives import Pair

MEMBERS_MAX = 20
PARTITIONS_MAX = 200
ASSIGNMENTS_MAX = 200_000
STEPS_MAX = 500_000


class TooLarge(ValueError):  # noqa: N818 - a refusal, not a fault
    """A rebalance that enumeration cannot settle in reasonable time."""


class State(NamedTuple):
    """One assignment, or several that are equal in what is asked for.

    Amounts are per member, or per (member, topic) pair if ``topics`` is asked for.
    """

    loads: tuple[int, ...]
    lags: tuple[int, ...]
    moves: int
    mismatches: int


def every_assignment(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every complete valid assignment as an ``assignment/1`` document.

    Raises
    ------
    TooLarge
        If there are more than `ASSIGNMENTS_MAX`, `MEMBERS_MAX` members or
        `PARTITIONS_MAX` partitions.
    """
    case = understand(instance)
    refuse_large(case)
    topics = sorted(assignable_topics(case))
    partitions = [(t, number) for t in topics for number in range(case.partitions[t])]
    ways = 1
    for topic, _ in partitions:
        ways *= len(case.subscribers[topic])
        if ways > ASSIGNMENTS_MAX:
            raise TooLarge(f"more than {ASSIGNMENTS_MAX} assignments to list")
    for members in product(*(case.subscribers[topic] for topic, _ in partitions)):
        given: dict[str, dict[str, list[int]]] = {name: {} for name in case.wants}
        for member, (topic, number) in zip(members, partitions, strict=True):
            given[member].setdefault(topic, []).append(number)
        yield {"format": "assignment/1", "members": given}


def states_of(
    case: Case, asked: Collection[str], even: dict[str, list[int]] | None = None
) -> tuple[list[Pair], set[State]]:
    """Assign every partition in every way; merge states equal in what is asked for.

    ``asked`` are of loads, lags, moves, racks and topics; the amounts of the states are
    those of the (member, topic) pairs returned, with topic "" if topics are not asked
    for. With ``even`` only states in which each topic is even by itself are kept, and
    it receives the loads / capacity of each topic.

    Raises
    ------
    TooLarge
        If one more partition takes over `STEPS_MAX` steps, or as `every_assignment`.
    """
    refuse_large(case)
    topics = assignable_topics(case)
    pairs = [(name, "") for name in case.wants]
    if "topics" in asked:
        pairs = [(name, topic) for topic in topics for name in case.subscribers[topic]]
    place = {pair: at for at, pair in enumerate(pairs)}
    nothing = (0,) * len(pairs)
    states = {State(nothing, nothing, 0, 0)}
    for topic in topics:
        names = case.subscribers[topic]
        at = [place[name, topic if "topics" in asked else ""] for name in names]
        inside = {(state, (0,) * len(names)) for state in states}
        for number in range(case.partitions[topic]):
            if len(inside) * len(names) > STEPS_MAX:
                raise TooLarge(
                    f"too large for brute force: more than {STEPS_MAX} states"
                )
            added = [_added(case, name, topic, number, asked) for name in names]
            inside = {
                (
                    _plus(state, at[one], added[one]),
                    held if even is None else _raised(held, one, 1),
                )
                for state, held in inside
                for one in range(len(names))
            }
        if even is not None:
            shares = {held: shares_of(case, names, held) for _, held in inside}
            even[topic] = min(shares.values())
            inside = {pair for pair in inside if shares[pair[1]] == even[topic]}
        states = {state for state, _ in inside}
    return pairs, states


def best(
    instance: dict[str, Any], *, claim_rule: str = "newest-claim", lag: bool = True
) -> dict[str, Any]:
    """Return the best figures of all complete valid assignments.

    Of dec-min assignments: ``loads``, with capacities also as ``shares`` in common
    parts; the best ``kept`` and ``peak_lag``, and each where the other is best. Under
    any load vector: ``any_kept`` and ``any_peak_lag``. Without ``lag`` lags count 0;
    fewer states differ, so larger cases are settled.

    Raises
    ------
    TooLarge
        As `states_of`.
    """
    case = understand(instance, claim_rule=claim_rule)
    _, states = states_of(case, {"loads", "moves", *(["lags"] if lag else [])})
    names, owned = list(case.wants), count_owned(case)
    scores = [
        (
            shares_of(case, names, n),
            sorted(n, reverse=True),
            max(lags, default=0),
            moves,
        )
        for n, lags, moves, _ in states
    ]
    shares, loads, _, _ = min(scores)
    balanced = [(peak, owned - n) for vector, _, peak, n in scores if vector == shares]
    kept, peak = max(kept for _, kept in balanced), min(peak for peak, _ in balanced)
    return {
        **({"shares": shares} if is_weighted(case) else {}),
        "loads": loads,
        "kept": kept,
        "peak_lag_at_kept": min(lag for lag, keeps in balanced if keeps == kept),
        "peak_lag": peak,
        "kept_at_peak_lag": max(keeps for lag, keeps in balanced if lag == peak),
        "any_kept": owned - min(moves for *_, moves in scores),
        "any_peak_lag": min(peak for *_, peak, _ in scores),
    }


def settle_unstated(
    instance: dict[str, Any], verdict: Mapping[str, Any], *, claim_rule: str
) -> dict[str, Any]:
    """Return which claims of optimality hold, and the best figures found."""
    found, figures = best(instance, claim_rule=claim_rule), verdict["figures"]
    complete = verdict["verdict"] == "valid" and not figures.get("withheld")
    dec_min = complete and figures["loads"] == found["loads"]
    if "shares" in found:  # counts alone do not say who has them
        dec_min = dec_min and figures["dec_min_balanced"]
    return {
        "dec_min": dec_min,
        "stickiness": dec_min and figures["kept"] == found["kept"],
        "peak_lag": complete and figures["peak_lag"] == found["any_peak_lag"],
        "best": found,
    }


def refuse_large(case: Case) -> None:
    """Reject what no enumeration could finish, before it begins."""
    count = sum(case.partitions[topic] for topic in assignable_topics(case))
    if len(case.wants) > MEMBERS_MAX or count > PARTITIONS_MAX:
        found = f"{len(case.wants)} members and {count} partitions"
        limit = f"{MEMBERS_MAX} and {PARTITIONS_MAX}"
        raise TooLarge(f"{found}; brute force goes up to {limit}")


def shares_of(case: Case, names: Collection[str], loads: Collection[int]) -> list[int]:
    """Return loads over capacity in common parts, largest first."""
    if not is_weighted(case):
        return sorted(loads, reverse=True)
    common = lcm(*case.capacity.values())
    units = (common // case.capacity[name] for name in names)
    return sorted(map(mul, loads, units), reverse=True)


def _added(
    case: Case, name: str, topic: str, number: int, asked: Collection[str]
) -> tuple[int, int, int, int]:
    """Return what a partition adds to load, lag, moves and mismatches of a member."""
    lag = case.lag[topic][number] if topic in case.lag else 0
    mine = number in case.owned.get((name, topic), ())
    rivals = case.claimants.get(topic, {}).get(number, ())
    racks = case.replica_racks[topic][number] if topic in case.replica_racks else ()
    return (
        int("loads" in asked),
        lag if "lags" in asked else 0,
        int("moves" in asked and len(rivals) == 1 and not mine),
        is_far(case, name, racks) if "racks" in asked else 0,
    )


def _plus(state: State, at: int, added: tuple[int, int, int, int]) -> State:
    load, lag, moved, mismatched = added
    return State(
        _raised(state.loads, at, load),
        _raised(state.lags, at, lag),
        state.moves + moved,
        state.mismatches + mismatched,
    )


def _raised(values: tuple[int, ...], at: int, more: int) -> tuple[int, ...]:
    """Return the values with one of them raised."""
    return (*values[:at], values[at] + more, *values[at + 1 :])
