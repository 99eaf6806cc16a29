"""The one entry point: pick an engine for a policy, run it, count its figures anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from types import MappingProxyType
from typing import Final

from rebalance import Instance, extra_needed
from solver import exact
from solver.limits import Limits
from solver.objectives import check_policy, values_of
from solver.peak_lag_policies import can_answer, can_bound
from solver.policy import STICKY, Objective, Policy, parse_policy
from solver.result import KnownBound, MiscountError, Result

Solve = Callable[[Instance, Policy, Limits], Result]


class Engine(Enum):
    """How a policy is solved; AUTO takes the fastest engine that can prove it."""

    AUTO = "auto"
    CP_SAT = "cp-sat"
    HIGHS = "highs"


def solve(
    instance: Instance,
    policy: Policy | str = STICKY,
    *,
    limits: Limits | None = None,
    engine: Engine = Engine.AUTO,
) -> Result:
    """Return the best assignment for a policy, and its proofs.

    Reaching a limit makes the result FEASIBLE or UNKNOWN, never an exception.

    Parameters
    ----------
    policy : Policy or str
        Or its name or text form, as `parse_policy` reads it: ``"lag-aware"``.
    limits : Limits or None
        Without an effort and seconds, `solver.limits.DEFAULT_EFFORT` ends the search.

    Raises
    ------
    PolicyError
        If the text is not a policy.
    InstanceError
        If the policy does not apply to the instance (`solver.objectives.check_policy`).
    MissingExtraError
        If the policy needs OR-Tools or PuLP, and the extra ``programs`` is missing.
    """
    if isinstance(policy, str):
        policy = parse_policy(policy)
    if engine is Engine.AUTO and policy == STICKY:
        # Polynomial, and its certificate is checked from the columns: no limit, no
        # second count.
        return replace(exact.solve(instance), instance=instance)
    check_policy(instance, policy)
    with extra_needed(f"policy '{policy}'"):
        ended = (limits or Limits()).with_default_effort()
        result = ENGINES[engine](instance, policy, ended)
    _check_counts(instance, result)
    return replace(result, instance=instance)


def _check_counts(instance: Instance, result: Result) -> None:
    if result.assignment is None:
        return
    counted = values_of(instance, result.assignment, result.policy)
    reported = tuple(objective.value for objective in result.objectives)
    if counted != reported:
        raise MiscountError(f"{result.policy}: reported {reported}, counted {counted}")


def _auto(instance: Instance, policy: Policy, limits: Limits) -> Result:
    from solver import flow_policies

    by_flow = flow_policies.solve(instance, policy, limits=limits)
    if by_flow is not None:
        return by_flow
    if can_answer(policy):
        from solver import peak_lag

        return peak_lag.solve(instance, policy, limits=limits)
    from solver import cpsat

    known_bounds: Mapping[Objective, KnownBound] = {}
    if can_bound(policy):
        from solver import peak_lag

        known_bounds = peak_lag.known_bounds(instance, policy, limits=limits)
    return cpsat.solve(instance, policy, limits=limits, known_bounds=known_bounds)


def _cp_sat(instance: Instance, policy: Policy, limits: Limits) -> Result:
    from solver import cpsat

    return cpsat.solve(instance, policy, limits=limits)


def _highs(instance: Instance, policy: Policy, limits: Limits) -> Result:
    from solver import milp

    return milp.solve(instance, policy, limits=limits)


ENGINES: Final[Mapping[Engine, Solve]] = MappingProxyType(
    {
        Engine.AUTO: _auto,
        Engine.CP_SAT: _cp_sat,
        Engine.HIGHS: _highs,
    }
)
"""Each imports its packages when called: a solver library takes a second to import."""
