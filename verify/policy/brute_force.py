"""Brute force: the best of all assignments of a tiny rebalance.

`verify.policy.enumeration` lists them. The assignments that a policy allows follow from
the definitions alone: no chains, no certificates, no terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verify.case import Case, case_of
from verify.columns import Columns, columns_of
from verify.keys import is_weighted
from verify.policy.enumeration import TooLarge, shares_of, states_of
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

STATES_MAX = 100_000

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


def _counted(policy: Policy) -> set[str]:
    """Return the values that distinguish states."""
    words = [objective for level in policy.levels.values() for _, objective in level]
    counted = set().union(*(ASKS[word] for word in (policy.balance, *words)))
    return counted | (set() if policy.max_moves is None else {"moves"})


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
