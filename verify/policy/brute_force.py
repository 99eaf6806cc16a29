"""Brute force for policies: the least values of all assignments that are allowed.

What is allowed follows from the definitions alone: no chains, no certificates, no
terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case, Row, understand
from verify.policy.enumeration import (
    State,
    TooLarge,
    settle_unstated,
    shares_of,
    states_of,
)
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import (
    Pair,
    Tally,
    at_most,
    common_capacity,
    load_vector,
    scale_of,
    scaled,
    tally_of,
    value_of,
)
from verify.rules import rows_of

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
    "kip54-score": frozenset({"loads"}),
    "sum-of-squares": frozenset({"loads"}),
    "dec-min": frozenset({"loads"}),
    "kip54": frozenset({"loads", "topics"}),
    "per-topic": frozenset(),  # uneven states are left out topic by topic
    "spread": frozenset({"loads"}),
    "none": frozenset(),
}
"""What distinguishes states, for each objective and each balance."""

Document = Mapping[str, Any]
Vector = tuple[Any, ...]  # values of all levels, first level first


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
        pairs, states = states_of(case, _asked(self.policy), even)
        if len(states) > STATES_MAX:
            raise TooLarge(f"too large for brute force: more than {STATES_MAX} states")
        tallies = [_tally(pairs, state) for state in states]
        self._least_loads = min(load_vector(case, tally) for tally in tallies)
        self.vectors = {self.vector(tally) for tally in tallies if self.allows(tally)}

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
                loads = scaled(case, tally.loads).values()
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
        found = [value_of(self.case, tally, level) for level in levels]
        return tuple(tuple(one) if isinstance(one, list) else one for one in found)


def enumerate_claims(
    instance: dict[str, Any],
    assignment: dict[str, Any],
    verdict: Mapping[str, Any],
    *,
    claim_rule: str,
) -> dict[str, Any]:
    """Return what enumeration finds of the claims; ``refused`` if there is too much."""
    try:
        if "policy" not in assignment:
            return settle_unstated(instance, verdict, claim_rule=claim_rule)
        is_valid = verdict["verdict"] == "valid"
        return settle_policy(
            understand(instance, claim_rule=claim_rule),
            rows_of(assignment["members"]),
            assignment,
            complete=is_valid and not verdict["figures"].get("withheld"),
        )
    except TooLarge as error:
        return {"refused": str(error)}


def settle_policy(
    case: Case,
    rows: Sequence[Row],
    assignment: Document,
    *,
    complete: bool,
) -> dict[str, Any]:
    """Return what enumeration finds of the claims of an answer about its policy.

    docs/words.md has the form. An assignment that is not ``complete`` and valid reaches
    no level.

    Raises
    ------
    TooLarge
        If there are too many different states.
    """
    brute = Brute(case, assignment["policy"])
    tally = tally_of(case, rows) if complete else None
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
    bounds = {one["of"]: one["bound"] for one in assignment.get("objectives", ())}
    least = min(brute.vectors, default=())
    levels = brute.policy.levels.items()
    found: list[dict[str, Any]] = []
    for place, (of, level) in enumerate(levels, start=1):
        one: dict[str, Any] = {"of": of}
        if least:
            one["least"] = _plain(least[place - 1])
        if scale_of(brute.case, level) != 1:
            one["scale"] = scale_of(brute.case, level)
        one["reached"] = allowed and (mine or ())[:place] == least[:place]
        if of in bounds:
            before = (least if mine is None else mine)[: place - 1]
            as_good = (v[place - 1] for v in brute.vectors if v[: place - 1] == before)
            one["bound_holds"] = all(at_most(bounds[of], _plain(v)) for v in as_good)
        found.append(one)
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _asked(policy: Policy) -> set[str]:
    """Return what distinguishes states."""
    words = [one for level in policy.levels.values() for _, one in level]
    asked = set().union(*(ASKS[word] for word in (policy.balance, *words)))
    return asked | (set() if policy.max_moves is None else {"moves"})


def _tally(pairs: Sequence[Pair], state: State) -> Tally:
    held = zip(pairs, state.loads, state.lags, strict=True)
    listed = [(pair, load, lag) for pair, load, lag in held if load or lag]
    return Tally(
        loads={pair: load for pair, load, _ in listed},
        lags={pair: lag for pair, _, lag in listed},
        moves=state.moves,
        mismatches=state.mismatches,
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
