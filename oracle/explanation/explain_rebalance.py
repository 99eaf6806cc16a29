"""Explain one rebalance: whether an assignment is the best, how it could be, or why.

The policy decides. First come violations, then the balance and the move budget, then
the first objective in which a better assignment exists. If there is none, the reasons
why none is better follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

import verify
from oracle.explanation.bound_terms import add_bounds
from oracle.explanation.explained_case import (
    ExplainedCase,
    Members,
    Verdict,
)
from oracle.explanation.explanation_records import Explanation
from oracle.explanation.improvements import Improvements
from oracle.explanation.statements import Statements
from oracle.explanation.tight_sets import TightSets
from oracle.explanation.violations import add_violations
from rebalance import (
    Assignment,
    AssignmentDocument,
    ClaimRule,
    Figures,
    Instance,
    assignment_of,
    instance_of,
    plain_of,
    rebalance_of,
)
from solver import STICKY, BalanceKind, Objective, Policy, Result, Status, solve
from solver.explanation import balance, give_back, lower_peak, needless_moves

PEAK_LAG: Final = "peak-lag"
STICKINESS: Final = "stickiness"

Document = Mapping[str, Any]
SolveOne = Callable[[Instance, Policy], Result]


def explain(
    rebalance: dict[str, Any],
    assignment: Document | None,
    policy: Policy,
    solve_one: SolveOne,
    *,
    claim_rule: ClaimRule = ClaimRule.NEWEST_CLAIM,
    max_partitions: int = verify.PARTITIONS_MAX,
) -> Explanation:
    """Explain an assignment, or the optimum if there is none.

    Parameters
    ----------
    rebalance, assignment : dict
        Documents as `verify.read_rebalance` and `verify.read_assignment` return them.
    solve_one : callable
        `solver.solve` within the limits of the caller.

    Raises
    ------
    InstanceError
        If the policy does not apply to the instance.
    """
    about = _understood(rebalance, policy, solve_one, claim_rule, max_partitions)
    if assignment is not None:
        about = replace(about, given=assignment["members"])
    found = Statements()
    verdict, answer = _explained(about, found, rebalance)
    return Explanation.known(
        group=about.instance.group,
        id=about.instance.id,
        policy=str(about.policy),
        subject="optimum" if assignment is None else "given",
        answer=answer,
        figures=_figures(about, verdict),
        statements=found.listed,
        more=dict(sorted(found.more.items())),
        withdrawn=found.withdrawn,
        reason=about.best.reason,
    )


def _explained(
    about: ExplainedCase, found: Statements, rebalance: Document
) -> tuple[Verdict, str]:
    """Return the verdict on the given assignment or the optimum, and the answer."""
    if about.given is not None:
        return _explain_given(about, found, rebalance, about.given)
    if about.best.assignment is None:
        return about.best_verdict, about.best.status.value
    answer = _explain_best(about, found, about.best_document["members"])
    return about.best_verdict, answer


def _figures(about: ExplainedCase, verdict: Verdict) -> Figures | None:
    """Return the figures of an assignment that is readable and known."""
    is_absent = about.given is None and about.best.assignment is None
    if verdict["verdict"] == "unreadable" or is_absent:
        return None
    return Figures.of_verdict(verdict["figures"])


def _explain_given(
    about: ExplainedCase, found: Statements, rebalance: Document, members: Members
) -> tuple[Verdict, str]:
    verdict = about.judge(members, policy=str(about.policy))
    if verdict["verdict"] == "valid":
        return verdict, _explain_valid(about, found, members, verdict)
    add_violations(about, found, rebalance, members, verdict)
    return verdict, "invalid"


def _understood(
    rebalance: dict[str, Any],
    policy: Policy,
    solve_one: SolveOne,
    claim_rule: ClaimRule,
    max_partitions: int,
) -> ExplainedCase:
    """Solve the policy, and the policy ``sticky`` if it describes the balance."""
    case = verify.case_of(rebalance, claim_rule=claim_rule.value)
    instance = instance_of(
        rebalance_of(rebalance, max_partitions=max_partitions), claim_rule=claim_rule
    )
    best = solve_one(instance, policy)
    document = plain_of(best.to_document(instance))
    verdict = verify.judge_case(case, document)
    sticky, stickiest, judged = None, document, verdict
    if policy == STICKY:
        sticky = best
    elif policy.balance.kind is BalanceKind.DEC_MIN:
        sticky = solve(instance)
        stickiest = plain_of(sticky.to_document(instance))
        judged = verify.judge_case(case, stickiest)
    return ExplainedCase(
        instance=instance,
        case=case,
        policy=policy,
        best=best,
        best_document=document,
        best_verdict=verdict,
        sticky=sticky,
        stickiest_document=stickiest,
        are_levels_proved=judged["proved"]["dec_min"],
    )


def _explain_valid(
    about: ExplainedCase, found: Statements, members: Members, verdict: Verdict
) -> str:
    """State how a valid assignment could be better, or why it cannot."""
    if about.best.status is Status.INFEASIBLE:
        return "infeasible"
    members = {
        name: {topic: numbers for topic, numbers in held.items() if numbers}
        for name, held in members.items()
    }  # the judge accepts an empty list of a topic that does not exist
    given = Improvements(
        about=about,
        found=found,
        members=members,
        assignment=_assignment_of(about, members),
        verdict=verdict,
    )
    policy = verdict["policy"]
    if not policy["balance_met"]:
        _add_balance(given)
    if not policy["budget_met"]:
        given.add_exceeded_budget()
        _add_given_back(given)
    is_allowed = policy["balance_met"] and policy["budget_met"]
    if about.best.assignment is None or not is_allowed:
        return "unknown" if about.best.assignment is None else "not-best"
    place = _first_difference(about, verdict)
    if place is None:
        return _explain_best(about, found, members)
    values = [
        judged["objectives"][place]["value"] for judged in (verdict, about.best_verdict)
    ]
    if values[0] < values[1]:
        return "unknown"  # the solver has stopped before it found as much
    _add_objective(given, place)
    return "not-best"


def _first_difference(about: ExplainedCase, verdict: Verdict) -> int | None:
    """Return the place of the first objective in which the optimum differs."""
    pairs = zip(verdict["objectives"], about.best_verdict["objectives"], strict=True)
    different = (
        place
        for place, (mine, best) in enumerate(pairs)
        if mine["value"] != best["value"]
    )
    return next(different, None)


def _explain_best(about: ExplainedCase, found: Statements, members: Members) -> str:
    """State why no assignment is better than one with the values of the optimum."""
    status = about.best_verdict.get("status", {}).get("found")
    if about.sticky is not None and about.best.assignment is not None:
        _add_tight_sets(about, found, members)
    add_bounds(about, found)
    is_best = about.best.status is Status.OPTIMAL and status in {"proved", "search"}
    return "best" if is_best else "unknown"


def _add_tight_sets(about: ExplainedCase, found: Statements, members: Members) -> None:
    with found.checking():
        sets = TightSets(about, found, members)
        sets.add_blocks()
        first = about.policy.objectives[:1]
        if first and first[0].only is Objective.STICKINESS:
            sets.add_claims()


def _add_balance(given: Improvements) -> None:
    """State the transfers to meet the balance, then the needless moves."""
    about, kind = given.about, given.about.policy.balance.kind
    if kind is BalanceKind.DEC_MIN:
        balanced = given.add_balance(balance(about.instance, given.assignment))
        first = about.policy.objectives[:1]
        if first and first[0].only is Objective.STICKINESS:
            _add_needless_moves(balanced)
    elif kind is BalanceKind.KIP54:
        given.add_transfer()
    elif kind is BalanceKind.PER_TOPIC:
        given.add_uneven_topic()
    if kind is not BalanceKind.DEC_MIN and about.best.assignment is not None:
        given.add_difference(_difference(given))


def _add_given_back(given: Improvements) -> None:
    """State the moves to give back; those of the best assignment if no others meet it.

    Nothing is stated if no assignment within the budget is known.
    """
    about, chains = given.about, None
    if given.verdict["policy"]["balance_met"]:
        stickiest = None if about.sticky is None else about.sticky.assignment
        chains = give_back(about.instance, given.assignment, about.policy, stickiest)
    if chains is not None:
        given.add_given_back([(row, a, b) for chain in chains for row, a, b in chain])
    elif about.best.assignment is not None:
        given.add_given_back(_difference(given))


def _add_needless_moves(given: Improvements) -> None:
    """State the needless moves of a balanced assignment, if there are any."""
    about = given.about
    best = about.stickiest().require_assignment()
    exchanges = needless_moves(about.instance, given.assignment, best)
    if exchanges:
        judged = about.best_verdict
        if about.best is not about.sticky:
            judged = about.judge(about.members_of(best))
        given.add_needless(judged["figures"]["moves"])
        given.add_exchanges(exchanges)


def _add_objective(given: Improvements, place: int) -> None:
    """State the gap of an objective, and the transfers that close or narrow it."""
    about, of = given.about, given.verdict["objectives"][place]["of"]
    if of == STICKINESS and not place and about.sticky is not None:
        _add_needless_moves(given)
        return
    given.add_gap(place)
    if of == PEAK_LAG:
        certificate = None if about.sticky is None else about.sticky.certificate
        given.add_peaks(
            lower_peak(about.instance, given.assignment, about.policy, certificate)
        )
    given.add_difference(_difference(given))


def _difference(given: Improvements) -> list[tuple[int, int, int]]:
    """Return partition, giver and receiver of each transfer to the optimum."""
    before = given.assignment.assignee
    after = given.about.best.require_assignment().assignee
    rows = np.flatnonzero(before != after)
    columns = (rows.tolist(), before[rows].tolist(), after[rows].tolist())
    return list(zip(*columns, strict=True))


def _assignment_of(about: ExplainedCase, members: Members) -> Assignment:
    plain = {name: dict(held) for name, held in members.items()}
    document = AssignmentDocument.model_construct(members=plain)
    return assignment_of(about.instance, document)
