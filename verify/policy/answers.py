"""An answer's statements about its policy: that it is allowed, and the best.

A policy has a balance and perhaps a budget, which the assignment alone decides, and
levels (`verify.policy.level_verdicts`). A status is a claim as well: ``optimal`` says
that every level is proved, by evidence that can be checked or by the word of an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verify.case import Case
from verify.certificate import (
    MOVES,
    Certificate,
    Checked,
    Reason,
    checked,
)
from verify.columns import Columns
from verify.figures import loads_of
from verify.policy.best_alone import (
    counts,
    narrowed,
    separate_values,
    steps_of_narrowing,
)
from verify.policy.constraints import constraints_fail, judge_impossible
from verify.policy.level_verdicts import Answer, level_verdicts, proves_peak_lag
from verify.policy.notation import Policy, read_policy
from verify.policy.objectives import (
    Tally,
    Value,
    check_scales,
    load_vector,
    tally_of,
    value_of,
)
from verify.policy.price_bounds import level_bounds, split
from verify.policy.work import Work

Document = Mapping[str, Any]


def judge_stated(
    case: Case,
    columns: Columns,
    loads: Mapping[str, int],
    assignment: Document,
    counted: Document,
    proved: dict[str, bool],
    certified: Checked | None,
    *,
    complete: bool,
) -> tuple[dict[str, Any], dict[str, Reason]]:
    """Judge an assignment's statements about its policy: verdict, and evidence.

    ``certified`` is the result of the certificate, if there is one.
    ``proved["peak_lag"]`` is set if a level proves it.

    Raises
    ------
    Unreadable
        If the capacities are too large for the policy (`check_scales`).
    """
    policy = read_policy(assignment["policy"])
    tally = tally_of(case, columns, counted, loads)
    check_scales(case, policy)
    broken = constraints_fail(case, policy, tally, counted)
    allowed = complete and not broken
    judged: list[dict[str, Any]] = []
    found: dict[str, Reason] = {}
    if complete:
        judged, found = _judge_levels(
            case, columns, policy, tally, assignment, proved, certified, allowed=allowed
        )
    met = _met(assignment, broken, complete=complete)
    if not complete:
        broken.pop("balance", None)  # other evidence states its gap
    stated: dict[str, Any] = {"policy": met, "objectives": judged}
    settled, against = _judge_status(case, policy, assignment, judged, allowed=allowed)
    if settled is not None:
        stated["status"] = {"claimed": assignment["status"], "found": settled}
    return stated, broken | found | ({"status": against} if against else {})


def _met(
    assignment: Document, broken: Mapping[str, Reason], *, complete: bool
) -> dict[str, Any]:
    """Return whether balance and budget of a policy are met."""
    return {
        "of": assignment["policy"],
        "balance_met": complete and "balance" not in broken,
        "budget_met": "budget" not in broken,
    }


def _judge_levels(
    case: Case,
    columns: Columns,
    policy: Policy,
    tally: Tally,
    assignment: Document,
    proved: dict[str, bool],
    certified: Checked | None,
    *,
    allowed: bool,
) -> tuple[list[dict[str, Any]], dict[str, Reason]]:
    shown, stated = assignment.get("certificate"), assignment.get("objectives", [])
    work = Work()
    bounds, fails = _certified(case, columns, policy, tally, shown, certified, work)
    answer = Answer(
        case=case,
        policy=policy,
        tally=tally,
        certificate=shown if proved["dec_min"] else None,
        certified=bounds,
        allowed=allowed,
        work=work,
    )
    judged = level_verdicts(answer, stated)
    proved["peak_lag"] |= proves_peak_lag(answer, judged)
    found = {} if fails is None else {"certificate": fails}
    if stated and [objective["of"] for objective in stated] != list(policy.levels):
        found["objectives"] = {"fails": "levels", "expected": list(policy.levels)}
    return judged, found


def _judge_status(
    case: Case,
    policy: Policy,
    assignment: Document,
    judged: Sequence[Document],
    *,
    allowed: bool,
) -> tuple[str | None, Reason]:
    """Return the verdict on a claimed status, if it is a claim, with the reason.

    ``proved``, ``search``, ``unproved`` or ``refuted``. ``search``: every level is
    proved or has the word of an engine, not checked.
    """
    status = assignment.get("status")
    found: Reason = {"claimed": status}
    if status in {"infeasible", "unknown"}:
        if "reason" in assignment:
            found["reason"] = assignment["reason"]
        if status == "unknown":
            return None, found
        found |= {"refuted": True} if allowed else judge_impossible(case, policy)
        settled = [outcome for outcome in ("proved", "refuted") if outcome in found]
        return settled[0] if settled else "unproved", found
    if status != "optimal":
        return None, {}
    by_search = [
        verdict["rests_on"] == "search" and verdict["bound"] == verdict["value"]
        for verdict in judged
    ]
    pairs = zip(judged, by_search, strict=True)
    unproved = [
        verdict["of"] for verdict, word in pairs if not (verdict["proved"] or word)
    ]
    if allowed and not unproved:
        return "search" if any(by_search) else "proved", {}
    found |= {"allowed": allowed, "unproved": unproved}
    return "unproved" if allowed else "refuted", found


def _certified(
    case: Case,
    columns: Columns,
    policy: Policy,
    tally: Tally,
    shown: Certificate | None,
    certified: Checked | None,
    work: Work,
) -> tuple[dict[str, Value], Reason | None]:
    """Return the bounds that a certificate proves, by level, or why it proves none.

    Its bounds on several levels hold of assignments as good in the levels before; from
    the first level in which this one is not, each level is bounded by itself.
    """
    if shown is None or (policy.balance != "dec-min" and "load" not in policy.levels):
        return {}, None
    before, _ = split(policy)
    weights = shown.get("weights", MOVES)
    alone = [policy.levels[of] for of in before]
    by_rack = weights.get("rack", 0) > 0 or counts("rack", alone)
    refused = work.refuse_passes(case, len(policy.levels) + 3, by_rack=by_rack)
    if refused is None and alone:
        refused = work.refuse(steps_of_narrowing(case, alone))
    if refused is not None:
        return {}, refused
    least = separate_values(case, alone)
    if least != tuple(value_of(case, tally, level) for level in alone):
        return {}, {"fails": "seats"}  # some partition is on none of its best members
    best = narrowed(case, columns, alone)
    if alone or certified is None:
        loads = loads_of(best.case, best.columns)
        certified = checked(best.case, best.columns, shown, loads)
    if certified.fails is not None:
        return {}, best.by_origin(certified.fails)
    found: dict[str, Value] = dict(zip(before, least, strict=True))
    found["load"] = load_vector(case, tally)
    return found | level_bounds(case, policy, tally, weights, certified.cost), None
