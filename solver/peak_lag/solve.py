"""Peak lag, exactly where that can be, and with a bound where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rebalance import Instance
from rebalance.documents import TermsProof
from solver.exact import solve as solve_core
from solver.limits import Limits
from solver.objectives import check_policy
from solver.peak_lag.evidence import evidence_of
from solver.peak_lag.levels import Ladder
from solver.peak_lag.setting import setting_of
from solver.peak_lag.topics import solve_by_topic
from solver.peak_lag.work import Work
from solver.policy import BalanceKind, Objective, Policy
from solver.result import Result, Status

if TYPE_CHECKING:
    from solver import cpsat

_GOALS: Final = {
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
    """Tell whether `solve` is made for a policy.

    Peak lag first, or under dec-min right after stickiness; then stickiness, lag spread
    and lag deviation in any order. Topic peak lag only alone, and not under dec-min,
    so that topics do not depend on each other.
    """
    goals = [level.only for level in policy.objectives]
    kind = policy.balance.kind
    if kind not in _BALANCES or policy.max_moves is not None:
        return False
    if goals == [Objective.TOPIC_PEAK_LAG]:
        return kind is not BalanceKind.DEC_MIN
    if not _GOALS.issuperset(goals) or Objective.PEAK_LAG not in goals[:2]:
        return False
    after_moves = goals[0] is Objective.STICKINESS and kind is BalanceKind.DEC_MIN
    return goals[0] is Objective.PEAK_LAG or after_moves


def solve(instance: Instance, policy: Policy, *, limits: Limits) -> Result:
    """Answer a policy that `can_answer` accepts.

    What the columns here cannot hold goes to `solver.cpsat`.

    Raises
    ------
    InstanceError
        If the policy cannot be asked of this instance.
    """
    check_policy(instance, policy)
    goals = [level.only for level in policy.objectives]
    if goals == [Objective.TOPIC_PEAK_LAG]:
        return solve_by_topic(instance, policy, Work(limits=limits))
    setting = setting_of(instance, policy.balance)
    if setting is None:
        return _by_program(instance, policy, limits)
    core = _core(instance, policy)
    if goals[0] is Objective.STICKINESS and core is None:
        return _by_program(instance, policy, limits)
    ladder = Ladder(
        instance=instance,
        setting=setting,
        policy=policy,
        work=Work(limits=limits),
        core=core,
    )
    return ladder.climb()


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
    goals = [level.only for level in policy.objectives]
    if policy.max_moves is None or goals not in _BOUNDED:
        return None
    if policy.balance.kind not in _BALANCES:
        return None
    core = _core(instance, policy)
    setting = setting_of(instance, policy.balance)
    if setting is None or (policy.balance.kind is BalanceKind.DEC_MIN and core is None):
        return None
    from solver import cpsat  # noqa: PLC0415 - CP-SAT takes a second to import

    known = evidence_of(instance, setting, Work(limits=limits))
    return cpsat.KnownBound(
        value=known.bound,
        proof=TermsProof(terms=list(known.terms)),
        certificate=None if core is None else core.certificate,
    )


def _core(instance: Instance, policy: Policy) -> Result | None:
    """Return the exact core's answer where it is dec-min and proved."""
    if policy.balance.kind is not BalanceKind.DEC_MIN:
        return None
    answer = solve_core(instance)
    return answer if answer.status is Status.OPTIMAL else None


def _by_program(instance: Instance, policy: Policy, limits: Limits) -> Result:
    from solver import cpsat  # noqa: PLC0415 - a program costs a second to import

    return cpsat.solve(instance, policy, limits=limits)
