"""Brute force: every assignment of a tiny rebalance, and the best of them.

`every_assignment` lists them one by one. `states_of` is a dynamic program over
partitions that merges assignments equal in everything asked for, so it reaches further.
Both reject instances that would take too long. The assignments that a policy allows
follow from the definitions alone: no chains, no certificates, no terms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from math import lcm, prod
from operator import add, mul
from typing import Any

from verify.case import Case, case_of
from verify.columns import Columns, columns_of
from verify.figures import is_far
from verify.keys import is_weighted
from verify.policy.feasible_region import assignable_topics
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import (
    Pair,
    Tally,
    at_most,
    common_capacity,
    load_vector,
    scale_of,
    scaled_loads,
    tally_of,
    value_of,
)

MEMBERS_MAX = 20
PARTITIONS_MAX = 200
ASSIGNMENTS_MAX = 200_000
STATES_MAX = 100_000
STEPS_MAX = 500_000

ASKS: Mapping[str, frozenset[str]] = {
    "stickiness": frozenset({"moves"}),
    "peak-lag": frozenset({"lags"}),
    "topic-peak-lag": frozenset({"lags", "topics"}),
    "lag-spread": frozenset({"lags"}),
    "lag-deviation": frozenset({"lags"}),
    "rack": frozenset({"racks"}),
    "per-topic-spread": frozenset({"loads", "topics"}),
    "load": frozenset({"loads"}),
    "sum-of-squares": frozenset({"loads"}),
    "dec-min": frozenset({"loads"}),
    "kip54": frozenset({"loads", "topics"}),
    "per-topic": frozenset(),  # uneven states are left out topic by topic
    "spread": frozenset({"loads"}),
    "none": frozenset(),
}
"""The values that distinguish states, for each objective and each balance."""

Document = Mapping[str, Any]
Vector = list[Any]  # values of all levels, first level first


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
    case = case_of(instance, claim_rule=claim_rule)
    states = states_of(case, {"loads", "moves", *(["lags"] if lag else [])})
    owned = case.owned_count
    scores = []
    for state in states:
        loads = [state.loads.get((name, ""), 0) for name in case.wants]
        vectors = shares_of(case, case.wants, loads), sorted(loads, reverse=True)
        scores.append(
            (*vectors, owned - state.moves, max(state.lags.values(), default=0))
        )
    shares, vector = min(score[:2] for score in scores)
    balanced = [score[2:] for score in scores if score[0] == shares]
    kept, at_kept = min(balanced, key=lambda pair: (-pair[0], pair[1]))
    at_peak, peak = min(balanced, key=lambda pair: (pair[1], -pair[0]))
    return {
        **({"shares": shares} if is_weighted(case) else {}),
        "loads": vector,
        "kept": kept,
        "peak_lag_at_kept": at_kept,
        "peak_lag": peak,
        "kept_at_peak_lag": at_peak,
        "any_kept": max(score[2] for score in scores),
        "any_peak_lag": min(score[3] for score in scores),
    }


class Brute:
    """Everything a policy allows of one case, with its values.

    Raises
    ------
    TooLarge
        If there are too many different states.
    """

    def __init__(self, case: Case, text: str) -> None:
        self.case = case
        self.policy = read_policy(text)
        self._even: dict[str, list[int]] = {}
        even = self._even if self.policy.balance == "per-topic" else None
        tallies = states_of(case, _counted(self.policy), even)
        if len(tallies) > STATES_MAX:
            raise TooLarge(f"too large for brute force: more than {STATES_MAX} states")
        self._least_loads = min(load_vector(case, tally) for tally in tallies)
        self.vectors = [self.vector(tally) for tally in tallies if self.allows(tally)]

    def allows(self, tally: Tally) -> bool:
        """Return by the definitions whether balance and budget are met."""
        case, policy = self.case, self.policy
        if policy.max_moves is not None and tally.moves > policy.max_moves:
            return False
        match policy.balance:
            case "dec-min":
                return load_vector(case, tally) == self._least_loads
            case "kip54":
                return _is_kip54(case, tally.loads)
            case "spread":
                loads = scaled_loads(case, tally).values()
                width = max(loads, default=0) - min(loads, default=0)
                return width <= (policy.most or 0) * common_capacity(case)
        return True  # per topic: uneven states have been left out

    def allows_answer(self, tally: Tally) -> bool:
        """Return the same for a given tally, which may be uneven in topics."""
        for topic, least in self._even.items():
            names = self.case.subscribers[topic]
            loads = [tally.loads.get((name, topic), 0) for name in names]
            if shares_of(self.case, names, loads) != least:
                return False
        return self.allows(tally)

    def vector(self, tally: Tally) -> Vector:
        """Return the values of all levels."""
        levels = self.policy.levels.values()
        return [value_of(self.case, tally, level) for level in levels]


def enumerate_claims(
    instance: dict[str, Any],
    assignment: dict[str, Any],
    verdict: Mapping[str, Any],
    *,
    claim_rule: str,
) -> dict[str, Any]:
    """Return the verdict of enumeration; ``refused`` if there is too much."""
    try:
        if "policy" not in assignment:
            return settle_unstated(instance, verdict, claim_rule=claim_rule)
        is_valid = verdict["verdict"] == "valid"
        case = case_of(instance, claim_rule=claim_rule)
        return settle_policy(
            case,
            columns_of(case, assignment["members"]),
            assignment,
            complete=is_valid and not verdict["figures"].get("withheld"),
        )
    except TooLarge as error:
        return {"refused": str(error)}


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


def settle_policy(
    case: Case,
    columns: Columns,
    assignment: Document,
    *,
    complete: bool,
) -> dict[str, Any]:
    """Return the verdict of enumeration on the claims of an answer about its policy.

    docs/words.md has the form. An assignment that is not ``complete`` and valid reaches
    no level.

    Raises
    ------
    TooLarge
        If there are too many different states.
    """
    brute = Brute(case, assignment["policy"])
    tally = tally_of(case, columns) if complete else None
    allowed = tally is not None and brute.allows_answer(tally)
    mine = None if tally is None else brute.vector(tally)
    optimal = allowed and mine == min(brute.vectors)
    found: dict[str, Any] = {
        "policy": assignment["policy"],
        "feasible": bool(brute.vectors),
        "allowed": allowed,
        "objectives": _levels(brute, mine, assignment, allowed=allowed),
        "optimal": optimal,
    }
    holds = {"optimal": optimal, "feasible": allowed, "infeasible": not brute.vectors}
    if assignment.get("status") in holds:
        found["status_holds"] = holds[assignment["status"]]
    return found


def shares_of(case: Case, names: Collection[str], loads: Collection[int]) -> list[int]:
    """Return loads over capacity in common parts, largest first."""
    if not is_weighted(case):
        return sorted(loads, reverse=True)
    common = lcm(*case.capacity.values())
    units = (common // case.capacity[name] for name in names)
    return sorted(map(mul, loads, units), reverse=True)


def _levels(
    brute: Brute, mine: Vector | None, assignment: Document, *, allowed: bool
) -> list[dict[str, Any]]:
    """Return per level the least value, and whether it is reached and a bound holds."""
    bounds = {
        objective["of"]: objective["bound"]
        for objective in assignment.get("objectives", ())
    }
    least = min(brute.vectors, default=[])
    levels = brute.policy.levels.items()
    found: list[dict[str, Any]] = []
    for place, (of, level) in enumerate(levels, start=1):
        one: dict[str, Any] = {"of": of}
        if least:
            one["least"] = least[place - 1]
        if scale_of(brute.case, level) != 1:
            one["scale"] = scale_of(brute.case, level)
        one["reached"] = allowed and (mine or [])[:place] == least[:place]
        if of in bounds:
            before = (least if mine is None else mine)[: place - 1]
            as_good = (v[place - 1] for v in brute.vectors if v[: place - 1] == before)
            one["bound_holds"] = all(at_most(bounds[of], v) for v in as_good)
        found.append(one)
    return found


def _refuse_large(case: Case) -> None:
    """Reject, before it begins, an enumeration that could not finish."""
    count = sum(case.partitions[topic] for topic in assignable_topics(case))
    if len(case.wants) > MEMBERS_MAX or count > PARTITIONS_MAX:
        found = f"{len(case.wants)} members and {count} partitions"
        limit = f"{MEMBERS_MAX} and {PARTITIONS_MAX}"
        raise TooLarge(f"{found}; brute force goes up to {limit}")


def _counted(policy: Policy) -> set[str]:
    """Return the values that distinguish states."""
    words = [objective for level in policy.levels.values() for _, objective in level]
    counted = set().union(*(ASKS[word] for word in (policy.balance, *words)))
    return counted | (set() if policy.max_moves is None else {"moves"})


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


def _is_kip54(case: Case, held: Mapping[Pair, int]) -> bool:
    """Return whether no transfer to a subscriber with two fewer exists."""
    loads = dict.fromkeys(case.wants, 0)
    for (name, _), count in held.items():
        loads[name] += count
    return all(
        loads[name] - loads[other] <= 1
        for (name, topic), count in held.items()
        for other in (case.subscribers[topic] if count else ())
    )
