"""The optimum of the policy that an assignment states, for its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oracle.cli.options.limit_options import Allowed
from oracle.cli.runs.solve import Solving
from pipeline.evaluation import OPTIMUM, Evaluation, least_of
from rebalance import InstanceError, PolicyError
from solver import Engine, Policy, parse_policy

Verdict = dict[str, Any]


def optimum_beside(
    evaluation: Evaluation, verdict: Mapping[str, Any], seconds: float | None
) -> Verdict:
    """Return the optimum's figures and the gap of a verdict to them.

    The optimum is that of the policy in the verdict, with a time limit of ``seconds``;
    if the verdict has no policy, that of the default policy.

    Raises
    ------
    InstanceError
        If no engine solves this policy for this instance.
    """
    if "policy" not in verdict:
        return _by_default(evaluation, verdict)
    return _by_policy(evaluation, verdict, seconds)


def _by_default(evaluation: Evaluation, verdict: Mapping[str, Any]) -> Verdict:
    optimum = evaluation.optimum()
    _, found = optimum.judged()
    least = least_of(optimum, None, by_capacity=evaluation.by_capacity)
    return {
        "assignor": OPTIMUM,
        "status": optimum.status,
        "figures": found["figures"],
        "proved": found["proved"],
        "gap": least.gap(verdict),
    }


def _by_policy(
    evaluation: Evaluation, verdict: Mapping[str, Any], seconds: float | None
) -> Verdict:
    text = verdict["policy"]["of"]
    solving = Solving(
        policy=_policy(text), engine=Engine.AUTO, allowed=Allowed(time_limit=seconds)
    )
    document = solving.answer(evaluation.instance).document(evaluation.instance)
    answer = evaluation.judge(OPTIMUM, document)
    assignment, best = answer.judged()
    found = best["verdict"] == "valid"
    return {
        "assignor": OPTIMUM,
        "policy": text,
        "status": answer.status,
        **({"reason": assignment["reason"]} if "reason" in assignment else {}),
        "figures": best["figures"] if found else {},
        "objectives": best["objectives"],
        "proved": best["proved"],
        "gap": _gap(verdict, best) if answer.status == "optimal" else None,
    }


def _policy(text: str) -> Policy:
    try:
        return parse_policy(text)
    except PolicyError as error:
        raise InstanceError(error.reason, subject=text) from None


def _gap(verdict: Mapping[str, Any], best: Mapping[str, Any]) -> dict[str, int] | None:
    """Subtract the optimum's values objective by objective; None: nothing to compare.

    An assignment that the policy does not allow can have lower values than the optimum;
    so can an objective that follows a worse one. Lists are not subtracted: their gap is
    0 if they are equal, else omitted.
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
