"""Solve the policies of peak lag, exactly where possible and else with a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rebalance import Instance, TermsProof
from solver import exact
from solver.limits import Limits
from solver.objectives import check_policy
from solver.peak_lag.bounds import bound_peak_lag
from solver.peak_lag.lag_instance import build_lag_instance
from solver.peak_lag.lexicographic_peak_lag import LexicographicPeakLag
from solver.peak_lag.topic_peak_lag import TopicPeakLag
from solver.peak_lag.work import Work
from solver.policy import BalanceKind, Objective, Policy
from solver.result import Result, Status

if TYPE_CHECKING:
    from solver import cpsat

_OBJECTIVES: Final = {
    Objective.STICKINESS,
    Objective.PEAK_LAG,
    Objective.LAG_SPREAD,
    Objective.LAG_DEVIATION,
}
_BALANCES: Final = {BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC, BalanceKind.NONE}
_BOUNDED: Final = (
    [Objective.PEAK_LAG],
    [Objective.PEAK_LAG, Objective.STICKINESS],
)


def can_answer(policy: Policy) -> bool:
    """Return whether `solve` accepts a policy.

    Peak lag first, or under dec-min right after stickiness; then stickiness, lag spread
    and lag deviation in any order. Topic peak lag only alone, and not under dec-min,
    so that topics are independent.
    """
    objectives = [one.only for one in policy.objectives]
    kind = policy.balance.kind
    if kind not in _BALANCES or policy.max_moves is not None:
        return False
    if objectives == [Objective.TOPIC_PEAK_LAG]:
        return kind is not BalanceKind.DEC_MIN
    if not _OBJECTIVES.issuperset(objectives):
        return False
    if objectives[:1] == [Objective.STICKINESS]:
        return kind is BalanceKind.DEC_MIN and objectives[1:2] == [Objective.PEAK_LAG]
    return objectives[:1] == [Objective.PEAK_LAG]


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Solve a policy that `can_answer` accepts.

    Where the exact core proves no certificate, `solver.cpsat` solves it.

    Raises
    ------
    InstanceError
        If the policy does not apply to this instance.
    """
    check_policy(instance, policy)
    first, work = policy.objectives[0].only, Work(limits=limits)
    if first is Objective.TOPIC_PEAK_LAG:
        return TopicPeakLag(instance, policy, work).solve()
    lag_instance = build_lag_instance(instance, policy.balance)
    core = _core(instance, policy)
    if lag_instance is None or (first is Objective.STICKINESS and core is None):
        from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

        return cpsat.solve(instance, policy, limits=limits)
    return LexicographicPeakLag(
        instance=instance,
        lag_instance=lag_instance,
        policy=policy,
        work=work,
        core=core,
    ).solve()


def known_bound(
    instance: Instance, policy: Policy, *, limits: Limits
) -> cpsat.KnownBound | None:
    """Return the lower bound on peak lag for `solver.cpsat`, with its terms.

    The terms bound peak lag within the balance, whatever the limit on moves.

    Returns
    -------
    KnownBound or None
        None unless the policy is peak lag, then at most stickiness, with ``max-moves``
        and a balance that `solve` accepts.
    """
    objectives = [one.only for one in policy.objectives]
    kind = policy.balance.kind
    if policy.max_moves is None or objectives not in _BOUNDED or kind not in _BALANCES:
        return None
    lag_instance = build_lag_instance(instance, policy.balance)
    core = _core(instance, policy)
    if lag_instance is None or (kind is BalanceKind.DEC_MIN and core is None):
        return None
    from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to load

    known = bound_peak_lag(instance, lag_instance, Work(limits=limits))
    return cpsat.KnownBound(
        value=known.value,
        proof=TermsProof(terms=list(known.terms)),
        certificate=None if core is None else core.certificate,
    )


def _core(instance: Instance, policy: Policy) -> Result | None:
    """Return the result of the exact core where it is dec-min and proved."""
    if policy.balance.kind is not BalanceKind.DEC_MIN:
        return None
    result = exact.solve(instance)
    return result if result.status is Status.OPTIMAL else None
