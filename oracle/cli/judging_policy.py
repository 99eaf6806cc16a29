"""The optimum of the policy that an assignment states, beside its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import verify
from oracle.cli.pairing import Document

Verdict = dict[str, Any]
Levels = Sequence[Mapping[str, Any]]


def against_policy(
    instance: Document,
    verdict: Mapping[str, Any],
    *,
    claim_rule: str,
    seconds: float | None,
) -> Verdict:
    """Answer the policy of a verdict anew, have the answer judged, and compare.

    Raises
    ------
    InstanceError
        If the instance cannot be asked for it, or if nothing answers this policy.
    """
    from oracle.against import plain
    from oracle.cli.limits import Allowed
    from oracle.cli.solving import Solving
    from rebalance import ClaimRule, instance_of
    from rebalance.documents import rebalance_of
    from rebalance.errors import InstanceError, PolicyError
    from solver.engines import Engine
    from solver.policy import parse_policy

    policy = verdict["policy"]["of"]
    try:
        asked = parse_policy(policy)
    except PolicyError as error:
        raise InstanceError(error.reason, subject=policy) from None
    columns = instance_of(rebalance_of(instance), claim_rule=ClaimRule(claim_rule))
    allowed = Allowed(seconds=seconds)
    solving = Solving(policy=asked, engine=Engine.AUTO, allowed=allowed)
    answer = plain(solving.answer(columns))
    best = verify.judge(instance, answer, claim_rule=claim_rule)
    found = best["verdict"] == "valid"
    return {
        "assignor": "optimum",
        "policy": policy,
        "status": answer["status"],
        **({"reason": answer["reason"]} if "reason" in answer else {}),
        "figures": best["figures"] if found else {},
        "objectives": best["objectives"],
        "proved": best["proved"],
        "gap": _gap(verdict, best) if answer["status"] == "optimal" else None,
    }


def _gap(verdict: Mapping[str, Any], best: Mapping[str, Any]) -> dict[str, int] | None:
    """Count by how much each level is above the optimum; None: nothing to compare.

    What is not allowed can be below it, and what is worse in one level, too, in the
    next. Lists are compared, not subtracted: they are at 0 or left out.
    """
    met = verdict["policy"]
    if not (met["balance_met"] and met["budget_met"]):
        return None
    pairs = zip(verdict["objectives"], best["objectives"], strict=True)
    values = {mine["of"]: (mine["value"], other["value"]) for mine, other in pairs}
    return {
        of: 0 if mine == other else mine - other
        for of, (mine, other) in values.items()
        if mine == other or isinstance(mine, int)
    }
