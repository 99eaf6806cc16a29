"""From what searches found to an outcome: counted anew, with what proves it."""

from __future__ import annotations

from rebalance.documents import SearchProof
from solver.cpsat.known_bound import KnownBound
from solver.cpsat.levels import Climb
from solver.cpsat.search import ENGINE
from solver.objectives import scale_of
from solver.policy import Policy, WeightedObjective
from solver.result import (
    MiscountError,
    ObjectiveResult,
    Proof,
    Result,
    Status,
    Value,
    zero_term,
)


def outcome_of(climb: Climb, policy: Policy, *, reason: str | None) -> Result:
    """Say what was reached, level by level, and whether all of it is proved.

    Parameters
    ----------
    climb : Climb
    policy : Policy
    reason : str or None
        Why not, if it is not.

    Raises
    ------
    MiscountError
        If a bound is above its value: somebody counted wrong.
    """
    open_ends: list[Value | None] = [None] * len(policy.objectives)
    bounds = (climb.bounds + open_ends)[: len(policy.objectives)]
    achieved = tuple(
        _achieved(climb, level, bound, climb.known(number, level))
        for number, (level, bound) in enumerate(
            zip(policy.objectives, bounds, strict=True)
        )
    )
    proved = all(one.is_proved for one in achieved)
    return Result(
        policy=policy,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        assignment=climb.best,
        objectives=achieved,
        certificate=None if climb.given is None else climb.given.certificate,
        reason=None if proved else reason,
    )


def _achieved(
    climb: Climb, level: WeightedObjective, bound: Value | None, known: KnownBound
) -> ObjectiveResult:
    value = climb.value(level)
    if isinstance(value, tuple) and bound is None:
        bound = climb.least_loads
    low, proof = _lowest(value, bound, known)
    return ObjectiveResult(
        of=level,
        value=value,
        bound=_checked(value, low, level),
        scale=scale_of(climb.problem.instance, level),
        proof=proof,
    )


def _checked(value: Value, bound: Value, level: WeightedObjective) -> Value:
    """Return the bound, unless it is above the value."""
    too_much = (
        bound > value
        if isinstance(value, int) and isinstance(bound, int)
        else _words(bound) > _words(value)
    )
    if too_much:
        raise MiscountError(f"{level}: proved {bound}, counted {value}")
    return bound


def _words(value: Value) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _lowest(
    value: Value, bound: Value | None, known: KnownBound
) -> tuple[Value, Proof | None]:
    """Pick the better of bound and terms; what anybody can add up goes first."""
    if isinstance(value, tuple):
        nothing = (0,) * len(value)
        if not any(value):
            return value, zero_term()
        return (nothing, None) if bound is None else (bound, SearchProof(engine=ENGINE))
    if known.value == value or not isinstance(bound, int) or bound <= known.value:
        return known.value, known.proof
    tried = [term for term in known.proof.terms if term.kind != "zero"]
    return bound, SearchProof.model_construct(engine=ENGINE, terms=tried or None)
