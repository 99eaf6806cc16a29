"""What an answer says of its policy: that it is allowed, and the best of what is.

A policy has a balance and maybe a budget, which can be told from the assignment alone,
and levels (`verify.levels`). A status is a claim as well: ``optimal`` that every level
is proved, by something that can be checked or by the word of an engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from verify.case import Case, Row
from verify.certificate import balance_fails
from verify.constraints import over_budget, too_wide, uneven_topic
from verify.levels import Answer, level_verdicts, proves_peak_lag
from verify.objectives import Tally, Value, load_vector, tally_of, value_of
from verify.policy import Policy, read_policy
from verify.possible import judge_impossible
from verify.prices import certified, separate_values, split
from verify.room import room_of
from verify.seats import Certificate

Document = Mapping[str, Any]
Reason = dict[str, Any]


def judge_answer(
    case: Case,
    rows: Sequence[Row],
    assignment: Document,
    counted: Document,
    proved: dict[str, bool],
    *,
    complete: bool,
) -> tuple[dict[str, Any], dict[str, Reason]]:
    """Judge what an assignment states of its policy, if it states one.

    Returns
    -------
    dict
        ``policy`` and ``objectives`` of the verdict; nothing if no policy is stated.
        Objectives are judged of complete valid assignments only.
    dict
        Evidence against what is stated. ``proved["peak_lag"]`` is set if a level
        proves it.
    """
    if "policy" not in assignment:
        odd = {"objectives": {"fails": "policy"}} if "objectives" in assignment else {}
        return {}, odd | _status(assignment, [], allowed=None)
    policy, tally = read_policy(assignment["policy"]), tally_of(case, rows)
    broken = constraints_fail(case, policy, tally, counted)
    judged: list[dict[str, Any]] = []
    found: dict[str, Reason] = {}
    if complete:
        judged, found = _judge_levels(
            case, rows, policy, tally, assignment, proved, allowed=not broken
        )
    else:
        broken.pop("balance", None)  # other evidence says what is missing
    met = {
        "of": assignment["policy"],
        "balance_met": complete and "balance" not in broken,
        "budget_met": "budget" not in broken,
    }
    status = _status(assignment, judged, allowed=complete and not broken)
    if assignment.get("status") == "infeasible" and "refuted" not in status["status"]:
        status["status"] |= judge_impossible(case, policy)
    return {"policy": met, "objectives": judged}, broken | found | status


def _judge_levels(
    case: Case,
    rows: Sequence[Row],
    policy: Policy,
    tally: Tally,
    assignment: Document,
    proved: dict[str, bool],
    *,
    allowed: bool,
) -> tuple[list[dict[str, Any]], dict[str, Reason]]:
    shown, told = assignment.get("certificate"), assignment.get("objectives", [])
    bounds, fails = _certified(case, rows, policy, tally, shown)
    answer = Answer(
        case=case,
        policy=policy,
        tally=tally,
        room=room_of(case, policy.balance, shown if proved["dec_min"] else None),
        certified=bounds,
        allowed=allowed,
    )
    judged = level_verdicts(answer, told)
    proved["peak_lag"] |= proves_peak_lag(answer, judged)
    found = {} if fails is None else {"certificate": fails}
    if told and [one["of"] for one in told] != list(policy.levels):
        found["objectives"] = {"fails": "levels", "expected": list(policy.levels)}
    return judged, found


def constraints_fail(
    case: Case, policy: Policy, tally: Tally, counted: Document
) -> dict[str, Reason]:
    """Return why the balance and the budget of a policy are not met, if so.

    Of the two balances that the figures decide, the evidence stands with these.
    """
    broken: Reason | None = None
    match policy.balance:
        case "dec-min" if not counted["dec_min_balanced"]:
            broken = {"fails": "dec-min"}
        case "kip54" if not counted["kip54_balanced"]:
            broken = {"fails": "kip54"}
        case "per-topic":
            broken = uneven_topic(case, tally)
        case "spread":
            broken = too_wide(case, tally, policy.most or 0)
    over = over_budget(tally, policy.max_moves)
    found = {"balance": broken, "budget": over}
    return {name: reason for name, reason in found.items() if reason is not None}


def _status(
    assignment: Document, judged: Sequence[Document], *, allowed: bool | None
) -> dict[str, Reason]:
    """Return what a status claims that is not so, or that there was no answer and why.

    ``allowed`` is None without a policy: there is nothing then to be allowed by.
    """
    status = assignment.get("status")
    found: Reason = {"claimed": status}
    if status in {"infeasible", "unknown"}:
        if "reason" in assignment:
            found["reason"] = assignment["reason"]
        if status == "infeasible" and allowed:
            found["refuted"] = True
        return {"status": found}
    if status != "optimal" or allowed is None:
        return {}
    unproved = [one["of"] for one in judged if not _settled(one)]
    if allowed and not unproved:
        return {}
    return {"status": found | {"allowed": allowed, "unproved": unproved}}


def _settled(level: Document) -> bool:
    """Tell whether a level is proved, or an engine says that it is."""
    by_search = level["rests_on"] == "search" and level["bound"] == level["value"]
    return bool(level["proved"] or by_search)


def _certified(
    case: Case,
    rows: Sequence[Row],
    policy: Policy,
    tally: Tally,
    shown: Certificate | None,
) -> tuple[dict[str, Value], Reason | None]:
    """Return the bounds that a certificate proves, by level, or why it proves none.

    What it says of several levels together is said of who is as good in the levels
    before. So from where the assignment is not, each is asked about by itself.
    """
    speaks = policy.balance == "dec-min" or "load" in policy.levels
    if shown is None or not speaks:
        return {}, None
    before = split(policy)[0]
    alone = [policy.levels[of] for of in before]
    fails = balance_fails(case, rows, shown, alone)
    least = separate_values(case, alone)
    if fails is None and least != tuple(value_of(case, tally, one) for one in alone):
        fails = {"fails": "seats"}
    if fails is not None:
        return {}, fails
    found: dict[str, Value] = dict(zip(before, least, strict=True))
    found["load"] = load_vector(case, tally)
    for of, level in policy.levels.items():
        by_itself = replace(policy, levels={of: level})
        if split(by_itself)[1]:
            found |= certified(case, by_itself, shown) or {}
    for of, bound in (certified(case, policy, shown) or {}).items():
        found[of] = bound
        if bound != value_of(case, tally, policy.levels[of]):
            break
    return found, None
