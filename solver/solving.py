"""One door to all engines: a policy and an instance in, the best known answer out.

What an engine says is counted anew before it is passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from rebalance import Instance
from solver.limits import Limits
from solver.outcome import MiscountError, Outcome
from solver.policy import STICKY, Policy
from solver.values import check_policy, values_of

Solve = Callable[[Instance, Policy, Limits], Outcome]


class Engine(Enum):
    """Who answers; AUTO takes the quickest that can prove it."""

    AUTO = "auto"
    CP_SAT = "cp-sat"
    HIGHS = "highs"
    CBC = "cbc"


def solve_policy(
    instance: Instance,
    policy: Policy = STICKY,
    *,
    limits: Limits | None = None,
    engine: Engine = Engine.AUTO,
) -> Outcome:
    """Answer a policy.

    Returns
    -------
    Outcome
        A limit that strikes makes it FEASIBLE or UNKNOWN, never an exception.

    Raises
    ------
    InstanceError
        If the instance cannot be asked this (`solver.values.check_policy`).
    """
    check_policy(instance, policy)
    outcome = ENGINES[engine](instance, policy, limits or Limits())
    _check_counted(instance, outcome)
    return outcome


def _check_counted(instance: Instance, outcome: Outcome) -> None:
    if outcome.assignment is None:
        return
    found = values_of(instance, outcome.assignment, outcome.policy)
    told = tuple(one.value for one in outcome.objectives)
    if found != told:
        raise MiscountError(f"{outcome.policy}: told {told}, counted {found}")


def _auto(instance: Instance, policy: Policy, limits: Limits) -> Outcome:
    from solver import polynomial

    found = polynomial.solve(instance, policy, limits=limits)
    if found is not None:
        return found
    from solver import budget, cpsat, lag

    if lag.can_answer(policy):
        return lag.solve(instance, policy, limits=limits)
    if budget.can_answer(policy):
        return budget.solve(instance, policy, limits=limits)
    return cpsat.solve(instance, policy, limits=limits)


def _cp_sat(instance: Instance, policy: Policy, limits: Limits) -> Outcome:
    from solver import cpsat

    return cpsat.solve(instance, policy, limits=limits)


def _highs(instance: Instance, policy: Policy, limits: Limits) -> Outcome:
    from solver import linear

    backend = linear.Backend.HIGHS
    return linear.solve(instance, policy, limits=limits, backend=backend)


def _cbc(instance: Instance, policy: Policy, limits: Limits) -> Outcome:
    from solver import linear

    backend = linear.Backend.CBC
    return linear.solve(instance, policy, limits=limits, backend=backend)


ENGINES: Final[Mapping[Engine, Solve]] = MappingProxyType(
    {
        Engine.AUTO: _auto,
        Engine.CP_SAT: _cp_sat,
        Engine.HIGHS: _highs,
        Engine.CBC: _cbc,
    }
)
"""Each imports what it needs when asked: a program costs a second to import."""
