"""Choice of the leader's assignor: a heuristic by name, or the oracle."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from heuristics import ASSIGNORS
from rebalance import Assignment, Instance, InstanceError, instance_of, parse_rebalance
from solver import NAMED, SAMPLES, Limits, Policy, parse_policy, solve

ORACLE: Final = "oracle"

Assign = Callable[[Instance, Limits], Assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A named function that returns an assignment or raises an error."""

    name: str
    assign: Assign


def chosen(algorithm: str, policy: str = "sticky") -> Choice:
    """Return the chosen assignor, with all of its code imported and compiled.

    Parameters
    ----------
    algorithm : str
        Name of a heuristic, or ``oracle``.
    policy : str
        Policy of the oracle, by name or in text form (docs/policies.md).

    Raises
    ------
    ValueError
        If there is no such algorithm, or the policy is invalid.
    """
    if algorithm == ORACLE:
        parsed = NAMED[policy] if policy in NAMED else parse_policy(policy)
        choice = Choice(name=f"{ORACLE} ({policy})", assign=_asking(parsed))
    elif algorithm in ASSIGNORS:
        heuristic = ASSIGNORS[algorithm]
        choice = Choice(
            name=algorithm, assign=lambda instance, _: heuristic.assign(instance)
        )
    else:
        known = ", ".join((ORACLE, *ASSIGNORS))
        raise ValueError(f"no assignor {algorithm!r}; there are: {known}")
    warm(choice)
    return choice


def warm(choice: Choice) -> None:
    """Solve two small rebalances, so that all code is imported and compiled.

    In a new environment this can take a minute, which is too long during a rebalance.
    """
    for text in SAMPLES:
        with suppress(InstanceError):  # a policy that small groups cannot meet
            choice.assign(instance_of(parse_rebalance(text)), Limits())


def _asking(policy: Policy) -> Assign:
    def assign(instance: Instance, limits: Limits) -> Assignment:
        outcome = solve(instance, policy, limits=limits)
        if outcome.assignment is None:
            reason = outcome.reason or outcome.status.value
            raise InstanceError(f"no answer to {policy}: {reason}", subject="the group")
        return outcome.assignment

    return assign
