"""Which policies `solver.peak_lag` answers or bounds, told without its kernels."""

from __future__ import annotations

from typing import Final

from solver.policy import BalanceKind, Objective, Policy

LAG_THEN_MOVES: Final = [Objective.PEAK_LAG, Objective.STICKINESS]
_ANSWERED: Final = {
    Objective.STICKINESS,
    Objective.PEAK_LAG,
    Objective.LAG_SPREAD,
    Objective.LAG_DEVIATION,
}
_BOUNDED: Final = (LAG_THEN_MOVES[:1], LAG_THEN_MOVES)
_BALANCES: Final = {BalanceKind.DEC_MIN, BalanceKind.PER_TOPIC, BalanceKind.NONE}


def can_answer(policy: Policy) -> bool:
    """Return whether `solver.peak_lag.solve` accepts a policy.

    Peak lag first, or under dec-min right after stickiness; then stickiness, lag spread
    and lag deviation in any order. Topic peak lag only alone, and not under dec-min,
    so that topics are independent.
    """
    objectives = [objective.only for objective in policy.objectives]
    kind = policy.balance.kind
    if kind not in _BALANCES or policy.max_moves is not None:
        return False
    if objectives == [Objective.TOPIC_PEAK_LAG]:
        return kind is not BalanceKind.DEC_MIN
    if not _ANSWERED.issuperset(objectives):
        return False
    if objectives[:1] == [Objective.STICKINESS]:
        return kind is BalanceKind.DEC_MIN and objectives[1:2] == [Objective.PEAK_LAG]
    return objectives[:1] == [Objective.PEAK_LAG]


def can_bound(policy: Policy) -> bool:
    """Return whether `solver.peak_lag.known_bounds` may bound a policy it cannot solve.

    Peak lag, then at most stickiness, with ``max-moves`` and a balance of `can_answer`.
    """
    objectives = [objective.only for objective in policy.objectives]
    is_bounded = objectives in _BOUNDED and policy.balance.kind in _BALANCES
    return policy.max_moves is not None and is_bounded
